"""Whether pileup, or the system, is why a figure is not met: frames with known causes and effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pileup.model import check as checks
from pileup.model import self_metrics
from pileup.model.figures import Figure
from pileup.model.record import Phase
from pileup.model.results import ErrorGroup
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import Window
from pileup.stats.generator.holdups import Stretch
from pileup.stats.generator.undisturbed import cut, rest
from pileup.stats.monitors import MetricSeries
from pileup.stats.verdicts import judge, resolve
from pileup.stats.verdicts.excuse import Excuse, excuse, of_not_passed
from tests.manifests import case_of

MS = 10**6
SECOND = 10**9
START = 1_795_000_000 * SECOND
OPEN = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "rate": 10.0, "clients": 64}
CLOSED = {**OPEN, "load_kind": "closed", "rate": None, "clients": 1}
Row = Callable[..., Any]


def sampled(metric: str, *values: tuple[float, float]) -> MetricSeries:
    """Samples of pileup itself given as (second of the series, value)."""
    times = [START + int(second * SECOND) for second, _ in values]
    return MetricSeries(
        self_metrics.MONITOR, metric, self_metrics.label(0), "", "here", times, [value for _, value in values]
    )


def judged(text: str, *cases: CaseData, series: Sequence[MetricSeries] = (), **more: Any) -> tuple[bool, Excuse | None]:
    """Return whether a check is met, and else the excuse."""
    check = checks.parse(text)
    selected = checks.resolve(check, {"copy"}, set())

    def figure(some: Sequence[CaseData]) -> Figure:
        return resolve.of_test(check, selected, [each.part for each in some])

    found = figure(cases)
    if judge.against(check, found).met:
        return True, None
    return False, excuse(check, selected, found, cases, series=series, evaluate=figure, **more)


@pytest.fixture
def load(row: Row, frame: Row) -> Callable[..., CaseData]:
    """Ten seconds of ten iterations each, with other seconds where told: (response in ms, late in ms)."""

    def make(
        info: dict[str, Any] = OPEN,
        usual: tuple[float, float] = (20, 0.1),
        bad: dict[int, tuple[float, float]] | None = None,
        **fields: Any,
    ) -> CaseData:
        frames = []
        for second in range(1, 11):
            response, late = (bad or {}).get(second, usual)
            frames.append(frame(second, row([int(response * MS)] * 10), late=[int(late * MS)] * 10, **fields))
        return CaseData(case_of(info), frames, None)

    return make


def test_t03_lateness_is_held_against_what_is_missing(load: Callable[..., CaseData]) -> None:
    """3 ms late: of a system that takes a second that explains nothing, of one that takes 1 ms it does."""
    assert judged("p90(copy) < 100 ms", load(usual=(1000, 3))) == (False, None)
    met, found = judged("p90(copy) < 2 ms", load(usual=(4, 3)))
    assert not met
    assert found is not None
    assert found.share == 1
    assert found.words == (
        "pileup was the bottleneck of copy from 11:06:40 to 11:06:50 (starts 3 ms late); "
        "this figure does not describe the system"
    )


def test_what_a_load_asks_for_is_named_where_its_starts_come_late(load: Callable[..., CaseData]) -> None:
    _, found = judged("p90(copy) < 2 ms", load({**OPEN, "pacing": "coarse"}, usual=(2.4, 0.9)))
    assert found is not None
    assert found.words == (
        "pileup was the bottleneck of copy from 11:06:40 to 11:06:50 "
        "(starts 900 µs late, up to 1 ms of it for coarse pacing); this figure does not describe the system"
    )


@pytest.mark.parametrize("late", [0.1, 3, 70])
def test_a_slow_system_is_not_excused_by_less_than_it_is_slow(load: Callable[..., CaseData], late: float) -> None:
    assert judged("p50(copy) < 300 ms", load(usual=(500, late))) == (False, None)


def test_t03_a_system_that_does_not_answer_is_never_excused(row: Row, frame: Row) -> None:
    """Nor one that answers wrong more often than right, whatever pileup did: here it took a core and was stopped."""
    stop = sampled(self_metrics.STOPPED, (5.5, 2.0))
    for passed in (0, 1):
        rows = [row([MS] * passed, failed=10) for _ in range(10)]
        frames = [frame(n + 1, each, cpu=990 * MS, late=[500 * MS] * 10) for n, each in enumerate(rows)]
        data = CaseData(case_of(CLOSED), frames, None)
        assert judged("rate(copy) >= 50 /s", data, series=[stop]) == (False, None)
        if passed:
            assert judged("p50(copy) < 500 us", data, series=[stop]) == (False, None)


def test_a_figure_that_is_missed_without_the_excused_time_too_is_missed(load: Callable[..., CaseData]) -> None:
    """(c): pileup was 500 ms late in one second of ten; the system was slow in two others."""
    stop, late = sampled(self_metrics.STOPPED, (4.7, 0.5)), {5: (520.0, 500.0)}
    slow: dict[int, tuple[float, float]] = {2: (600, 0.1), 8: (600, 0.1)}
    met, found = judged("p90(copy) < 100 ms", load(bad=late), series=[stop])
    assert met, "one second in ten is within what p90 leaves"
    met, found = judged("max(copy) < 100 ms", load(bad=late), series=[stop])
    assert found is not None
    assert found.left is not None
    assert found.left.value == pytest.approx(20 * MS, rel=0.01)
    assert found.words.endswith("without that (8.5 % of what was measured) the figure is met")
    assert judged("max(copy) < 100 ms", load(bad=late | slow), series=[stop]) == (False, None)


def test_what_is_left_is_excused_by_what_explains_it(row: Row, frame: Row) -> None:
    """pileup was starved from within the first second on: 2 ms late there, and that is what is missing there."""
    frames = [frame(n, row([40 * MS] * 50), late=[38 * MS] * 50, clients=4) for n in range(2, 6)]
    first = frame(1, row([6 * MS] * 50), late=[2 * MS] * 50, clients=4)
    met, found = judged("p90(copy) < 5 ms", CaseData(case_of(OPEN), [first, *frames], None))
    assert not met
    assert found is not None
    assert found.share == 1
    slow = frame(1, row([60 * MS] * 50), late=[2 * MS] * 50, clients=4)
    assert judged("p90(copy) < 5 ms", CaseData(case_of(OPEN), [slow, *frames], None)) == (False, None)


def test_t09_failures_of_the_system_elsewhere_are_judged(row: Row, frame: Row) -> None:
    """A stop of 0.4 s in 10 s: 7 % are excused; a system that is slow in another second has failed."""
    stop = sampled(self_metrics.STOPPED, (5.5, 0.4))
    frames = [frame(n, row([(420 if n == 6 else 20) * MS] * 100)) for n in range(1, 11)]
    met, found = judged("p99(copy) < 100 ms", CaseData(case_of(OPEN), frames, None), series=[stop])
    assert not met
    assert found is not None
    assert found.share == pytest.approx(0.07)
    slow = [replace(each, rows=(row([420 * MS] * 100),)) if n == 2 else each for n, each in enumerate(frames)]
    assert judged("p99(copy) < 100 ms", CaseData(case_of(OPEN), slow, None), series=[stop]) == (False, None)


def test_wrong_answers_are_the_systems_whatever_pileup_did(row: Row, frame: Row) -> None:
    frames = [frame(n, row([20 * MS] * 9, failed=1), cpu=990 * MS) for n in range(1, 11)]
    for text in ("fraction(copy.failed) < 1 %", "count(copy.failed) == 0", "rate(copy.failed) < 0.1 /s"):
        assert judged(text, CaseData(case_of(OPEN), frames, None)) == (False, None)


def test_too_fast_is_no_fault_of_a_slow_pileup(load: Callable[..., CaseData]) -> None:
    data = load(usual=(20, 15), cpu=990 * MS)
    assert judged("p50(copy) > 100 ms", data) == (False, None)
    assert judged("rate(copy) < 5 /s", data) == (False, None)


def test_a_closed_load_that_wanted_a_core_says_nothing_of_the_rate(load: Callable[..., CaseData]) -> None:
    """Its threads had 30 % of a core and waited for the rest: a system that is really fast, beside busy loops."""
    seconds = range(1, 11)
    starved = [
        sampled(self_metrics.CPU, *((n, 30.0) for n in seconds)),
        sampled(self_metrics.RUN_QUEUE, *((n, 69.0) for n in seconds)),
    ]
    met, found = judged("rate(copy) >= 50 /s", load(CLOSED), series=starved)
    assert not met
    assert found is not None
    assert "CPU 30 % of a core and 69 % waited for" in found.words
    assert judged("rate(copy) >= 50 /s", load(CLOSED)) == (False, None)


def test_what_a_closed_load_loses_by_late_starts_is_a_part_of_its_cycle(load: Callable[..., CaseData]) -> None:
    """Cycles of 100 ms: 30 ms late twice an iteration explain 15 /s instead of 10, not 100."""
    data = load(CLOSED, usual=(95, 30))
    met, found = judged("rate(copy) >= 15 /s", data)
    assert (met, found is not None) == (False, True)
    assert judged("rate(copy) >= 100 /s", data) == (False, None)


def test_t26_lateness_shifts_what_is_counted_by_its_part_of_the_window(load: Callable[..., CaseData]) -> None:
    assert judged("rate(copy) >= 11 /s", load(usual=(20, 70))) == (False, None)
    met, found = judged("rate(copy) >= 10.05 /s", load(usual=(20, 70)))
    assert (met, found is not None) == (False, True)


def test_refusals_that_are_missing_in_a_rate_are_the_systems(row: Row, frame: Row) -> None:
    frames = [frame(n, row([MS] * 60, refused=40), cpu=990 * MS) for n in range(1, 11)]
    assert judged("rate(copy) >= 90 /s", CaseData(case_of(CLOSED), frames, None)) == (False, None)
    met, found = judged("rate(copy) >= 200 /s", CaseData(case_of(CLOSED), frames, None))
    assert (met, found is not None) == (False, True)


def test_a_backlog_of_a_stop_up_to_the_end_is_part_of_it(row: Row, frame: Row) -> None:
    """What was due while the process stood still at the end is served in the cool-down."""
    frames = [frame(n, row([20 * MS] * 10)) for n in range(1, 11)]
    frames.append(frame(11, row([1500 * MS] * 20), phase=Phase.COOLDOWN))
    stop = sampled(self_metrics.STOPPED, (10.9, 1.9))
    met, found = judged("p90(copy) < 100 ms", CaseData(case_of(OPEN), frames, None), series=[stop])
    assert not met
    assert found is not None
    assert found.left is not None


def test_failures_that_are_our_own_are_taken_out_and_no_others(row: Row, frame: Row) -> None:
    data = CaseData(case_of(OPEN), [frame(n, row([MS] * 90, failed=10)) for n in range(1, 11)], None)
    text = "fraction(copy.failed) < 1 %"
    group = ErrorGroup("copy", "iteration", "failed", "too many open files", 95, 0, "local")
    met, found = judged(text, data, failures={"copy": [group]})
    assert not met
    assert found is not None
    assert "95 failed" in found.words
    assert judged(text, data, failures={"copy": [replace(group, count=50)]}) == (False, None)
    assert judged(text, data, failures={"else": [group]}) == (False, None)


def test_missed_starts_are_excused_by_the_time_that_pileup_was_stopped(row: Row, frame: Row) -> None:
    def data(missed: int) -> CaseData:
        return CaseData(
            case_of(OPEN), [frame(n, row([MS] * 10), missed=missed * (n == 5), clients=64) for n in range(1, 11)], None
        )

    stop = sampled(self_metrics.STOPPED, (4.9, 0.8))
    met, found = judged("fraction(copy.missed) < 1 %", data(8), series=[stop])
    assert (met, found is not None) == (False, True)
    assert judged("fraction(copy.missed) < 1 %", data(80), series=[stop]) == (False, None)
    assert of_not_passed(data(8), [stop], 0.01) is not None
    assert of_not_passed(data(80), [stop], 0.01) is None
    assert of_not_passed(data(8), [], 0.01) is None


@pytest.mark.parametrize(
    ("above", "stopped", "excused"), [(SECOND, 3.0, True), (SECOND, 0.2, False), (math.inf, 3.0, False)]
)
def test_a_quantile_that_timed_out_is_held_against_its_bound(
    load: Callable[..., CaseData], above: float, stopped: float, excused: bool
) -> None:
    """More than 1 s instead of 100 ms: a stop of 3 s explains that. None explains that there was no answer at all."""
    check = checks.parse("p90(copy) < 100 ms")
    selected = checks.resolve(check, {"copy"}, set())
    left = Figure(20.0 * MS, "time", None, 50)
    stop = sampled(self_metrics.STOPPED, (8.0, stopped))
    found = excuse(check, selected, Figure(None, "time", above=above), [load()], series=[stop], evaluate=lambda _: left)
    assert (found is not None) is excused
    missed = Figure(None, "time", above=above)
    assert excuse(check, selected, missed, [load()], series=[stop], evaluate=lambda _: missed) is None


def test_what_is_left_is_shorter_by_what_is_left_out(row: Row, frame: Row) -> None:
    frames = [frame(n, row([MS] * (10 if n != 4 else 0), moved=1000)) for n in range(1, 11)]
    data = CaseData(case_of(OPEN), frames, Window(START, START + 10 * SECOND))
    left = rest(data, [Stretch(START + 3 * SECOND + 1, START + 4 * SECOND - 1)])
    assert left.window is not None
    assert left.window.seconds == pytest.approx(9)
    (tally,) = left.measured.iterations()
    assert left.part.rate(tally).value == pytest.approx(10)
    assert left.part.throughput(tally).value == pytest.approx(1000)
    assert len(left.frames) == 9
    assert rest(data, []) is data


def test_spans_are_cut() -> None:
    second = SECOND
    found = cut([(0, 10 * second)], [Stretch(2 * second, 3 * second), Stretch(9 * second, 12 * second)])
    assert found == [(0, 2 * second), (3 * second, 9 * second)]
    assert cut([(0, second)], [Stretch(0, second)]) == []
