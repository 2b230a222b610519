"""Toys: one plug-in of each kind, in a package of their own."""
