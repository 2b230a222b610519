"""Intervals hold the truth as often as they say, of independent values and of a queue: the benchmark, made short."""

import pytest

from benchmarks.coverage import KINDS, Coverage, coverage, truths

RUNS, VALUES = 1000, 8000
LOWEST, HIGHEST = 0.92, 0.98
"""93 % to 97 % is what 2,000 runs show (docs/compare.md); so many runs scatter by 1 % more."""


@pytest.fixture(scope="module", params=list(KINDS))
def found(request: pytest.FixtureRequest) -> Coverage:
    return coverage(request.param, RUNS, VALUES)


@pytest.mark.long
@pytest.mark.parametrize("metric", list(truths()))
def test_figures_and_effects_cover(found: Coverage, metric: str) -> None:
    shares = {}
    for name in ("figure", "difference", "ratio"):
        tally = getattr(found, name)[metric]
        assert tally.told > 0.8 * tally.asked or (metric == "p99" and tally.told > 0.4 * tally.asked)
        shares[name] = tally.share
    # close to where it is too few p99 is reported with care
    highest = HIGHEST if metric != "p99" else 1.0
    assert all(LOWEST < share <= highest for share in shares.values()), shares


@pytest.mark.long
@pytest.mark.parametrize("values", [1000, 2000, 3500, 5000, 8000])
def test_t17_whenever_a_quantile_of_a_queue_has_an_interval_that_is_right(values: int) -> None:
    """Told before: p99 of 2,000 values in 1 % of the runs, and then right in a third; of 3,500 in 23 %, and in 85 %."""
    tally = coverage("queue at 60 %", 600, values, seed=17).figure["p99"]
    assert tally.told - tally.held <= max(1, 0.07 * tally.told)
    assert tally.told > 0.4 * tally.asked or values < 8000


def test_taking_a_queue_as_independent_would_not_cover() -> None:
    """The test above can fail: intervals that know nothing of neighbours hold the truth far too seldom."""
    import numpy as np

    from benchmarks.coverage import queue

    _, times = queue(np.random.default_rng(1), 200, VALUES)
    errors = 1.96 * times.std(axis=1) / np.sqrt(VALUES)
    assert np.mean(np.abs(times.mean(axis=1) - truths()["mean"]) < errors) < 0.6
