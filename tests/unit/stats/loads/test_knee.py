"""What trials at levels say about where a load begins to fail."""

from __future__ import annotations

import pytest

from pileup.stats.loads.knee import Evidence


def test_without_trials_every_level_is_as_likely_as_another() -> None:
    knee = Evidence(10, 1000).knee()
    assert knee.level == pytest.approx(100, rel=0.01)
    assert knee.below == pytest.approx(knee.above, rel=0.02)
    assert knee.low < 10
    assert knee.high > 1000


def test_the_knee_lies_between_what_passed_and_what_failed() -> None:
    trials = [(100.0, True), (200.0, False), (140.0, True), (160.0, False), (148.0, True), (152.0, False)]
    knee = Evidence(10, 1000, trials).knee()
    assert 140 < knee.level < 160
    assert knee.low < knee.level < knee.high
    assert max(knee.below, knee.above) < 0.01
    assert not knee.within(0.001)
    assert knee.within(0.5)


def test_more_trials_of_the_same_kind_make_the_interval_shorter() -> None:
    few = [(90.0, True), (110.0, False)] * 2
    assert Evidence(10, 1000, few * 5).knee().high < Evidence(10, 1000, few).knee().high


def test_the_order_of_trials_does_not_matter() -> None:
    trials = [(50.0, True), (80.0, False), (70.0, True), (60.0, False)]
    forward, backward = Evidence(10, 1000, trials).knee(), Evidence(10, 1000, trials[::-1]).knee()
    assert forward.level == pytest.approx(backward.level)


def test_all_that_fails_or_passes_puts_the_knee_beyond_the_bounds() -> None:
    assert Evidence(10, 1000, [(10.0, False)] * 6).knee().below > 0.95
    assert Evidence(10, 1000, [(1000.0, True)] * 6).knee().above > 0.95
