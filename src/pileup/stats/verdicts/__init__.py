"""Criteria: which cases and times a criterion is about, the figure it asks for, and the verdict."""
