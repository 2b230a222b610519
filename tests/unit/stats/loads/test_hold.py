"""How well something was held, and the quantity that is looked at, out of samples and frames."""

from __future__ import annotations

from typing import Any

import pytest

from pileup.model import check as checks
from pileup.model.record import Frame, Sample, SampleRow
from pileup.stats.frames.window import Window
from pileup.stats.loads.gauge import STALE, Count, Gauge
from pileup.stats.loads.hold import held, held_words
from pileup.stats.monitors import whole_series
from tests.manifests import case_of

SECOND = 10**9
INFO: dict[str, Any] = {
    "test": "submit",
    "started": SECOND,
    "ended": 100 * SECOND,
    "hold": {"metric": "q.waiting", "dimension": "", "at": 100.0, "half": 10.0, "by": "rate"},
}


def _row(second: int, metric: str, value: float, monitor: str = "submit", labels: str = "") -> SampleRow:
    return SampleRow(second * SECOND, monitor, "host", Sample(metric, value, "", labels))


def test_the_share_is_that_of_the_looks_after_settling() -> None:
    values = {3: 0.0, 4: 95.0, 10: 101.0, 11: 109.0, 12: 125.0, 13: 100.0}
    rows = [_row(second, "held_value", value) for second, value in values.items()]
    rows += [_row(second, "held_level", 7.0) for second in (*values, 14)]
    found = held(case_of(INFO), Window(10 * SECOND, 20 * SECOND), whole_series(rows))
    assert found is not None
    assert (found.looks, found.blind, found.share, found.farthest) == (4, 1, 0.75, 125.0)
    assert found.mean == pytest.approx(108.75)
    assert found.reached == 3 * SECOND
    assert held_words(found) == (
        "q.waiting was between 90 and 110 in 3 of 4 samples (1 more could not be measured); "
        "mean 108.8, farthest 125, within the band first after 3 s"
    )


def test_what_was_never_measured_was_not_held() -> None:
    found = held(case_of(INFO), Window(10 * SECOND, 20 * SECOND), [])
    assert found is not None
    assert (found.share, found.reached) == (None, None)
    assert "was never measured" in held_words(found)
    assert held(case_of({"test": "submit"}), None, []) is None


def _gauge(text: str, over: int = 2) -> Gauge:
    check = checks.parse(text)
    selected = checks.resolve(check, ["copy"], ["q"])
    return Gauge(check, selected, {3}.__contains__, over * SECOND, frozenset({selected.name}))


def test_a_metric_is_its_newest_sample_until_that_is_stale() -> None:
    gauge = _gauge("last(q.waiting) == 5")
    assert gauge.look(SECOND, [], []) is None
    assert gauge.look(SECOND, [], [_row(1, "waiting", 4.0, "q"), _row(2, "waiting", 6.0, "q")]) == 6.0
    later = [gauge.look(SECOND, [], [_row(1, "other", 9.0, "q")]) for _ in range(STALE)]
    assert later == [6.0] * (STALE - 1) + [None]


def test_one_of_several_series_must_be_chosen() -> None:
    rows = [_row(1, "waiting", 4.0, "q", "queue=a"), _row(1, "waiting", 6.0, "q", "queue=b")]
    gauge = _gauge("last(q.waiting) == 5")
    assert gauge.look(SECOND, [], rows) is None
    assert "has 2 such series; choose one by its labels: [queue=a], [queue=b]" in gauge.problem
    assert _gauge("last(q.waiting[queue=b]) == 5").look(SECOND, [], rows) == 6.0


def _frame(second: int, case: int, place: int, in_flight: int, ledger: bool = False) -> Frame:
    return Frame(
        time=second * SECOND, nanoseconds=0 if ledger else SECOND, place=place, case=case, phase=3, started=0, missed=0,
        in_flight=in_flight, clients=0 if ledger else 4, cpu=0, late=b"", rows=(),
    )  # fmt: skip


def test_what_is_under_way_is_the_sum_of_the_newest_frames_of_all_places() -> None:
    frames = [
        _frame(1, 3, 0, 5),
        _frame(1, 3, 1, 7),
        _frame(2, 3, 0, 6),
        _frame(2, 9, 0, 50),
        _frame(2, 3, 0, 80, True),
    ]
    assert Count({3}.__contains__, ledger=False).look(0, frames, []) == 13
    jobs = Count({3}.__contains__, ledger=True)
    assert jobs.look(0, frames, []) == 80
    assert jobs.look(0, [], []) == 80, "a ledger tells only when there is news"
