"""Rates per second out of frames, whatever the moments at which frames end."""

import pytest

from pileup.stats.measured import measure
from pileup.stats.rates import rate, throughput

SECOND = 10**9


def made(frames):
    measured = measure(frames)
    (tally,) = measured.iterations()
    return rate(tally, measured, None, frames), throughput(tally, measured, None, frames)


def test_a_steady_load_has_a_narrow_interval(row, frame):
    times = [5_000_000] * 50
    even = [frame(second + 0.5, row(times, moved=5000)) for second in range(30)]
    found, moved = made(even)
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((50, 50, 50))
    assert (moved.value, moved.interval.high) == pytest.approx((5000, 5000))


def test_two_frames_that_end_in_one_second_are_no_double_rate(row, frame):
    times = [5_000_000] * 50
    early = {5, 6, 11, 17, 18, 19, 25, 28}
    wobbling = [frame(second - 0.002 if second in early else second + 0.002, row(times)) for second in range(1, 31)]
    assert len({each.time // SECOND for each in wobbling}) < 30
    found, _ = made(wobbling)
    assert (found.interval.low, found.interval.high) == pytest.approx((50, 50))


def test_places_add_up(row, frame):
    times = [5_000_000] * 50
    both = [frame(second + 0.5, row(times), place=place) for place in (0, 1) for second in range(30)]
    found, _ = made(both)
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx((100, 100, 100))


def test_few_events_are_taken_as_independent(row, frame):
    frames = [frame(second, row([SECOND] if second % 5 == 0 else [])) for second in range(20)]
    found, _ = made(frames)
    assert found.value == pytest.approx(0.2)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.2 * 1.09 / 4, 0.2 * 10.24 / 4), rel=0.03)


def test_nothing_passed_has_no_interval(row, frame):
    found, _ = made([frame(second, row([], failed=3)) for second in range(20)])
    assert (found.value, found.interval) == (0, None)


def test_start_errors_of_the_warm_up_are_left_out(row, frame):
    frames = [
        frame(1, row(phase=2), phase=2, late=[500_000_000]),
        frame(2, row([5_000_000]), late=[20_000]),
        frame(3, row([5_000_000]), phase=4, late=[30_000], missed=7),
    ]
    measured = measure(frames)
    assert (measured.late.count, measured.missed) == (2, 7)
    assert measured.late.max < 31_000
