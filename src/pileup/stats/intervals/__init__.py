"""Confidence intervals at 95 %, each with the source of its formula."""
