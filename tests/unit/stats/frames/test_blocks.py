"""Dependence of neighbours out of a run folder: the same figures as from the values themselves."""

import math

import numpy as np
import pytest

from pileup._core._native import Histogram
from pileup.model.record import Frame, FrameRow
from pileup.record import TableWriter
from pileup.record.operations import ROW
from pileup.stats import results
from pileup.stats.cases import CaseData
from pileup.stats.frames import blocks
from pileup.stats.frames.totals import Tally
from pileup.stats.frames.window import Window
from pileup.stats.intervals import correlated
from pileup.stats.intervals.confidence import Z, wilson
from pileup.stats.intervals.shares import SINGLY
from tests.manifests import case_of
from tests.unit.stats import scans

MS = 10**6
N = 6000


def queue(seed=1, n=N, load=0.6):
    """Starts and response times (ns) of a queue with one server of 20 ms a request."""
    rng = np.random.default_rng(seed)
    gaps, services = rng.exponential(20 * MS / load, n), rng.exponential(20 * MS, n)
    walk = np.cumsum(np.concatenate([[0.0], services[:-1] - gaps[1:]]))
    waits = walk - np.minimum.accumulate(walk)
    return np.cumsum(gaps).astype(int), (waits + services).astype(int)


def rows_of(begins, times, case=1, outcomes=0, first=1):
    rows = np.zeros(len(times), ROW)
    rows["id"] = first + np.arange(len(times))
    rows["intended"] = rows["start"] = scans.START + begins
    rows["end"] = rows["start"] + times
    rows["bytes"], rows["calls"], rows["case"], rows["phase"], rows["operation"] = 1000, 1, case, 3, 1
    rows["outcome"] = outcomes
    return rows


def made(tmp_path, begins, times, outcomes=0, **fields):
    """A run with one case of these iterations, its frame with all of them."""
    rows = rows_of(begins, times, outcomes=outcomes)
    length = int(begins[-1]) + 1
    case = scans.case(1, "copy", scans.START, **{"for": length, "ended": scans.START + length, **fields})
    folder = scans.write(tmp_path, scans.info([case], axes={}), [])
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, [b"copy"], ("key", "error", "operation"))
    writer.close()
    histogram, passed = Histogram(), rows["outcome"] == 0
    for each in times[passed].tolist():
        histogram.record(each)
    counts = (int(passed.sum()), int((~passed).sum()), 0, 0, 0, 0, int(passed.sum()) * 1000, len(rows))
    row = FrameRow("copy", True, 3, *counts, histogram.encode(), histogram.encode())
    folder.append_frame(
        Frame(scans.START + length, length, 0, 1, 3, len(rows), 0, 1, 1, 0, b"", (row,)),
    )
    folder.close()
    return results(folder).cases[0].iterations


def width(figure):
    return figure.interval.high - figure.interval.low


def test_a_queue_has_wide_intervals(tmp_path):
    begins, times = queue()
    found = made(tmp_path, begins, times)
    naive = correlated.ranks(0.5, N)
    ordered = np.sort(times)
    assert width(found.response.quantiles[0.5]) > 2 * (ordered[naive[1]] - ordered[naive[0]])
    mean = found.response.mean_interval
    assert mean.high - mean.low > 3 * 2 * Z * times.std() / np.sqrt(N)
    assert mean.low < found.response.mean < mean.high
    assert found.response.quantiles[0.999].value is not None
    # with ten that are independent above it at best, luck would decide
    assert found.response.quantiles[0.99].interval is None
    assert found.response.quantiles[0.999].interval is None
    assert found.response.quantiles[0.9999].value is None


