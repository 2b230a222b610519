"""pileup: load, stress and performance tests for distributed scientific data systems."""
