"""Figures from the frames of a case: its window, totals, seconds, blocks and distributions."""
