"""Tests of batch systems and computing elements."""
