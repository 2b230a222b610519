"""Shipped plug-ins, registered by entry points like anybody's. They import plugin, model and stats."""
