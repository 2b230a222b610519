"""Redis for pileup."""
