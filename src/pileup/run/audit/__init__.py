"""Audits: the fate of each submission, as the target reports it."""
