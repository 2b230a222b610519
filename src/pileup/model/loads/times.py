"""A number of iterations, one after another."""

from __future__ import annotations

from typing import ClassVar

from pileup.model.loads.shape import Kind, Shape, number_words


class TimesShape(Shape):
    """A number of iterations of one client."""

    __slots__ = ()
    word: ClassVar[str] = "times"

    @property
    def kind(self) -> Kind:
        """It is a check."""
        return "times"

    @property
    def words(self) -> str:
        """`5 times`."""
        return number_words(self.load.times or 1, "time")
