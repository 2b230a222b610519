"""What a suite must keep to beyond its schema: one file for each part of a suite."""
