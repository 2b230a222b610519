"""What varies by itself in a scan, with a short name for each of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pileup.model.results import SIDE_BY_SIDE, Point


@dataclass(frozen=True, slots=True)
class Factor:
    """An axis with several values, or axes that are varied together."""

    name: str
    """As in `Point.factors`."""
    axes: tuple[str, ...]
    called: str
    """The axis whose values are all different: the first such one. Empty: it takes all of them."""

    @property
    def title(self) -> str:
        """What it is called."""
        return self.called or self.name

    def of(self, point: Point) -> str:
        """Return its value at a point."""
        return point.values[self.called] if self.called else point.factors[self.name]


def factors_of(points: Sequence[Point]) -> tuple[Factor, ...]:
    """Return what has several values over some points, in the order of the scan."""
    known = [(point.values, point.factors) for point in points]
    if not known:
        return ()
    found = []
    for name in known[0][1]:
        values = {factors.get(name) for _, factors in known}
        axes = tuple(name.split(SIDE_BY_SIDE))
        if len(values) > 1:
            called = next((axis for axis in axes if len({each.get(axis) for each, _ in known}) == len(values)), "")
            found.append(Factor(name, axes, called))
    return tuple(found)
