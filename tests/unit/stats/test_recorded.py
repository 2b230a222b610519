"""Criteria and figures on what monitors recorded, and on labels of operations."""

from dataclasses import replace

import numpy as np
import pytest

from pileup.model.record import Sample, SampleRow
from pileup.model.results import CriterionResult
from pileup.plugin.recording import Recording
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.record.served import Source
from pileup.stats import results
from tests.manifests import run_of

S, MS = 10**9, 10**6
BEGIN = 1_795_000_000 * S


def info(*checks: str) -> dict[str, object]:
    cases = [
        {
            "id": number,
            "name": f"copy[se.threads={threads}]",
            "test": "copy",
            "target": "se",
            "outcome": "passed",
            "load_kind": "rate",
            "started": BEGIN + (20 * number) * S,
            "ended": BEGIN + (20 * number + 12) * S,
            "point": {"se.threads": threads},
            "visit": number - 1,
        }
        for number, threads in ((1, "4"), (2, "8"))
    ]
    return {
        "format": 1,
        "state": "ended",
        "targets": [{"name": "se"}],
        "places": [{"number": 0, "name": "n1", "host": "h1"}, {"number": 1, "name": "n2", "host": "h2"}],
        "scan": {"se.threads": ["4", "8"]},
        "points": [{"se.threads": "4"}, {"se.threads": "8"}],
        "cases": cases,
        "monitors": [{"name": "server", "use": "access-log", "every": S, "records": True}],
        "criteria": [{"id": check, "says": "so", "check": check, "coverage": "full"} for check in checks],
    }


def made(tmp_path, frame, row, *checks: str) -> RunFolder:
    """A run of two points; the server says that each GET took 5 ms at the first and 20 ms at the second."""
    folder = RunFolder.create(tmp_path, "x", BEGIN)
    folder.save(run_of(info(*checks)))
    batches = []
    record = Recording(batches.append, print)
    for number in (1, 2):
        load = BEGIN + (20 * number + 1) * S
        for k in range(1000):
            at, took = load + k * 10 * MS, (5 if number == 1 else 20) * MS
            record.add(
                "GET", f"/{number}/{k}", "", {"disk": f"d{k % 2}"}, (at, at + took, 0, 100, 1, int(k % 100 == 0), 0, -1)
            )
            if k < 50:  # in the warm-up, which counts nowhere
                record.add("GET", "", "", None, (load - 500 * MS, load + 9 * S, 0, 0, 0, 0, 0, -1))
        for place in (0, 1):
            for second in range(10):
                rows = row([2 * MS * (1 + place)] * 5, "copy"), replace(row([MS], "read", False), labels="disk=d1")
                told = frame(0, *rows, place=place, case=number, measured_from=load, measured_to=load + 10 * S)
                folder.append_frame(replace(told, time=load + (second + 1) * S))
    record.flush()
    folder.append_recorded(batches[0], Source("server", 0), 0)
    _clients(folder)
    folder.append_samples([SampleRow(BEGIN, "server", "h", Sample("lines", 3.0))])
    folder.close()
    return folder


def _clients(folder: RunFolder) -> None:
    rows = np.zeros(4, ROW)
    rows["id"], rows["case"], rows["phase"] = np.arange(4) + 1, (1, 1, 2, 2), 3
    rows["start"] = rows["intended"] = BEGIN + np.array([21, 30, 41, 50]) * S
    rows["end"], rows["operation"] = rows["start"] + MS, 1
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, [b"copy"], ("operation",))
    writer.close()


@pytest.fixture
def judged(tmp_path, frame, row):
    def judge(check: str) -> CriterionResult:
        (criterion,) = results(made(tmp_path, frame, row, check)).criteria
        return criterion

    return judge


@pytest.mark.parametrize(
    ("check", "verdict", "value"),
    [
        ("p50(server.GET) < 10 ms", "not met", 20 * MS),
        ("p50(server.GET[target=se]) < 30 ms", "met", 20 * MS),
        ("p50(server.GET[target=other]) < 30 ms", "unknown", None),
        ("mean(server.GET[disk=d1]) < 30 ms", "met", 20 * MS),
        ("fraction(server.GET.failed) < 5 %", "met", 0.01),
        ("fraction(server.GET.failed[disk=d0]) < 5 %", "met", 0.02),
        ("rate(server.GET) > 90 /s", "met", 99.0),
        ("sum(server.GET.bytes) == 100000 B", "met", 100_000),
        ("first(server.GET.response) < 30 ms", "met", 20 * MS),
        ("last(server.lines) == 3", "unknown", None),
        ("p50(server.PUT) < 1 s", "unknown", None),
        ("max(copy[place=n1]) < 3 ms", "met", 2 * MS),
        ("max(copy.response[place=n2]) < 3 ms", "not met", 4 * MS),
        ("max(copy[place=h2]) < 3 ms", "not met", 4 * MS),
        ("mean(copy.read[disk=d1]) < 2 ms", "met", MS),
        ("mean(copy.read[disk=d2]) < 2 ms", "unknown", None),
        ("p50(copy[target=se]) < 10 ms", "met", None),
    ],
)
def test_what_a_monitor_recorded_and_what_has_a_label_is_judged(judged, check, verdict, value):
    criterion = judged(check)
    assert criterion.verdict == verdict, criterion.reason
    if value is not None:
        assert criterion.figure.value == pytest.approx(value, rel=2e-3)
        assert verdict != "met" or "sum" in check or criterion.figure.n > 0


def test_figures_of_the_server_stand_beside_those_of_the_case(tmp_path, frame, row):
    folder = made(tmp_path, frame, row)
    before = results(folder)
    folder.convert()
    first, second = results(folder).cases
    assert [each.operation for each in first.operations] == ["copy", "read", "server.GET"]
    got = first.operations[-1]
    assert (got.monitor, got.counts.passed, got.counts.failed, got.bytes, got.calls) == (
        "server",
        990,
        10,
        100_000,
        1000,
    )
    assert got.quantiles[0.5].value == pytest.approx(5 * MS, rel=2e-3)
    assert got.quantiles[0.5].interval is not None
    assert second.operations[-1].response.mean == pytest.approx(20 * MS, rel=2e-3)
    (by_disk,) = got.breakdowns
    assert {value.value: value.counts.failed for value in by_disk.values} == {"d0": 10, "d1": 0}
    (by_place,) = first.operations[0].breakdowns
    assert [value.value for value in by_place.values] == ["n1", "n2"]
    assert "copy: place=n2 is 100 % slower (100-100 %) than the others" in first.notes
    assert [each.operations for each in before.cases] == [first.operations, second.operations], "before it is converted"
