"""Rules for a suite beyond its schema: one file for each part of a suite."""
