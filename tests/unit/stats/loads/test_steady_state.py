"""Where series of known truth become steady: how often that is seen, how far off, and how often it is seen wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pileup.stats.loads.steady_state import LEAST, steady

RUNS = 300
Series = Callable[[np.random.Generator], Any]


def _dependent(random: np.random.Generator, number: int, rho: float) -> Any:
    """Return a series of mean 0 and standard deviation 1 in which each value depends on the one before."""
    values = np.empty(number)
    values[0] = random.standard_normal()
    for place in range(1, number):
        values[place] = rho * values[place - 1] + math.sqrt(1 - rho**2) * random.standard_normal()
    return values


def _found(series: Series) -> list[int | None]:
    random = np.random.default_rng(11)
    found = [steady(series(random).tolist()) for _ in range(RUNS)]
    return [each.first for each in found if each is not None]


def _queue(random: np.random.Generator, seconds: int) -> Any:
    """Return the median response of each second of a queue at 60 % of its capacity, after a minute."""
    whole = seconds + 60
    number = random.poisson(60 * whole)
    arrivals, work = np.sort(random.random(number) * whole), random.exponential(0.01, number)
    behind = np.cumsum(work)
    response = np.maximum.accumulate(arrivals - (behind - work)) + behind - arrivals
    second = arrivals.astype(int)
    return np.array([np.median(response[second == each]) for each in range(60, whole)])


@pytest.mark.parametrize("number", [60, 300])
@pytest.mark.parametrize(
    ("series", "alarms"),
    [
        (lambda random, number: 100 + 5 * random.standard_normal(number), 0.01),
        (lambda random, number: 100 + 30 * random.standard_normal(number), 0.03),
        (lambda random, number: 100 + 15 * _dependent(random, number, 0.8), 0.1),
    ],
)
def test_what_is_steady_from_the_begin_is_seldom_taken_for_anything_else(
    number: int, series: Callable[[np.random.Generator, int], Any], alarms: float
) -> None:
    wrong = sum(first != 0 for first in _found(lambda random: series(random, number)))
    assert wrong <= alarms * RUNS


def test_a_queue_raises_few_false_alarms() -> None:
    random = np.random.default_rng(3)
    found = [steady(_queue(random, 120).tolist()) for _ in range(100)]
    assert sum(each is None or each.first != 0 for each in found) <= 10


def test_a_step_is_found_where_it_is() -> None:
    def series(random: np.random.Generator) -> Any:
        return np.where(np.arange(120) < 15, 200, 100) + 10 * _dependent(random, 120, 0.5)

    found = _found(series)
    assert sum(first is not None and 10 <= first <= 25 for first in found) >= 0.85 * RUNS
    assert all(first != 0 for first in found)


@pytest.mark.parametrize(("size", "lasting", "share"), [(50, 10, 0.7), (-30, 20, 0.5), (200, 10, 0.95)])
def test_a_beginning_that_fades_away_is_mostly_found(size: float, lasting: float, share: float) -> None:
    def series(random: np.random.Generator) -> Any:
        return 100 + size * np.exp(-np.arange(200) / lasting) + 9 * _dependent(random, 200, 0.5)

    found = _found(series)
    assert sum(first != 0 for first in found) >= share * RUNS
    late = sorted(first for first in found if first)
    assert lasting / 2 <= late[len(late) // 2] <= 4 * lasting


def test_what_goes_on_growing_is_never_steady() -> None:
    found = _found(lambda random: 100 + np.arange(120) + 5 * random.standard_normal(120))
    assert sum(first is None for first in found) >= 0.7 * RUNS


def test_means_before_and_after_are_told() -> None:
    told = steady([30.0] * 10 + [10.0, 11.0] * 45)
    assert told is not None
    assert (told.first, told.before) == (10, 30)
    assert told.after == pytest.approx(10.5)


def test_short_and_constant_series() -> None:
    assert steady([1.0] * (LEAST - 1)) is None
    told = steady([1.0] * LEAST)
    assert told is not None
    assert (told.first, told.after) == (0, 1)
