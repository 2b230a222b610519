"""Histograms that prove a query right: what is expected of them, and the first bin that differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from pileup.builtin.analysis.models import Model, Values

VALUES, ABOVE = "values", "above"
"""Histograms with a bin for each column of the model: how many values it has, and how many exceed its middle."""


def empty(model: Model, columns: Collection[str]) -> dict[str, Any]:
    """Return the histograms of a query that reads these columns."""
    import hist  # noqa: PLC0415  `pileup list` loads every plug-in

    if not columns:
        return {}
    found = {
        spec.name: hist.Hist(hist.axis.Regular(spec.bins, spec.low, spec.high), storage=hist.storage.Int64())
        for spec in model.specs
        if spec.column in columns
    }
    for name in (VALUES, ABOVE):
        axis = hist.axis.Integer(0, len(model.columns), underflow=False, overflow=False)
        found[name] = hist.Hist(axis, storage=hist.storage.Int64())
    return found


def fill(model: Model, into: Mapping[str, Any], columns: Collection[str], flat: Callable[[str], Any]) -> None:
    """Fill in the values of columns; `flat` gives those of one."""
    import numpy  # noqa: PLC0415

    specs = {spec.column: spec.name for spec in model.specs}
    for number, (column, middle) in enumerate(model.columns.items()):
        if column in columns:
            values = flat(column)
            into[VALUES].view()[number] += len(values)
            into[ABOVE].view()[number] += int(numpy.count_nonzero(values > middle))
            if column in specs:
                into[specs[column]].fill(values)


def fill_drawn(model: Model, into: Mapping[str, Any], columns: Collection[str], drawn: Values, events: int) -> None:
    """Fill in the first `events` of drawn values, which no file has gone through."""

    def flat(column: str) -> Any:
        counts = drawn.counts[model.collection_of(column).name]
        if column not in drawn.members:
            return counts[:events]
        return drawn.members[column][: int(counts[:events].sum())]

    fill(model, into, columns, flat)


def to_json(histograms: Mapping[str, Any]) -> dict[str, Any]:
    """Return histograms as plain data."""
    return {name: {**axis_of(each), "counts": counts_of(each)} for name, each in histograms.items()}


def axis_of(histogram: Any) -> dict[str, Any]:
    """Return the axis of a histogram of one axis."""
    (axis,) = histogram.axes
    edges = axis.edges
    return {"bins": len(axis), "low": float(edges[0]), "high": float(edges[-1])}


def counts_of(histogram: Any) -> list[float]:
    """Return what its bins hold, those below and above its axis included, if it has them."""
    found: list[float] = histogram.values(flow=True).tolist()
    return found


def masked(expected: Mapping[str, Any], model: Model, columns: Collection[str]) -> dict[str, Any]:
    """Return what is expected of a query that reads only these columns."""
    names = set(empty(model, columns))
    left = {name: dict(each) for name, each in expected.items() if name in names}
    read = [column in columns for column in model.columns]
    for name in (VALUES, ABOVE):
        if name in left:
            left[name]["counts"] = [n if known else 0 for n, known in zip(left[name]["counts"], read, strict=True)]
    return left


def difference(expected: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return how a histogram of `found` differs from the expected one of its name: what, expected, next; None if none.

    Expected ones that are missing differ; those that nothing is known of are not compared.
    """
    for name, wanted in expected.items():
        if name not in found:
            return f"the histogram {name!r} is missing", "it among those returned", "return it from the function"
        if different := _different(name, wanted, found[name]):
            return different
    return None


def _different(name: str, wanted: Mapping[str, Any], found: Any) -> tuple[str, str, str] | None:
    if told := other_axes(wanted, found):
        return f"the histogram {name!r} has {told[0]}", told[1], "fill it with the axes of the data set"
    counts = counts_of(found)
    low, width = wanted["low"], (wanted["high"] - wanted["low"]) / wanted["bins"]
    below = len(counts) > wanted["bins"]
    for number, (was, is_) in enumerate(zip(wanted["counts"], counts, strict=True)):
        if was != is_:
            begin = low + (number - below) * width
            place = f"bin {number - below} ({begin:g} to {begin + width:g})"
            if number < below or number - below >= wanted["bins"]:
                place = "its underflow" if number < below else "its overflow"
            return f"the histogram {name!r} has {is_:g} in {place}", f"{was:g}", "the query or the file is wrong"
    return None


def other_axes(wanted: Mapping[str, Any], found: Any) -> tuple[str, str] | None:
    """Return the axes of a histogram and those expected, where they differ."""
    expected = f"one of {wanted['bins']} bins from {wanted['low']:g} to {wanted['high']:g}"
    if len(found.axes) != 1:
        return f"{len(found.axes)} axes", expected
    axis = axis_of(found)
    if any(axis[key] != wanted[key] for key in axis) or len(counts_of(found)) != len(wanted["counts"]):
        return f"an axis of {axis['bins']} bins from {axis['low']:g} to {axis['high']:g}", expected
    return None


def added(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of histograms as plain data, by name."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, each in part.items():
            if name not in total:
                total[name] = dict(each)
            else:
                both = zip(total[name]["counts"], each["counts"], strict=True)
                total[name]["counts"] = [one + other for one, other in both]
    return total
