"""Rates per second out of frames, whatever the moments at which frames end."""

import pytest

from pileup.stats.frames.totals import measure
from pileup.stats.frames.window import Window
from pileup.stats.intervals.rates import rate, takes_longer, throughput

SECOND = 10**9
START = 1_795_000_000 * SECOND


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


def test_nothing_passed_may_have_been_few(row, frame):
    found, _ = made([frame(second, row([], failed=3)) for second in range(20)])
    assert (found.value, found.interval.low) == (0, 0)
    assert found.interval.high == pytest.approx(3.69 / 20, rel=0.01), "Garwood's interval of none"


def test_t01_what_ended_in_the_measured_time_counts_whenever_it_was_due(row, frame):
    due_before = row([SECOND] * 500, phase=1, done=0)
    ended_inside = row(done=500, moved=10)
    frames = [
        frame(1, due_before, phase=1),
        *(frame(second, phase=3) for second in range(2, 6)),
        frame(6, ended_inside),
    ]
    measured = measure(frames)
    (tally,) = measured.iterations()
    window = Window(START + SECOND, START + 6 * SECOND)
    assert rate(tally, measured, window, frames).value == 100
    assert throughput(tally, measured, window, frames).value == 2


def test_t01_operations_longer_than_the_measured_time_have_an_interval_that_holds_their_rate(row, frame):
    frames = [frame(second, in_flight=100) for second in range(10)]
    found, _ = made([*frames, frame(10, row([30 * SECOND] * 4), in_flight=100)])
    assert found.interval.low == 0
    assert found.interval.high * 11 == pytest.approx(104), "all that were under way may have been about to end"
    fast, _ = made([frame(second, row([SECOND // 10] * 40), in_flight=4) for second in range(10)])
    assert fast.interval.low > 39


def test_start_errors_of_the_warm_up_are_left_out(row, frame):
    frames = [
        frame(1, row(phase=2), phase=2, late=[500_000_000]),
        frame(2, row([5_000_000]), late=[20_000]),
        frame(3, row([5_000_000]), phase=4, late=[30_000], missed=7),
    ]
    measured = measure(frames)
    assert (measured.late.count, measured.missed) == (2, 7)
    assert measured.late.max < 31_000


def test_what_fails_at_once_does_not_take_longer_than_the_measured_time(row, frame):
    """Of four clients that were always busy nothing passed: "iterations take longer ... measure for longer"."""
    busy = [frame(second, row(failed=5000), in_flight=4, clients=4) for second in (1, 2, 3)]
    measured = measure(busy)
    (tally,) = measured.iterations()
    assert not takes_longer(tally, measured)
    slow = measure([frame(second, row(), in_flight=4, clients=4) for second in (1, 2, 3)])
    (tally,) = slow.iterations()
    assert takes_longer(tally, slow)
