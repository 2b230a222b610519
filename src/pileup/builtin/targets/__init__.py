"""Shipped kinds of targets."""
