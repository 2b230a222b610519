"""Faults that a suite injects: when, and how."""
