"""Servers that pileup starts: processes, readiness, disks, placeholders."""
