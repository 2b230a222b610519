"""The line through sessions at several distances: its slope checks the round trips that were counted."""
