"""Stalls under closed loads: found in the record, told with numbers."""

import numpy as np
import pytest

from pileup.model import self_metrics
from pileup.model.record import Outcome
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.stats.cases import CaseData
from pileup.stats.frames.window import windows
from pileup.stats.loads.stalls import remarks
from pileup.stats.monitors import MetricSeries
from tests.manifests import case_of, run_of

SECOND = 10**9
T0 = 1_795_000_000 * SECOND
MS = 10**6


def served(clients, until, stalls=(), took=20 * MS, think=0):
    """Return (start, end, client) of the iterations of a closed load, ns since T0; nothing ends inside a stall."""
    spans = []
    for client in range(clients):
        at = client * took // clients
        while at < until:
            end = at + took
            end = next((last + client for first, last in stalls if first <= end < last), end)
            spans.append((at, end, client))
            at = end + think
    return spans


@pytest.fixture
def told(tmp_path, row, frame):
    def make(spans, clients=4, kind="closed", series=()):
        folder = RunFolder.create(tmp_path, "x", T0)
        info = {"id": 1, "name": "c", "load_kind": kind, "clients": clients, "for": 10 * SECOND}
        folder.save(run_of({"cases": [info]}))
        rows = np.zeros(len(spans), ROW)
        rows["id"] = np.arange(len(spans)) + 1
        rows["intended"] = rows["start"] = [T0 + start for start, *_ in spans]
        rows["end"] = [T0 + end for _, end, *_ in spans]
        rows["client"] = [client for _, _, client, *_ in spans]
        rows["outcome"] = [span[3] if len(span) > 3 else Outcome.PASSED for span in spans]
        rows["phase"], rows["case"], rows["operation"] = 3, 1, 1
        writer = TableWriter(folder.operations_path(0), "operations", ROW)
        writer.append(rows, [b"c"], ("operation",))
        writer.close()
        passed = [span[1] - span[0] for span in spans if len(span) == 3]
        whole = frame(10, row(passed, "c"), seconds=10, clients=clients)
        with folder.operations().connect() as connection:
            data = CaseData(case_of(info), [whole], windows(connection, [case_of(info)], {})[1])
            return remarks(connection, [data], series).get(1, "")

    return make


def test_a_stall_is_told_with_what_an_open_load_had_seen(told):
    spans = served(4, 10 * SECOND, [(3 * SECOND, 5 * SECOND)])
    assert told(spans) == (
        "nothing was answered for 2 s from 11:06:42 while 4 clients waited: a closed load sends nothing meanwhile, so "
        "its percentiles hide this (coordinated omission); an open load at the same rate (200 /s) would have seen "
        "about 401 requests wait up to 2 s: p99 20 ms, "
        "p99.9 2.02 s here would be at least about 1.92 s and 2.02 s there"
    )


def killed(clients, at, back, until=10 * SECOND):
    """A server that is killed and comes back: what was under way fails, and what is tried until then, with pauses."""
    spans = [span for span in served(clients, at) if span[1] <= at]
    for client in range(clients):
        spans.append((at - 10 * MS, at + MS, client, Outcome.AMBIGUOUS))
        spans += [(tried, tried + MS, client, Outcome.FAILED) for tried in range(at + SECOND // 2, back, SECOND)]
    later = [(start + back, end + back, client) for start, end, client in served(clients, until - back)]
    return spans + later


def test_a_server_that_refuses_connections_meanwhile_is_told_too(told):
    found = told(killed(4, 4 * SECOND, 13 * SECOND // 2))
    assert found.startswith("nothing passed for 2.5")
    assert "while 4 clients waited or failed: a closed load sends little meanwhile" in found


@pytest.mark.parametrize("make", [killed, lambda clients, at, back: served(clients, 10 * SECOND, [(at, back)])])
def test_what_lasts_beyond_the_end_of_the_load_counts_up_to_there(told, make):
    found = told([span for span in make(4, 7 * SECOND, 40 * SECOND) if span[0] < 10 * SECOND])
    assert "for 3 s from" in found or "for 2.99 s from" in found
    assert "4 clients waited" in found


def test_a_client_that_goes_on_passing_is_no_stall(told):
    spans = [span for span in killed(4, 4 * SECOND, 13 * SECOND // 2) if span[2] != 3]
    spans += [span for span in served(4, 10 * SECOND) if span[2] == 3]
    assert told(spans) == ""


def test_several_stalls_are_told_as_one(told):
    stalls = [(2 * SECOND, 3 * SECOND), (5 * SECOND, 7 * SECOND), (8 * SECOND, 17 * SECOND // 2)]
    found = told(served(1, 10 * SECOND, stalls), clients=1)
    assert "nothing was answered for 2.0" in found
    assert "while its client waited (and 2 more times, 3.5" in found


@pytest.mark.parametrize("kind", ["open", "once", "times"])
def test_only_closed_loads_hide_stalls(told, kind):
    assert told(served(4, 10 * SECOND, [(3 * SECOND, 5 * SECOND)]), kind=kind) == ""


def test_a_client_that_was_free_would_have_shown_it(told):
    spans = served(3, 10 * SECOND, [(3 * SECOND, 5 * SECOND)])
    assert told(spans, clients=4) == ""
    assert told(spans, clients=3) != ""


def test_usual_response_times_are_no_stalls(told):
    assert told(served(1, 10 * SECOND, took=900 * MS), clients=1) == ""
    assert told(served(2, 10 * SECOND, [(3 * SECOND, 3 * SECOND + 150 * MS)]), clients=2) == ""


def test_pauses_between_iterations_are_no_stalls(told):
    assert told(served(2, 10 * SECOND, think=SECOND), clients=2) == ""


def stopped(second, seconds):
    """What pileup samples when its process goes on after a stop."""
    return MetricSeries(
        self_metrics.MONITOR,
        self_metrics.STOPPED,
        self_metrics.label(0),
        "s",
        "here",
        [T0 + int(second * SECOND)],
        [seconds],
    )


def test_t06_a_stall_in_which_pileup_did_not_run_is_not_the_servers(told):
    spans = served(4, 10 * SECOND, [(3 * SECOND, 6 * SECOND)])
    assert told(spans, series=[stopped(6, 2.95)]) == (
        "nothing was answered for 3 s from 11:06:42: it was pileup, whose process did not run for 2.95 s of that, "
        "and not the server"
    )


def test_t06_what_of_a_stall_was_not_pileups_is_the_servers(told):
    spans = served(4, 10 * SECOND, [(3 * SECOND, 6 * SECOND)])
    found = told(spans, series=[stopped(4.5, 1.45)])
    assert found.startswith("nothing was answered for 1.5 s from 11:06:44 while 4 clients waited")
    assert "pileup" not in found
    both = served(4, 10 * SECOND, [(2 * SECOND, 4 * SECOND), (6 * SECOND, 8 * SECOND)])
    found = told(both, series=[stopped(4, 1.95)])
    assert "for 2.02 s from 11:06:45 while 4 clients waited: a closed load" in found
    assert "nothing was answered for 2 s from 11:06:41: it was pileup" in found


@pytest.mark.parametrize(("took", "said"), [(120 * MS, "while 4 clients waited"), (200 * MS, "")])
def test_a_short_stop_of_pileup_does_not_excuse_a_long_stall(told, took, said):
    """The stop divides a stall into pieces that are short by themselves; what it was too long for is said of nobody."""
    spans = served(4, 10 * SECOND, [(3 * SECOND, 5 * SECOND)], took=took)
    found = told(spans, series=[stopped(4, 0.06)])
    assert said in found
    assert "it was pileup" not in found
