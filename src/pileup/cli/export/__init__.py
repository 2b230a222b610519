"""pileup export: files for other programs."""
