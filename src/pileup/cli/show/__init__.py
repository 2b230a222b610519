"""pileup show: what a run gave, on the screen."""
