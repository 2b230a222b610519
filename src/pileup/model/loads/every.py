"""One iteration each interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pileup.model.loads.shape import Kind, Native, Shape
from pileup.model.units import format_time


class EveryShape(Shape):
    """One iteration per interval, the first at once."""

    __slots__ = ()
    word: ClassVar[str] = "every"

    @property
    def kind(self) -> Kind:
        """It is open."""
        return "open"

    @property
    def words(self) -> str:
        """`open, every 2 min for 1 h`."""
        return f"open, every {format_time(self.load.every or 0)}{self.end_words}{self.most_words}"

    def problems(self) -> Iterator[str]:
        """A rate says the same, and there is nothing to grow."""
        if self.others("arrivals", "ramp", beside=("clients", "times")):
            yield "every is combined with another kind of load; expected e.g. {every: 2 min, for: 1 h}"

    def to_native(self) -> Native:
        """The words of the load, with the interval as a rate."""
        return super().to_native() | {"rate": 1e9 / (self.load.every or 1)}
