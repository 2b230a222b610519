"""Results as plain data for JSON: finite numbers, texts, lists and objects with text keys."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pileup.model.results import RunResults


def to_json(results: RunResults) -> dict[str, Any]:
    """Return results field by field, as named in model/results.py; what is not finite becomes null."""
    plain: dict[str, Any] = _plain(results)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, (str, Path)) else value
