"""Shipped reports: finished results as one offline HTML page, as JUnit XML, as JSON."""
