"""T16: intervals of shares and rates hold the truth where things come in bursts, and say something all the same."""

import numpy as np
import pytest

from benchmarks.bursts import EVENTS, OUTCOMES, rate_of, share_of

LOWEST, HIGHEST = 0.925, 0.98
"""93 % to 97.5 % is what many runs show (docs/compare.md); so many runs scatter by 0.7 %."""
RUNS = 1000


@pytest.mark.long
@pytest.mark.parametrize("name", list(OUTCOMES))
def test_t16_shares_cover(name: str) -> None:
    make, truth = OUTCOMES[name]
    rng = np.random.default_rng(16)
    found = [share_of(make(rng)) for _ in range(RUNS)]
    held = np.mean([interval.low <= truth <= interval.high for _, interval in found])
    assert LOWEST < held < HIGHEST
    assert all(interval.low <= value <= interval.high for value, interval in found)
    # never all there is, however the bursts fell
    assert np.mean([interval.high - interval.low > 0.95 for _, interval in found]) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", list(EVENTS))
def test_t16_rates_cover(name: str) -> None:
    make, truth, length = EVENTS[name]
    rng = np.random.default_rng(17)
    found = [rate_of(make(rng), length) for _ in range(RUNS)]
    told = [(value, interval) for value, interval in found if interval is not None]
    assert len(told) > 0.95 * RUNS
    held = np.mean([interval.low <= truth <= interval.high for _, interval in told])
    assert held > LOWEST
    assert all(0 < interval.low < value < interval.high for value, interval in told)


def test_taking_bursts_for_single_failures_would_not_cover() -> None:
    """The tests above can fail."""
    make, truth = OUTCOMES["bursts of 40 in 400"]
    rng = np.random.default_rng(16)
    shares = np.array([make(rng).mean() for _ in range(300)])
    errors = 1.96 * np.sqrt(shares * (1 - shares) / 4000)
    assert np.mean(np.abs(shares - truth) < errors) < 0.5
