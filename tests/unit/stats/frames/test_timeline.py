"""A case second by second."""

from dataclasses import replace

import pytest

from pileup.stats.frames.timeline import timeline
from pileup.stats.intervals.confidence import quantile_ranks

MS = 10**6


def test_places_are_summed_second_by_second(row, frame):
    frames = [
        frame(1.2, row([2 * MS] * 4, moved=100), started=5, in_flight=1, clients=2),
        frame(2.2, row([4 * MS] * 8, failed=1), started=9, clients=2),
        frame(1.4, row([6 * MS] * 6, moved=300), place=1, started=6, in_flight=2, clients=3),
    ]
    found = timeline(frames)
    assert [round(each - frames[0].time, -8) for each in found.times] == [200 * MS, 10**9]
    assert found.passed == (10.0, 8.0)
    assert found.started == (11.0, 9.0)
    assert found.not_passed == (0.0, 1.0)
    assert found.bandwidth == (400.0, 0.0)
    assert (found.in_flight, found.clients) == ((3, 0), (5, 2))
    assert abs(found.p50[0] - 6 * MS) < 0.01 * MS
    assert abs(found.p50[1] - 4 * MS) < 0.01 * MS


def test_t18_a_second_with_too_few_values_for_a_quantile_has_none(row, frame):
    for n in (1, 2, 5, 6, 35, 36, 367, 368):
        found = timeline([frame(1, row([k * MS for k in range(1, n + 1)]))])
        known = [each[0] is not None for each in (found.p50, found.p90, found.p99)]
        assert known == [quantile_ranks(share, n) is not None for share in (0.5, 0.9, 0.99)], n


def test_t18_quantiles_of_a_second_are_over_all_that_ended_in_it(row, frame):
    """What did not pass is slower than any: of 100 of which 30 failed, p50 is that of rank 50, and p90 is no answer."""
    found = timeline([frame(1, row([k * MS for k in range(1, 71)], failed=20, refused=10))])
    assert found.p50[0] == pytest.approx(50 * MS, rel=0.01)
    assert found.p90 == (None,)


def test_t18_the_start_error_of_a_second_is_its_largest_and_its_p99_where_enough_began(row, frame):
    found = timeline([frame(1, row([MS]), late=[MS, 7 * MS]), frame(2, row([MS]), late=[MS] * 399 + [9 * MS])])
    assert found.latest == (pytest.approx(7 * MS, rel=0.01), pytest.approx(9 * MS, rel=0.01))
    assert found.late == (None, pytest.approx(MS, rel=0.01))


def test_bytes_are_of_the_second_in_which_they_came(row, frame):
    whole = row([MS], moved=300)
    frames = [frame(1, replace(row(), moved=200), in_flight=1), frame(2, replace(whole, moved=100))]
    assert timeline(frames).bandwidth == (200.0, 100.0)


def test_a_short_last_interval_joins_the_one_before(row, frame):
    found = timeline([frame(1, row([MS] * 10)), frame(1.1, row([MS] * 1), seconds=0.1)])
    assert found.seconds == (1.1,)
    assert found.passed == (10.0,)


def test_operations_set_up_and_clean_up_stay_out(row, frame):
    frames = [
        frame(0, row([MS], phase=0), phase=0),
        frame(1, row([MS], phase=1), row([MS], "read", iteration=False, phase=1), phase=1),
        frame(2, phase=4, missed=7),
        frame(3, row([MS], phase=5), phase=5),
    ]
    found = timeline(frames)
    assert (found.phase, found.passed, found.missed) == ((1, 4), (1.0, 0.0), (0.0, 7.0))
    assert found.p99[1] is None


def test_a_case_never_pressed_has_none(row, frame):
    assert timeline([]) is None
    assert timeline([frame(0, row([MS], phase=0), phase=0)]) is None
