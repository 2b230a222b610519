"""Shipped monitors."""
