"""pileup trace: what a session costs in round trips."""
