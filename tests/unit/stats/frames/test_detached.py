"""Operations that outlive their iterations: counted, timed over their own life, drawn by what was open."""

import numpy as np
import pytest

from pileup._core._native import Histogram
from pileup.builtin.reports.html.cases import counted, rows
from pileup.model.cause import Cause
from pileup.model.record import Frame, FrameRow
from pileup.record import TableWriter
from pileup.record.operations import ROW
from pileup.stats import results
from pileup.stats.frames.detached import _thinned
from tests.unit.stats import scans

SECOND = scans.SECOND
JOBS = 40
BEGIN = scans.START + SECOND


def jobs(lost=0, unfinished=0):
    """One job per iteration, begun with it, 20 s long, one ends every half second; none within the 4 s of load."""
    rows = np.zeros(JOBS, ROW)
    k = np.arange(JOBS)
    rows["id"], rows["parent"] = 1000 + k, 1 + k
    rows["intended"] = rows["start"] = BEGIN + k * (scans.LONG // JOBS)
    rows["end"] = BEGIN + (k + 1) * SECOND // 2 + 20 * SECOND
    rows["case"], rows["phase"], rows["operation"] = 1, 3, 1
    rows["outcome"] = np.where(k < lost, 5, np.where(k >= JOBS - unfinished, 4, 0))
    return rows


def ledger(told, place=0):
    """What a ledger tells each second."""
    for second in range(1, 46):
        edge = BEGIN + second * SECOND
        ended = told[(told["end"] > edge - SECOND) & (told["end"] <= edge)]
        still = int(((told["start"] <= edge) & (told["end"] > edge)).sum())
        times = Histogram()
        for row in ended[ended["outcome"] == 0]:
            times.record(int(row["end"] - row["start"]))
        number = [int((ended["outcome"] == outcome).sum()) for outcome in range(6)]
        made = (FrameRow("job", False, 3, *number, 0, 0, times.encode(), times.encode()),) if len(ended) else ()
        yield Frame(edge, 0, place, 1, 3, 0, 0, still, 0, 0, b"", made)


@pytest.fixture
def run(tmp_path):
    def make(cancelled=0, crashed=0, **wrong):
        told = scans.info([scans.case(1, "submit", BEGIN, test="submit")], axes={})
        rows = jobs(**wrong)
        rows["outcome"][: cancelled + crashed] = 1
        rows["error"][:cancelled], rows["error"][cancelled : cancelled + crashed] = 2, 3
        rows["cause"][:cancelled] = Cause.CANCELLED
        folder = scans.write(tmp_path, told, [scans.rows_of(1, BEGIN, 10_000_000)], frames=ledger(rows))
        writer = TableWriter(folder.operations_path(1), "operations", ROW)
        texts = [b"job", b"cancelled: by its user", b"exit 1 (not cancelled)"]
        writer.append(rows, texts, ("key", "error", "operation"))
        writer.close()
        return results(folder)

    return make


def test_their_rate_is_of_their_own_life(run):
    (case,) = run().cases
    submitted, job = case.operations
    assert (submitted.detached, job.detached, job.operation) == (False, True, "job")
    assert submitted.rate.value == pytest.approx(10)
    assert job.counts.passed == JOBS
    assert job.seconds == pytest.approx(40)
    assert job.rate.value == pytest.approx(1.0)
    assert job.rate.interval.low < 1 < job.rate.interval.high
    assert job.response.quantiles[0.5].value == pytest.approx(28.5e9, rel=0.02)


def test_what_was_open_is_told_in_time(run):
    (case,) = run().cases
    (line,) = case.detached
    assert line.operation == "job"
    assert line.most == JOBS
    assert sum(line.ended) == JOBS
    assert line.open[-1] == 0
    assert list(line.times) == sorted(line.times)
    at = dict(zip(line.times, line.open, strict=True))
    assert at[BEGIN + 30 * SECOND] == JOBS - 19, (
        "one ends each half second after 20 s, the last at the full second later"
    )


def test_the_load_is_not_mistaken_for_them(run):
    found = run()
    (case,) = found.cases
    assert max(case.timeline.in_flight) == 0
    assert len(case.timeline.times) == 4
    assert "in flight" not in found.limit


def test_lost_and_unfinished_ones_are_seen(run):
    (case,) = run(lost=3, unfinished=5).cases
    job = case.operations[1]
    assert (job.counts.passed, job.counts.lost, job.counts.unfinished) == (32, 3, 5)
    assert job.seconds == pytest.approx(20 + 35 / 2), "what never ended does not tell how long it took"
    assert job.rate.value == pytest.approx(32 / 37.5)


def test_t20_cancelled_jobs_are_told_apart_from_those_that_failed(run):
    found = run(cancelled=5, crashed=2)
    (case,) = found.cases
    submitted, job = case.operations
    assert (job.counts.failed, job.cancelled) == (7, 5)
    assert submitted.cancelled == 0
    (told,) = found.jobs
    assert (told.states["cancelled"], told.states["failed"]) == (5, 2)
    (row,) = [row for row in rows(found) if row.detached]
    assert (row.counts["failed"], row.counts["cancelled"]) == (2, 5)
    assert "cancelled" in counted(found)[0]
    columns, absent = counted(run())
    assert "cancelled" not in [*columns, *absent], "nobody needs the word where nothing was cancelled"


def test_frames_of_several_places_tell_of_a_run_that_goes_on(tmp_path):
    told = scans.info([scans.case(1, "submit", BEGIN, test="submit")], axes={}, ended=None)
    both = [*ledger(jobs(), 0), *ledger(jobs(), 1)]
    folder = scans.write(tmp_path, told, [scans.rows_of(1, BEGIN, 10_000_000)], frames=both)
    (case,) = results(folder).cases
    (line,) = case.detached
    assert (line.operation, line.most, sum(line.ended)) == ("", 2 * JOBS, 2 * JOBS)


def test_t18_a_time_without_news_stays_one_when_seconds_are_joined():
    """Two stretches of 3,000 s with 20,000 s in between: joined by time, not by place, and nothing lands in between."""
    ends = [*range(1, 3001), *range(23001, 26001)]
    found, seconds = _thinned([(second * SECOND, 1, 2) for second in ends])
    assert seconds == 8  # 26,000 s in at most 3,600 parts
    assert sum(ended for _, _, ended in found) == 2 * len(ends)
    assert not [time for time, _, _ in found if 3008 * SECOND < time <= 23000 * SECOND]
    assert {time // SECOND % seconds for time, _, _ in found} == {0}
