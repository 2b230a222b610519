"""Results as plain data for JSON: finite numbers, texts, lists and objects with text keys."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pileup.model import plain_json
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults

SIMPLE = (int, str, bool, type(None))
"""Types that stay as they are; looked at first, for results hold a great many of them."""


FORMAT = 1
"""Number of the format of results.json: another one where a field goes, or means something else."""


def to_json(results: RunResults) -> dict[str, Any]:
    """Return the number of the format, then results field by field, as named in model/results.py.

    What is not finite becomes null. `results_schema` describes it.
    """
    return {"format": FORMAT, **_plain(results)}


def plain(value: Any) -> Any:
    """Return anything that results are made of as plain data."""
    return _plain(value)


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in SIMPLE:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind in (tuple, list):
        return [_plain(each) for each in value]
    names = _names(kind)
    if names is not None:
        return {name: _plain(getattr(value, name)) for name in names}
    return _rare(value)


def _rare(value: Any) -> Any:
    if isinstance(value, Manifest):
        return _plain(plain_json.to_json(value))
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, (str, Path)) else value


def _names(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass, None for any other type."""
    if kind not in _KNOWN:
        _KNOWN[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _KNOWN[kind]


_KNOWN: dict[type, tuple[str, ...] | None] = {Manifest: None}
"""Run.json has its own words, which `plain_json` writes."""
