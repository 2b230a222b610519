"""The answer of a query as samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from pileup.builtin.monitors.labels import checkable_labels, checkable_name
from pileup.builtin.monitors.numbers import to_number
from pileup.plugin import PluginError, Sample

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """Which columns are labels (none named: those that hold text), the name of a sole metric, most samples."""

    labels: tuple[str, ...]
    metric: str | None
    most: int


def samples_of(columns: Sequence[str], rows: Sequence[Row], shape: Shape, units: Mapping[str, str]) -> Iterator[Sample]:
    """Yield the samples of an answer. Raises PluginError when its rows cannot be distinguished or hold no numbers."""
    labels = _labels(columns, rows, shape)
    values = [at for at in range(len(columns)) if at not in labels]
    if not values:
        raise PluginError("the answer has no column of numbers", "one beside the labels", f"it has {_list(columns)}")
    if shape.metric is not None and len(values) > 1:
        told = f"`metric` names one metric, the answer has {len(values)} columns of numbers"
        raise PluginError(told, "one, or labels named by `labels`", f"they are {_list([columns[at] for at in values])}")
    if len(rows) * len(values) > shape.most:
        raise PluginError(f"the answer has more than {shape.most} numbers", "fewer", "narrow it, or raise `series`")
    names = {at: checkable_name(shape.metric or columns[at]) for at in values}
    seen: set[str] = set()
    for row in rows:
        own = checkable_labels({columns[at]: _text(row[at]) for at in labels})
        if own in seen:
            raise PluginError(
                _alike(own), "one row, or labels that differ", "name columns by `labels`, or GROUP BY them"
            )
        seen.add(own)
        for at, name in names.items():
            value = _number(row[at], columns[at])
            if value is not None:
                yield Sample(name, value, units.get(name, ""), own)


def _labels(columns: Sequence[str], rows: Sequence[Row], shape: Shape) -> list[int]:
    """Return the places of the columns that are labels."""
    missing = [name for name in shape.labels if name not in columns]
    if missing:
        raise PluginError(f"the answer has no column {missing[0]!r}", f"one of {_list(columns)}", "see `labels`")
    if shape.labels:
        return [at for at, name in enumerate(columns) if name in shape.labels]
    return [
        at
        for at in range(len(columns))
        if any(isinstance(row[at], (str, bytes)) and to_number(_text(row[at])) is None for row in rows)
    ]


def _alike(labels: str) -> str:
    return f"two rows have the labels {labels}" if labels else "the answer has several rows and no labels"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)[:200]


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _number(value: Any, column: str) -> float | None:
    """Return a finite number; None for NULL and what is not finite. Durations are in seconds."""
    if value is None:
        return None
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (bool, int, float, Decimal)):
        number = float(value)
        return number if math.isfinite(number) else None
    number_in_text = to_number(_text(value)) if isinstance(value, (str, bytes)) else None
    if number_in_text is None:
        told = f"column {column!r} holds {_text(value)[:50]!r}"
        raise PluginError(told, "numbers", "name columns of labels by `labels`; dates need a function that counts")
    return number_in_text
