"""Formats of exported tables."""
