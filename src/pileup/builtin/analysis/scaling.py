"""How the time of a query grows when workers and data grow together (weak scaling), as a law fitted to repeats.

T(N) = T(1) (1 + s (N - 1) + k N (N - 1)): s is what workers lose as they wait for what they share, k what they lose as
each has to do with each other. It is the universal scalability law (N. J. Gunther, Guerrilla Capacity Planning, 2007,
chapter 4) for a task that grows with N. Of two sizes only T(1) and s can be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pileup.plugin.fits import Estimate, Fit, least_squares, mean_of


@dataclass(frozen=True, slots=True)
class Law:
    """A fitted law."""

    first: Estimate
    """T(1), s."""
    waiting: Estimate
    """s."""
    crosstalk: Estimate | None
    """k; None where there are too few sizes."""

    def at(self, workers: float) -> float:
        """Return T(N), s."""
        more = self.waiting.value * (workers - 1)
        if self.crosstalk is not None:
            more += self.crosstalk.value * workers * (workers - 1)
        return self.first.value * (1 + more)

    def says(self) -> str:
        """Return it in words, with its intervals (95 %)."""
        told = [f"T(1) = {_told(self.first)} s", f"s = {_told(self.waiting)}"]
        if self.crosstalk is not None:
            told.append(f"k = {_told(self.crosstalk)}")
        return ", ".join(told)


def _told(each: Estimate) -> str:
    return f"{each.value:.3g}" + ("" if each.half is None else f" ± {each.half:.2g}")


def fitted(points: Iterable[tuple[int, float]]) -> Law | None:
    """Return the law of times in s by the number of workers; None for fewer than two different numbers.

    None as well where it would have one worker take less than no time: the times follow another law then.
    """
    known = list(points)
    sizes = {workers for workers, _ in known}
    if len(sizes) < 2:
        return None
    columns = [[1.0 for _ in known], [workers - 1.0 for workers, _ in known]]
    if len(sizes) > 2:
        columns.append([workers * (workers - 1.0) for workers, _ in known])
    fit: Fit = least_squares(columns, [seconds for _, seconds in known])
    if fit.of(0).value <= 0:
        return None
    return Law(fit.of(0), fit.ratio(1, 0), fit.ratio(2, 0) if len(sizes) > 2 else None)


def means(points: Sequence[tuple[int, float]]) -> dict[int, Estimate]:
    """Return the mean by the number of workers, ascending."""
    sizes = sorted({workers for workers, _ in points})
    return {size: mean_of([seconds for workers, seconds in points if workers == size]) for size in sizes}
