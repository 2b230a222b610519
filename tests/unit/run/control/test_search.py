"""Searches for the highest load that meets a criterion, under virtual time: systems whose knee is known."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from pileup.model.loads.find import MOST_MEASURED
from pileup.run.control.search import Confirm, Search

SEEDS = range(40)
NEAR = 0.05
Passes = Callable[[float, np.random.Generator], bool]


def _search(passes: Passes, seed: int, *, low: float = 10, high: float = 5000, whole: bool = False) -> Search:
    """Return a search that has ended, with what a suite has that refuses more."""
    random = np.random.default_rng(seed)
    search = Search(low, high, low, 0.05, 40, whole)
    while (level := search.next()) is not None:
        search.take(level, passes(level, random))
    return search


def _queue(
    service: Callable[[np.random.Generator, int], np.ndarray], seconds: float, share: float, most: float
) -> Passes:
    """Return trials of a queue of one server, which settles for 10 s: whether so large a share is answered in time."""

    def passes(rate: float, random: np.random.Generator) -> bool:
        whole = 10 + seconds
        number = random.poisson(rate * whole)
        arrivals = np.sort(random.random(number) * whole)
        work = service(random, number)
        # Lindley: an answer is there once all that came before is, and its own work after it came
        behind = np.cumsum(work)
        answered = np.maximum.accumulate(arrivals - (behind - work)) + behind
        response = (answered - arrivals)[arrivals > 10]
        return bool(np.quantile(response, share) < most)

    return passes


def _farther_than(near: float, found: list[float], truth: float) -> int:
    return sum(abs(level / truth - 1) > near for level in found)


@pytest.mark.long
def test_the_knee_of_a_simulated_queue_is_found() -> None:
    """Exponential service at 100/s: responses are exponential at 100 less the rate (M/M/1), so the knee is known."""
    passes = _queue(lambda random, number: random.exponential(0.01, number), 60, 0.9, 0.1)
    truth = 100 - math.log(10) / 0.1
    found = [_search(passes, seed, low=5, high=500).answer.level for seed in SEEDS]
    assert _farther_than(NEAR, found, truth) <= len(SEEDS) // 20


@pytest.mark.long
def test_where_a_queue_grows_without_end_is_found() -> None:
    """Service of exactly 10 ms, and responses of 2 s as the criterion: that is where the queue grows, 100/s."""
    passes = _queue(lambda _, number: np.full(number, 0.01), 60, 0.9, 2.0)
    searches = [_search(passes, seed) for seed in SEEDS]
    assert _farther_than(NEAR, [search.answer.level for search in searches], 100) <= len(SEEDS) // 20


@pytest.mark.long
@pytest.mark.parametrize(("noise", "usual"), [(0.0, 25), (0.03, 40), (0.06, 40)])
def test_the_interval_holds_the_knee_and_noise_only_costs_trials(noise: float, usual: int) -> None:
    knees = [float(np.random.default_rng(seed + 1000).uniform(30, 3000)) for seed in SEEDS]
    searches = []
    for seed, knee in zip(SEEDS, knees, strict=True):

        def passes(level: float, random: np.random.Generator, knee: float = knee) -> bool:
            return level * math.exp(noise * random.standard_normal()) < knee

        searches.append(_search(passes, seed))
    answers = [search.answer for search in searches]
    assert sum(abs(found.level / knee - 1) > NEAR for found, knee in zip(answers, knees, strict=True)) <= 2
    assert sum(found.low <= knee <= found.high for found, knee in zip(answers, knees, strict=True)) >= 34
    assert sorted(search.trials for search in searches)[len(searches) // 2] <= usual


def test_one_trial_that_lies_does_not_mislead_the_search() -> None:
    random = np.random.default_rng(1)
    search = Search(10, 5000, 10, 0.05, 40)
    while (level := search.next()) is not None:
        truth = level * math.exp(0.01 * random.standard_normal()) < 700
        search.take(level, not truth if search.trials in (3, 9) else truth)
    assert search.answer.level == pytest.approx(700, rel=NEAR)


@pytest.mark.parametrize("knee", [1, 2, 7, 40, 333])
def test_a_number_of_clients_is_found_exactly_when_it_is_small(knee: int) -> None:
    search = _search(lambda level, _: level <= knee, 1, low=1, high=1000, whole=True)
    assert int(search.answer.level) == pytest.approx(knee, rel=0.03)
    assert search.known


def test_answers_beyond_the_bounds_are_told_after_few_trials() -> None:
    lowest, highest = _search(lambda _, __: False, 1), _search(lambda _, __: True, 1)
    assert lowest.answer.below > 0.95
    assert lowest.trials <= 5
    assert highest.answer.above > 0.95
    assert highest.trials <= 15


def test_levels_double_over_trials_that_tell_nothing_and_end_at_the_highest() -> None:
    search = Search(10, 100, 10, 0.05, 40)
    levels = []
    while (level := search.next()) is not None:
        levels.append(level)
        search.take(level, None)
    assert levels == [10, 20, 40, 80, 100]


def test_trials_are_bounded() -> None:
    search = Search(10, 5000, 10, 0.005, 7)
    while (level := search.next()) is not None:
        search.take(level, level < 300)
    assert search.trials == 7
    assert search.answer.low < 300 < search.answer.high


def test_a_trial_that_was_disturbed_is_made_again_and_what_lasts_counts() -> None:
    search = Search(10, 5000, 100, 0.05, 40)
    assert [search.take(100, False, limited=True) for _ in range(3)] == [False, False, True]
    assert (search.trials, search.next()) == (3, 50)
    undisturbed = Search(10, 5000, 100, 0.05, 40)
    undisturbed.take(100, False)
    assert search.answer == undisturbed.answer
    assert search.take(50, False, limited=True) is False
    assert search.next() == 50
    assert search.take(50, True) is True
    assert search.take(70, False, limited=True) is False, "counted again"


def _over(**changes: float) -> Search:
    """Return a search that has ended: the knee of a system without chance is at 700."""
    search = Search(**{"low": 10, "high": 5000, "start": 10, "within": 0.05, "most": 40} | changes)
    while (level := search.next()) is not None:
        search.take(level, level < 700)
    return search


def test_t2_the_lower_end_is_measured_and_is_the_answer_where_it_holds() -> None:
    search = _over()
    confirm = Confirm(search)
    level = confirm.next()
    assert level == search.answer.low
    confirm.take(level, True)
    assert confirm.next() is None


def test_t2_lower_levels_are_measured_in_growing_steps_as_long_as_they_fail() -> None:
    search = _over()
    confirm, levels = Confirm(search), []
    before = search.answer
    while (level := confirm.next()) is not None:
        levels.append(level)
        confirm.take(level, False)
    assert len(levels) == MOST_MEASURED
    steps = [after / level for level, after in itertools.pairwise(levels)]
    assert all(step <= 1 - least for step, least in zip(steps, (0.05, 0.2, 0.45), strict=True))
    assert min(steps) >= 0.3
    assert search.answer.low < before.low, "what was measured and failed counts as a trial"


def test_t2_what_the_generator_spoilt_is_measured_again_at_the_same_level() -> None:
    confirm = Confirm(_over())
    level = confirm.next()
    confirm.take(level, False, limited=True)
    assert confirm.next() == level
    confirm.take(level, None)
    assert confirm.next() is None, "what cannot tell is not made again"


def test_t2_no_level_below_the_lowest_is_measured() -> None:
    search = Search(10, 5000, 10, 0.05, 40)
    search.take(10, True)
    search.take(10, False)
    confirm = Confirm(search)
    assert confirm.next() == 10
    confirm.take(10, False)
    assert confirm.next() is None


def test_t2_clients_are_measured_by_whole_numbers() -> None:
    search = _search(lambda level, _: level <= 4, 1, low=1, high=64, whole=True)
    confirm, levels = Confirm(search), []
    while (level := confirm.next()) is not None:
        levels.append(level)
        confirm.take(level, False)
    assert levels == [4, 3, 2, 1]
