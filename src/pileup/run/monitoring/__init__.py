"""Monitors sampled on time, here and at other hosts."""
