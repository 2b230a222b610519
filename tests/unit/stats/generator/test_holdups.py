"""When pileup held a load back: series with known times."""

import pytest

from pileup.model import self_metrics
from pileup.stats.cases import CaseData
from pileup.stats.generator import holdups
from pileup.stats.generator.bottleneck import events, limits, one_line
from pileup.stats.monitors import MetricSeries
from tests.manifests import case_of

MS = 10**6
SECOND = 10**9
START = 1_795_000_000
MEDIAN = 20 * MS
BAR = holdups.Bar(MEDIAN / 2, 50 * MS)
OPEN = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "rate": 10.0, "clients": 4}


def whole(metric, values, place=0):
    """Samples given as (second of the series, value in s)."""
    made = MetricSeries(self_metrics.MONITOR, metric, self_metrics.label(place), "s", "here")
    for second, value in values:
        made.times.append(START * SECOND + int(second * SECOND))
        made.values.append(value)
    return made


def times(found):
    return [((each.begin - START * SECOND) / SECOND, (each.end - START * SECOND) / SECOND) for each in found]


@pytest.fixture
def calm(row, frame):
    """Ten seconds of a load that the generator kept up with, but for the seconds given."""

    def make(bad=(), **fields):
        quiet = {"late": [MS // 10] * 10, "cpu": 200 * MS}
        return [
            frame(second, row([MEDIAN] * 10), **(quiet | (fields if second in bad else {}))) for second in range(1, 11)
        ]

    return make


def test_a_quiet_generator_was_never_the_limit(calm):
    series = [whole(self_metrics.LAG, [(second, 0.004) for second in range(1, 11)])]
    assert holdups.stretches(calm(), series, BAR, starved=False) == []


def test_seconds_of_a_busy_core_are_one_time(calm):
    found = holdups.stretches(calm({4, 5, 6}, cpu=980 * MS), [], BAR, starved=False)
    assert times(found) == [(3.0, 6.0)]
    assert found[0].why == "CPU 98 % of a core"
    assert holdups.share(found, calm()) == pytest.approx(0.3)


def test_threads_of_python_that_wait_for_a_cpu_are_busy_too(calm):
    shares = [(4, 40.0), (5, 40.0), (6, 40.0), (7, 40.0)]
    waits = [(4, 5.0), (5, 35.0), (6, 40.0), (7, 20.0)]
    series = [whole(self_metrics.CPU, shares), whole(self_metrics.RUN_QUEUE, waits)]
    assert holdups.stretches(calm(), series, BAR, starved=True) == []
    found = holdups.stretches(calm(), series, BAR, starved=True, interpreted=True)
    assert times(found) == [(4.0, 6.0)]
    assert found[0].why == "CPU 40 % of a core and 35 % waited for"


def test_a_sample_tells_of_the_time_since_the_one_before(calm):
    """The watch had no CPU either: three seconds are one sample."""
    series = [whole(self_metrics.CPU, [(4, 20.0), (7, 95.0), (8, 20.0)])]
    assert times(holdups.stretches(calm(), series, BAR, starved=True)) == [(4.0, 7.0)]


def test_one_busy_second_may_be_anything(calm):
    assert holdups.stretches(calm({4}, cpu=980 * MS), [], BAR, starved=False) == []


def test_times_far_apart_stay_apart(calm):
    found = holdups.stretches(calm({2, 3, 7, 8}, cpu=950 * MS), [], BAR, starved=False)
    assert times(found) == [(1.0, 3.0), (6.0, 8.0)]


def test_late_starts_are_evidence_unless_clients_were_wanting(calm):
    frames = calm({5, 6}, late=[12 * MS] * 10)
    assert times(holdups.stretches(frames, [], BAR, starved=False)) == [(4.0, 6.0)]
    assert holdups.stretches(frames, [], BAR, starved=True) == []
    assert holdups.stretches(calm({5, 6}, late=[9 * MS] * 10), [], BAR, starved=False) == []


def test_one_second_of_lateness_must_be_bad(calm):
    assert holdups.stretches(calm({5}, late=[30 * MS] * 10), [], BAR, starved=False) == []
    found = holdups.stretches(calm({5}, late=[80 * MS] * 10), [], BAR, starved=False)
    assert times(found) == [(4.0, 5.0)]


def test_a_process_that_did_not_run_is_told_whatever_the_clients_did(calm):
    series = [whole(self_metrics.LAG, [(3, 0.001), (6.5, 2.0), (7, 0.001)])]
    found = holdups.stretches(calm(), series, BAR, starved=True)
    assert times(found) == [(4.5, 6.75)]
    assert found[0].why == "its process did not run for 2 s"


def test_what_is_caught_up_after_a_stop_is_part_of_it(calm):
    series = [whole(self_metrics.LAG, [(6.5, 2.0)])]
    found = holdups.stretches(calm({7, 8}, late=[2 * SECOND] * 10), series, BAR, starved=False)
    assert times(found) == [(4.5, 8.0)]
    found = holdups.stretches(calm({7}, late=[2 * SECOND] * 10), series, BAR, starved=False)
    assert times(found) == [(4.5, 6.75)]


def test_a_watch_that_is_a_little_late_tells_nothing_of_native_workers(calm):
    assert holdups.stretches(calm(), [whole(self_metrics.LAG, [(5, 0.4)])], BAR, starved=False) == []


def test_t09_a_stop_is_as_long_as_it_was_with_what_is_caught_up(calm):
    """0.4 s, of which the watch saw 0.35 s: neither whole seconds, nor the lateness that it made, nor neighbours."""
    series = [whole(self_metrics.STOPPED, [(6.5, 0.35)]), whole(self_metrics.LAG, [(7, 0.35)])]
    (found,) = holdups.stretches(calm({7}, late=[MS] * 5 + [400 * MS] * 5), series, BAR, starved=False)
    assert times([found]) == [(6.05, 6.675)]
    assert found.why == "its process did not run for 350 ms"
    assert holdups.share([found], calm()) == pytest.approx(0.0625)
    assert times(holdups.stops(calm(), series)) == [(6.05, 6.5)]


def test_seconds_that_are_late_still_behind_a_short_stop_are_not_lost(calm):
    series = [whole(self_metrics.STOPPED, [(3.6, 0.08)])]
    found = holdups.stretches(calm({5, 6}, late=[40 * MS] * 10), series, BAR, starved=False)
    assert times(found) == [(3.48, 6.0)], "a second behind a stop that is late still belongs to it"


def test_t09_neighbours_stay_apart(calm):
    frames = calm({3, 5}, late=[80 * MS] * 10)
    found = holdups.stretches(frames, [], BAR, starved=False)
    assert times(found) == [(2.0, 3.0), (4.0, 5.0)]
    assert holdups.share(found, frames) == pytest.approx(0.2)


def test_a_long_stop_is_told_once_by_what_is_known_best(calm):
    series = [whole(self_metrics.STOPPED, [(6.5, 2.0)]), whole(self_metrics.LAG, [(6.5, 2.0)])]
    found = holdups.stretches(calm(), series, BAR, starved=True)
    assert times(found) == [(4.4, 6.75)]
    assert found[0].stopped == 2 * SECOND


@pytest.mark.parametrize(("cpu", "waited", "found"), [(30.0, 70.0, [(3.0, 6.0)]), (5.0, 535.0, [])])
def test_t26_threads_that_wait_want_no_more_than_their_share(calm, cpu, waited, found):
    """Who always wants to run beside others gets his share of a core; many threads that wake together want little."""
    seconds = (4, 5, 6)
    series = [
        whole(self_metrics.CPU, [(n, cpu) for n in seconds]),
        whole(self_metrics.RUN_QUEUE, [(n, waited) for n in seconds]),
    ]
    for interpreted in (False, True):
        assert times(holdups.stretches(calm(), series, BAR, starved=False, interpreted=interpreted)) == found


def test_what_is_judged_says_how_late_is_late(calm):
    frames = calm({5}, late=[3 * MS] * 10)
    assert holdups.stretches(frames, [], holdups.Bar(4 * MS, 4 * MS, lasting=False), starved=False) == []
    found = holdups.stretches(frames, [], holdups.Bar(2 * MS, 2 * MS, lasting=False), starved=False)
    assert times(found) == [(4.0, 5.0)]


def test_a_late_event_loop_is_evidence_of_its_own(calm):
    found = holdups.stretches(
        calm(), [whole(self_metrics.LOOP_LAG, [(5, 0.3), (6, 0.2), (9, 0.01)])], BAR, starved=True
    )
    assert times(found) == [(4.0, 6.0)]
    assert "event loop 300 ms late" in found[0].why


def test_samples_of_another_place_or_time_say_nothing(calm):
    series = [whole(self_metrics.LAG, [(5, 2.0)], place=3), whole(self_metrics.LAG, [(40, 2.0)])]
    assert holdups.stretches(calm(), series, BAR, starved=False) == []


def test_places_are_watched_apart_and_told_together(calm, row, frame):
    others = [frame(second, row([MEDIAN]), place=1, cpu=970 * MS if second in (7, 8) else 0) for second in range(1, 11)]
    found = holdups.stretches([*calm({2, 3}, cpu=950 * MS), *others], [], BAR, starved=False)
    assert times(found) == [(1.0, 3.0), (6.0, 8.0)]


def test_the_verdict_names_the_time(calm):
    found = limits([CaseData(case_of(OPEN), calm({4, 5, 6}, cpu=980 * MS, late=[12 * MS] * 10), None)])
    assert found[0].generator
    assert one_line(found) == (
        "copy: pileup was the bottleneck from 11:06:43 to 11:06:46 (CPU 98 % of a core, starts 12 ms late); "
        "the numbers of that time (30 % of what was measured) do not describe the system"
    )
    (event,) = events(found)
    assert (event.kind, event.about) == (self_metrics.EVENT, "copy")
    assert times([event]) == [(3.0, 6.0)]


def test_a_short_time_is_told_and_excuses_nothing(row, frame):
    frames = [
        frame(second, row([MEDIAN] * 10), late=[(80 if second == 50 else 1) * MS] * 10) for second in range(1, 101)
    ]
    (found,) = limits([CaseData(case_of(OPEN), frames, None)])
    assert not found.generator
    assert "pileup held it back from 11:07:29 to 11:07:30 (starts 80 ms late)" in found.words


def test_many_cases_are_a_number_and_the_worst(calm):
    slow = [
        CaseData(
            case_of(OPEN | {"id": number, "name": f"case{number}"}), calm(range(2, 3 + number), cpu=990 * MS), None
        )
        for number in range(1, 7)
    ]
    found = one_line(limits([CaseData(case_of(OPEN), calm(), None), *slow]))
    assert found.startswith("pileup was the bottleneck in 6 of 7 cases; the worst is case6: pileup was the bottleneck")
    assert len(found) < 250
