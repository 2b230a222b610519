"""pileup compare: runs against a baseline."""
