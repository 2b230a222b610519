"""Quantities in words as all of pileup writes them, and back: `1.5 s`, `64 MiB`, `2 tests`."""

from pileup.model.units import (
    counted,
    format_count,
    format_fraction,
    format_quantity,
    format_range,
    format_size,
    format_time,
    parse,
)

__all__ = [
    "counted",
    "format_count",
    "format_fraction",
    "format_quantity",
    "format_range",
    "format_size",
    "format_time",
    "parse",
]
