"""Criteria: their cases and times, their figure, and the verdict."""
