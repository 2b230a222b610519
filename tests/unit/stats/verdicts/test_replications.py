"""Intervals over the repeats of a simulation."""

import pytest

from pileup.model.check import parse
from pileup.model.figures import Figure, Interval
from pileup.stats.verdicts.replications import over_repeats

WIDE = Figure(5.0, "time", Interval(0.0, 20.0), 300)


def figures(*values: float | None) -> list[Figure]:
    return [Figure(value, "time", None, 100) for value in values]


def test_the_interval_of_a_mean_is_that_of_students_law_over_repeats() -> None:
    found = over_repeats(parse("mean(t.response) < 8 s"), WIDE, figures(4.0, 5.0, 6.0))
    # 4.303 (two degrees of freedom) times 1 / sqrt(3)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(5 - 4.3027 / 3**0.5, abs=1e-3)
    assert found.interval.high == pytest.approx(5 + 4.3027 / 3**0.5, abs=1e-3)
    assert (found.value, found.n) == (5.0, 300)


@pytest.mark.parametrize(
    ("check", "each"),
    [
        ("mean(t.response) < 8 s", figures(4.0, 6.0)),
        ("mean(t.response) < 8 s", figures(4.0, 5.0, None)),
        ("max(t.response) < 8 s", figures(4.0, 5.0, 6.0)),
        ("fraction(t.failed) < 1 %", figures(0.0, 0.0, 0.0)),
    ],
)
def test_where_repeats_say_nothing_the_interval_stays(check: str, each: list[Figure]) -> None:
    assert over_repeats(parse(check), WIDE, each) is WIDE


def test_a_share_stays_below_one_and_a_time_above_zero() -> None:
    share = Figure(0.9, "fraction", None, 30)
    found = over_repeats(parse("fraction(t.passed) > 50 %"), share, figures(0.8, 0.9, 1.0))
    assert found.interval is not None
    assert found.interval.high == 1.0
    found = over_repeats(parse("mean(t.response) < 8 s"), WIDE, figures(0.0, 5.0, 10.0))
    assert found.interval is not None
    assert found.interval.low == 0.0
