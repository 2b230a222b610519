"""The matrix of a scan over places and targets: who is slow for whom."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pileup.model.figures import Figure


class MatrixModel(StrEnum):
    """What a cell without a fault of its own is expected to take."""

    DISTANCE = "distance"
    """k x RTT + c: a k for all cells, a c for each target. The round trips are those of `path`."""
    PLACES = "places"
    """A time for each place and a time for each target, added."""


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One place against one target, all repeats together. Times in ns, of iterations."""

    point: int
    """Number of the point of the scan."""
    place: str
    target: str
    round_trip: int | None
    """What the path between them adds to a round trip; None where there is no `path` or it is not known."""
    passed: int
    not_passed: float
    """Share of what was due that did not pass."""
    mean: float | None
    deviation: float | None
    """Standard deviation."""
    median: Figure
    quartiles: tuple[float, float] | None
    """Between them lies the middle half of what passed."""
    largest: int | None
    outliers: int
    """Iterations above the outer fence (third quartile and three times the distance of the quartiles) that took more
    than three medians, and those that timed out."""
    expected: float | None = None
    """What the other cells lead to expect of the median."""
    chance: float | None = None
    """How probable it is that any cell is so far above what is expected by chance."""
    slow: bool = False
    """Whether it is slow beyond chance, and by a fifth or more."""
    outlier_chance: float | None = None
    """How probable it is that any cell has such a share of outliers by chance."""
    scattered: bool = False
    """Whether it has more outliers than the others beyond chance, and its deviation is above its mean."""
    left_out: int = 0
    """Repeats of which pileup itself was the bottleneck: they are in no figure and no verdict if there are others, and
    in no verdict if not."""
    judged: bool = True
    """Whether a repeat is left that says something of the cell."""

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.place} to {self.target}"

    @property
    def uneven(self) -> bool:
        """Whether the deviation is above the mean: then the mean says little."""
        return self.mean is not None and self.deviation is not None and self.deviation > self.mean

    @property
    def flags(self) -> tuple[str, ...]:
        """What there is to say of it, in words."""
        told = (
            ("slow", self.slow),
            ("rare slow answers", self.scattered),
            ("deviation above mean", self.uneven),
            ("pileup was the bottleneck", not self.judged),
        )
        return tuple(text for text, said in told if said)


@dataclass(frozen=True, slots=True)
class ServerLine:
    """The median time of a target against its distance: `k x RTT + c`, without cells that are slow by themselves."""

    target: str
    k: Figure
    """Round trips; no value where all its places are at one distance."""
    c: Figure
    """Time at no distance; where distances are not known its mean over the places."""
    chance: float | None = None
    """How probable it is that any target is by chance so much more than a fifth slower than its peers."""
    slow: bool = False
    """Whether it is more than a fifth slower than its peers, beyond chance."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One test from several places to several targets."""

    test: str
    places: tuple[str, ...]
    targets: tuple[str, ...]
    cells: tuple[MatrixCell, ...]
    """In the order of the scan."""
    servers: tuple[ServerLine, ...]
    model: MatrixModel | None
    """None: too few cells to expect anything of one by the others."""

    @property
    def remark(self) -> str:
        """What is left out, in a sentence; empty for nothing."""
        count = sum(each.left_out for each in self.cells)
        if not count:
            return ""
        names = ", ".join(each.name for each in self.cells if each.left_out)
        repeats = "1 repeat is" if count == 1 else f"{count} repeats are"
        return f"{repeats} left out, as pileup itself was the bottleneck: {names}"
