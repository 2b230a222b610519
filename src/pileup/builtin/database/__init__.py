"""Databases: target, launcher, settings, tests and monitors by SQL, the log of slow queries."""
