"""The target that is not there and the test that does nothing: what pileup itself costs."""
