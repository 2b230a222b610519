"""One iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from pileup.model.loads.shape import Kind, Shape


class OnceShape(Shape):
    """One iteration: the default shape."""

    __slots__ = ()
    word: ClassVar[str] = "once"

    @property
    def kind(self) -> Kind:
        """It is a check."""
        return "once"

    @property
    def words(self) -> str:
        """`once`."""
        return "once"

    def problems(self) -> Iterator[str]:
        """Nothing else may be written beside it."""
        if others := self.others():
            yield f"once is combined with {others}; expected one kind of load"
