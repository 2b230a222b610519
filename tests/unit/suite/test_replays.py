"""What loads replay in a plan: bounds, limits, scans, and suites whose record is not there; both formats."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pileup.model.plan import Plan
from pileup.model.record import Phase
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.suite import load
from pileup.suite.formats.convert import convert
from tests.manifests import run_of
from tests.unit.suite.conftest import HEAD

S = 10**9


@pytest.fixture(autouse=True)
def record(tmp_path: Path) -> Path:
    """A record of 11 starts, one each second, in `before`."""
    folder = RunFolder.create(tmp_path, "x", 0)
    folder.save(run_of({"format": 1, "cases": [{"id": 1, "name": "copy", "test": "copy"}], "targets": []}))
    writer = TableWriter(folder.operations_path(0), "operations", ROW, 0)
    made = np.zeros(11, ROW)
    made["id"], made["case"], made["phase"], made["operation"] = np.arange(1, 12), 1, Phase.MEASURE, 1
    made["intended"] = 1_795_000_000 * S + np.arange(11) * S
    made["start"] = made["end"] = made["intended"]
    writer.append(made, [b"iteration"], ("operation",))
    writer.close()
    folder.close()
    return folder.path.rename(tmp_path / "before")


@pytest.mark.parametrize(
    ("words", "operations", "last", "longest"),
    [
        ("before", 11, 10, 70),
        ("{run: before, test: copy, speed: 4}", 11, 2.5, 62.5),
        ("before, for: 3 s", 3, 2, 62),
        ("{run: before, speed: 2}, warm_up: 1 s, for: 3 s", 8, 3.5, 63.5),
        ("before, times: 2", 2, 1, 61),
        ("before, times: 2, delay: 7 s", 2, 1, 68),
        ("before, for: 1 h", 11, 10, 70),
    ],
)
def test_a_plan_knows_how_many_and_how_long(
    plan: Callable[..., Plan], words: str, operations: int, last: float, longest: float
) -> None:
    made = plan(HEAD + f"tests: [{{name: a, use: noop, load: {{replay: {words}}}}}]\n")
    (case,) = made.cases
    assert case.replay is not None
    assert (case.operations, case.replay.last / S, case.longest / S) == (operations, last, longest)
    assert (case.replay.recorded, case.replay.count) == (11, operations)


def test_each_point_of_a_scan_has_its_own(plan: Callable[..., Plan]) -> None:
    made = plan(
        HEAD + "scan: {a.load.times: [2, 5], a.load.warm_up: [0 s, 1 s]}\n"
        "tests: [{name: a, use: noop, load: {replay: before}}]\n"
    )
    found = [(case.operations, case.replay.measured) for case in made.cases if case.replay]
    assert found == [(2, 2), (2, 1), (5, 5), (5, 4)]
    whole = plan(HEAD + "scan: {a.load.replay: [before, ./before]}\ntests: [{name: a, use: noop, load: {times: 3}}]\n")
    assert [(case.load.kind, case.operations) for case in whole.cases] == [("open", 3), ("open", 3)]


def test_a_point_with_nothing_to_measure_is_a_fault(faults: Callable[..., list[str]]) -> None:
    told = faults(
        HEAD + "scan: {a.load.times: [2, 1], a.load.warm_up: [0 s, 1 s]}\n"
        "tests: [{name: a, use: noop, load: {replay: before}}]\n"
    )
    assert len(told) == 1
    assert "a[a.load.times=1,a.load.warm_up=1 s]: the warm-up contains all that is replayed of copy in" in told[0]


def test_limits_count_what_is_replayed(faults: Callable[..., list[str]]) -> None:
    told = faults(
        HEAD + "limits: {operations: 10, duration: 9 s}\ntests: [{name: a, use: noop, load: {replay: before}}]\n"
    )
    assert sorted(each.partition(" the plan")[2] for each in told) == [
        " needs 10 s, its limit `duration` is 9 s; expected a larger limit or a smaller plan",
        " needs 11, its limit `operations` is 10; expected a larger limit or a smaller plan",
    ]


def test_a_record_that_is_not_there_is_a_fault_where_it_is_named(
    faults: Callable[..., list[str]], tmp_path: Path
) -> None:
    text = HEAD + "tests: [{name: a, use: noop, load: {replay: after}}]\n"
    (told,) = faults(text)
    assert told.startswith("3:45: `replay`: there is no folder")
    assert "after; expected a run folder" in told
    without = load(tmp_path / "suite.yaml", {}, records=False)
    assert without.cases[0].replay is None, "a plan that only cleans up needs no record"
    other = text.replace("after", "{run: before, test: stat}")
    assert faults(other)[0].endswith("no test and no case 'stat' with a load; expected one of copy")


def test_both_formats_say_it(plan: Callable[..., Plan], tmp_path: Path) -> None:
    short = "  - {name: a, use: noop, load: {replay: before, clients: 3}}\n"
    text = (
        HEAD + f"tests:\n{short}  - {{name: b, use: noop, load: {{replay: {{run: before, test: copy, speed: 2}}}}}}\n"
    )
    xml = convert(text.encode(), ".yaml", "suite.yaml", "xml").text
    assert '<load clients="3" replay="before"/>' in xml or '<load replay="before" clients="3"/>' in xml
    assert '<replay run="before" test="copy" speed="2"/>' in xml
    (tmp_path / "other.xml").write_text(xml)
    made = plan(text)
    assert load(tmp_path / "other.xml").suite == made.suite
    back = convert(xml.encode(), ".xml", "other.xml", "yaml").text
    assert plan(back).suite == made.suite
