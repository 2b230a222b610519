"""Logs of servers read as operations, by patterns that a suite gives, or ready ones."""
