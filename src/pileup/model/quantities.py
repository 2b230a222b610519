"""Typed quantities for suites and plug-in options: pydantic reads `"64 MiB"`, code sees 67108864.

`Duration` is integer nanoseconds, `Size` integer bytes, `Bandwidth` bytes per second, `Rate` per second,
`Fraction` 0 to 1, `Count` an integer that may be written `1e7`. Numbers given by code are taken in the base unit.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pileup.model.units import DIMENSIONS, parse

LARGEST = 2**63 - 1


class NegativeError(ValueError):
    """A quantity is below 0. A word may have a bound above that, which is then what is expected."""


def _read(value: object, dimension: str, whole: bool) -> object:
    written = value
    if isinstance(value, str):
        exact = parse(value, dimension)
        if abs(exact) > LARGEST:
            raise ValueError(f"{value!r} is too large; expected a {dimension} that fits in 64 bits")
        if whole and exact != int(exact):
            raise ValueError(f"{value!r} is not a whole number of base units; expected a {dimension} that is")
        value = int(exact) if whole else float(exact)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not finite; expected a {dimension} like {DIMENSIONS[dimension].example!r}")
    if isinstance(value, (int, float)) and value < 0:
        raise NegativeError(f"{written!r} is negative; expected a {dimension} of 0 or more")
    return value


def _quantity(dimension: str, whole: bool) -> tuple[BeforeValidator, Any]:
    schema: dict[str, Any] = {
        "type": ["string", "number"],
        "examples": [DIMENSIONS[dimension].example],
        "x-dimension": dimension,
    }
    return BeforeValidator(lambda value: _read(value, dimension, whole)), Field(json_schema_extra=schema)


_time, _size, _count = (_quantity(name, whole=True) for name in ("time", "size", "count"))
_bandwidth, _rate, _fraction = (_quantity(name, whole=False) for name in ("bandwidth", "rate", "fraction"))

Duration = Annotated[int, *_time]
Size = Annotated[int, *_size]
Count = Annotated[int, *_count]
Bandwidth = Annotated[float, *_bandwidth]
Rate = Annotated[float, *_rate]
Fraction = Annotated[float, *_fraction]
