"""Differences with intervals: between the points of a scan, between runs, between equivalent tests."""
