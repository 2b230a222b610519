"""Histograms that prove a query right: what is expected of them, and the first bin that differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from pileup.builtin.analysis.models import Model, Values

if TYPE_CHECKING:
    from hist import Hist

VALUES, ABOVE = "values", "above"
"""Histograms with a bin for each column of the model: how many values it has, and how many exceed its middle."""


class Truth(BaseModel):
    """What a histogram of one axis must hold, in bins of equal width."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    bins: int = Field(ge=1)
    low: float
    high: float
    counts: list[float]
    """Of each bin; what is below and above the axis is before and after them, if it is counted."""

    @classmethod
    def of(cls, histogram: Hist[Any]) -> Truth:
        """Return what a histogram holds."""
        (axis,) = histogram.axes
        low, high = float(axis.edges[0]), float(axis.edges[-1])
        return cls(bins=len(axis), low=low, high=high, counts=histogram.values(flow=True).tolist())

    @property
    def axis(self) -> tuple[int, float, float, int]:
        """What two histograms must have in common to be compared."""
        return self.bins, self.low, self.high, len(self.counts)

    def says(self) -> str:
        """Return the axis in words."""
        return f"{self.bins} bins from {self.low:g} to {self.high:g}"

    def place(self, number: int) -> str:
        """Return which of the counts it is, in words."""
        number -= len(self.counts) > self.bins  # the first is the underflow
        if not 0 <= number < self.bins:
            return "its underflow" if number < 0 else "its overflow"
        width = (self.high - self.low) / self.bins
        begin = self.low + number * width
        return f"bin {number} ({begin:g} to {begin + width:g})"


def empty(model: Model, columns: Collection[str]) -> dict[str, Hist[Any]]:
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


def fill(model: Model, into: Mapping[str, Hist[Any]], columns: Collection[str], flat: Callable[[str], Any]) -> None:
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


def fill_drawn(
    model: Model, into: Mapping[str, Hist[Any]], columns: Collection[str], drawn: Values, events: int
) -> None:
    """Fill in the first `events` of drawn values, which no file has gone through."""

    def flat(column: str) -> Any:
        counts = drawn.counts[model.collection_of(column).name]
        if column not in drawn.members:
            return counts[:events]
        return drawn.members[column][: int(counts[:events].sum())]

    fill(model, into, columns, flat)


def truth_of(histograms: Mapping[str, Hist[Any]]) -> dict[str, Truth]:
    """Return what histograms hold, by name."""
    return {name: Truth.of(each) for name, each in histograms.items()}


def masked(expected: Mapping[str, Truth], model: Model, columns: Collection[str]) -> dict[str, Truth]:
    """Return what is expected of a query that reads only these columns."""
    names = set(empty(model, columns))
    left = {name: each for name, each in expected.items() if name in names}
    read = [column in columns for column in model.columns]
    for name in {VALUES, ABOVE} & left.keys():
        counts = [number if known else 0 for number, known in zip(left[name].counts, read, strict=True)]
        left[name] = left[name].model_copy(update={"counts": counts})
    return left


def difference(expected: Mapping[str, Truth], found: Mapping[str, Hist[Any]]) -> tuple[str, str, str] | None:
    """Return how a histogram of `found` differs from the expected one of its name: what, expected, next; None if none.

    Expected ones that are missing differ; those that nothing is known of are not compared.
    """
    for name, wanted in expected.items():
        if name not in found:
            return f"the histogram {name!r} is missing", "it among those returned", "return it from the function"
        if different := _different(name, wanted, found[name]):
            return different
    return None


def _different(name: str, wanted: Truth, found: Hist[Any]) -> tuple[str, str, str] | None:
    own_axes = "fill it with the axes of the data set, or give it another name"
    if len(found.axes) != 1:
        return f"the histogram {name!r} has {len(found.axes)} axes", f"one of {wanted.says()}", own_axes
    holds = Truth.of(found)
    if holds.axis != wanted.axis:
        return f"the histogram {name!r} has an axis of {holds.says()}", f"one of {wanted.says()}", own_axes
    for number, (was, is_) in enumerate(zip(wanted.counts, holds.counts, strict=True)):
        if was != is_:
            told = f"the histogram {name!r} has {is_:.15g} in {wanted.place(number)}"
            return told, f"{was:.15g}", "the query or the file is wrong"
    return None


def added(parts: list[Mapping[str, Truth]]) -> dict[str, Truth]:
    """Return the sum of histograms, by name."""
    total: dict[str, Truth] = {}
    for part in parts:
        for name, each in part.items():
            known = total.setdefault(name, each)
            if known is not each:
                counts = [one + other for one, other in zip(known.counts, each.counts, strict=True)]
                total[name] = known.model_copy(update={"counts": counts})
    return total
