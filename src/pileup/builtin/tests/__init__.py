"""Shipped tests."""