def test_independent_values_have_plain_ones(tmp_path):
    begins, _ = queue()
    times = np.random.default_rng(2).exponential(50 * MS, N).astype(int)
    found = made(tmp_path, begins, times)
    low, high = correlated.ranks(0.5, N)
    ordered = np.sort(times)
    assert width(found.response.quantiles[0.5]) == pytest.approx(ordered[high - 1] - ordered[low - 1], rel=0.25)
    mean = found.response.mean_interval
    assert mean.high - mean.low == pytest.approx(2 * Z * times.std() / np.sqrt(N), rel=0.2)
    assert width(found.rate) == pytest.approx(2 * Z * found.rate.value / np.sqrt(N), rel=0.2)
    assert width(found.throughput) == pytest.approx(1000 * width(found.rate), rel=1e-6)


def test_a_steady_rate_is_known_well(tmp_path):
    times = np.full(2000, 3 * MS)
    found = made(tmp_path, np.arange(2000) * 10 * MS, times)
    assert width(found.rate) < 0.005 * found.rate.value
    assert found.rate.value == pytest.approx(100, rel=0.01)


def test_few_values_and_loads_of_stages_are_left_as_they_are(tmp_path):
    begins, times = queue()
    few = made(tmp_path / "few", begins[:20], times[:20])
    low, high = correlated.ranks(0.5, 20)
    ordered = np.sort(times[:20])
    assert width(few.response.quantiles[0.5]) == pytest.approx(ordered[high - 1] - ordered[low - 1], rel=0.01)
    half = int(begins[-1]) // 2
    staged = made(tmp_path / "staged", begins, times, spans=[[0, half - 100], [half, int(begins[-1])]])
    ranks = correlated.ranks(0.5, N)
    ordered = np.sort(times)
    assert width(staged.response.quantiles[0.5]) == pytest.approx(
        ordered[ranks[1] - 1] - ordered[ranks[0] - 1], rel=0.05
    )


def test_failures_in_a_burst_make_their_share_less_certain(tmp_path):
    begins, times = queue()
    burst = np.zeros(N, int)
    burst[3000:3060] = 1
    spread = np.zeros(N, int)
    spread[::100] = 1
    found = [made(tmp_path / name, begins, times, each).not_passed for name, each in (("b", burst), ("s", spread))]
    assert [each.value for each in found] == [0.01, 0.01]
    assert width(found[0]) > 2 * width(found[1])
    exact = wilson(60, N)
    assert width(found[1]) == pytest.approx(exact.high - exact.low, rel=0.2)


def test_what_did_not_pass_is_above_any_quantile(tmp_path):
    """Quantiles are over all that ended: their dependence is that of "has it passed by then"."""
    begins, times = queue()
    outcomes = np.zeros(N, int)
    outcomes[3000:4200] = 1  # 20 % in one burst: the median is among what passed, the ninetieth is not
    length = int(begins[-1]) + 1
    tally = Tally("copy", True)
    tally.counts |= {"passed": N - 1200, "failed": 1200}
    histogram = Histogram()
    for each in times[outcomes == 0].tolist():
        histogram.record(each)
    tally.responses.add(histogram.encode())
    limits = blocks._limits(tally)
    passed = np.sort(times[outcomes == 0])
    assert limits[0] == pytest.approx(passed[N // 2 - 1], rel=2e-3)
    assert limits[1:] == (math.inf,) * 4
    rows, window = rows_of(begins, times, outcomes=outcomes), Window(scans.START, scans.START + length)
    folder = scans.write(tmp_path, scans.info([], axes={}), [])
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, [b"copy"], ("key", "error", "operation"))
    writer.close()
    folder.close()
    data = CaseData(case_of(scans.case(1, "copy", scans.START, ended=window.end)), [], window)
    data.measured.tallies["copy", True] = tally
    with folder.operations().connect() as connection:
        blocks.add_dependence(connection, [data])
    known = data.dependence["copy", True]
    assert known.factor(0.9).factor > 500 > known.factor(0.5).factor
    assert known.bursts("failed") == known.not_passed
    assert known.not_passed.shown
    # nothing was refused: that is not taken to come as failures did
    assert known.bursts("refused") == SINGLY
