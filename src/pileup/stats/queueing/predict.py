"""What to expect of a system at a setting that was not recorded, with an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median
from typing import NamedTuple

from pileup.stats.queueing.fit import CannotPredict, System
from pileup.stats.queueing.history import FIGURES, History
from pileup.stats.queueing.machine import Run

REPLICATES = 100
"""Runs of the model for each setting: the 2.5 and 97.5 percentiles are between the outermost three of each side."""
APART = 1.25
"""By what factor `all` and `project` of the model may differ from a record that it was fitted to."""
INSTANT = 1e6
"""Below this (ns) two figures are the same."""


class Expected(NamedTuple):
    """A figure in ns: the median of the runs of the model, and an interval that holds 95 % of runs of the system."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """All figures at one setting."""

    limit: int | None
    """Requests that a stager hands over at a time; None: no limit."""
    drives: int
    figures: Mapping[str, Expected]


def predict(
    system: System, known: Sequence[History], limits: Sequence[int | None], drives: int | None = None, seed: int = 1
) -> list[Prediction]:
    """Return what to expect at these limits, with this number of drives.

    Each run of the model draws its times from a bootstrap sample of those that were recorded (Efron and Tibshirani, An
    Introduction to the Bootstrap, chapter 6), so that the interval has both: what is not known of the law, and what
    differs between runs. It is widened to what the model does wrong at the settings that were recorded: by the ratio of
    the measured figure to that of the model, wherever that lies outside of the interval around 1.

    Raises CannotPredict where the model does not do what was recorded.
    """
    random = Random(seed)
    wrong = {name: [1.0] for name in FIGURES}
    for history in known:
        runs = _runs(system, history.limit, random)
        for name in FIGURES:
            wrong[name].append(_ratio(history.figures[name], median(runs[name])))
        for name in ("all", "project"):
            ratio = wrong[name][-1]
            if not 1 / APART <= ratio <= APART:
                raise CannotPredict(
                    f"the model gives {1 / ratio:.2f} times the measured `{name}` of {history.name}",
                    f"at most {APART} times",
                    "something else than drives and stagers decides there",
                )
    if drives is not None:
        system = replace(system, drives=replace(system.drives, number=drives))
    found = []
    for limit in limits:
        runs = _runs(system, limit, random)
        figures = {name: _expected(runs[name], wrong[name]) for name in FIGURES}
        found.append(Prediction(limit, system.drives.number, figures))
    return found


def _runs(system: System, limit: int | None, random: Random) -> dict[str, list[float]]:
    """Return each figure of each run of the model at a limit."""
    found: dict[str, list[float]] = {name: [] for name in FIGURES}
    for _ in range(REPLICATES):
        run = Run(system.drives.again(random), system.demand.again(random), limit, random)
        for name, value in run.figures().items():
            found[name].append(value)
    return found


def _ratio(measured: float, expected: float) -> float:
    if abs(measured - expected) < INSTANT:
        return 1.0
    return max(measured, INSTANT) / max(expected, INSTANT)


def _expected(values: Sequence[float], wrong: Sequence[float]) -> Expected:
    ordered = sorted(values)
    outside = int(0.025 * len(ordered))
    return Expected(median(ordered), ordered[outside] * min(wrong), ordered[-1 - outside] * max(wrong))
