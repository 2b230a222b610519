"""A rate, whatever the system answers."""

from __future__ import annotations

from typing import ClassVar

from pileup.model.loads.shape import Kind, Native, Shape
from pileup.model.units import format_rate


class RateShape(Shape):
    """A number of iterations begun per second."""

    __slots__ = ()
    word: ClassVar[str] = "rate"

    @property
    def kind(self) -> Kind:
        """It is open."""
        return "open"

    @property
    def words(self) -> str:
        """`open, 150 /s poisson for 8 s`."""
        poisson = " poisson" if self.load.arrivals == "poisson" else ""
        return f"open, {format_rate(self.load.rate or 0)}{poisson}{self.end_words}{self.most_words}"

    def to_native(self) -> Native:
        """The words of the load, with its rate."""
        return super().to_native() | {"rate": self.load.rate}
