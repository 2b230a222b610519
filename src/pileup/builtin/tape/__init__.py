"""Tape libraries and the stagers before them."""
