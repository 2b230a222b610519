"""Values that tests report with labels, and checks that fail no iteration: in record, criteria and unit tests."""

from pathlib import Path

import duckdb
import pytest

from pileup.cli import main
from pileup.plugin import Op, Test
from pileup.plugin.testing import run_once
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.suite import load

OWN = """
from pileup.plugin import Op, Test


class Own(Test):
    def run(self, op: Op) -> None:
        self.report("wait", op.number, "ms", drive=f"d{op.number % 2}", kind="disk")
        self.report("plain", 1)
        op.check("has header", op.number % 4)
        with op("read"):
            pass


class Later(Own):
    async def run(self, op: Op) -> None:
        Own.run(self, op)
"""
SUITE = """
pileup: 1
title: t
places: PLACES
tests:
  - {name: own, use: "./own.py:USE", load: {times: 20, clients: 2}}
criteria:
  - {id: C1, says: one, check: "max(own.wait[drive=d1]) == 19 ms"}
  - {id: C2, says: two, check: "max(own.wait[drive=d0, kind=disk]) == 18 ms"}
  - {id: C3, says: three, check: "fraction(own.check.has_header.failed) == 25 %"}
  - {id: C4, says: four, check: "count(own.check.has_header.passed) == 15"}
  - {id: C5, says: five, check: "max(own.wait) < 1 s"}
  - {id: C6, says: six, check: "count(own.passed) == 20"}
reports: []
"""


@pytest.mark.long
@pytest.mark.parametrize(("use", "places"), [("Own", "local"), ("Later", "local"), ("Own", "processes:2")])
def test_they_are_judged_by_their_labels_and_kept_with_their_iteration(tmp_path: Path, use: str, places: str) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "s.yaml").write_text(SUITE.replace("USE", use).replace("PLACES", places))
    runner = Runner(load(tmp_path / "s.yaml"), tmp_path)
    results = runner.run()
    verdicts = {each.id: str(each.verdict) for each in results.criteria}
    assert verdicts == {"C1": "met", "C2": "met", "C3": "met", "C4": "met", "C5": "unknown", "C6": "met"}
    assert "own.wait has 2 series; choose one" in next(each.reason for each in results.criteria if each.id == "C5")
    assert results.cases[0].outcome == "passed"
    rows = [row for row in RunFolder.open(runner.folder.path).samples() if row.monitor == "own"]
    waits = sorted((row.iteration, row.sample.value, row.sample.labels) for row in rows if row.sample.metric == "wait")
    assert waits == [(number, float(number), f"drive=d{number % 2},kind=disk") for number in range(20)]
    out = tmp_path / "out"
    assert main(["export", str(runner.folder.path), "--to", "parquet", "--out", str(out)]) == 0
    query = f"SELECT count(*) FROM '{out}/samples.parquet' WHERE metric = 'wait' AND value = iteration"
    assert duckdb.connect().execute(query).fetchone() == (20,)


@pytest.mark.parametrize("labels", [{"a": "b,c"}, {"a": ""}, {"a": "x=y"}, {"a": "x]"}, {"a b": 1}, {"a": "\n"}])
def test_labels_that_no_check_could_select_are_refused(labels: dict[str, str | int]) -> None:
    class Reporting(Test):
        def run(self, op: Op) -> None:
            self.report("wait", 1, "s", **labels)

    result = run_once(Reporting)
    assert not result.passed
    assert isinstance(result.problem, ValueError)


@pytest.mark.parametrize("name", ["", "a.b", "-a", "a" * 81, "naïve", "a=b"])
def test_checks_that_no_suite_could_name_are_refused(name: str, tmp_path: Path) -> None:
    class Checking(Test):
        def run(self, op: Op) -> None:
            op.check(name, True)

    assert isinstance(run_once(Checking).problem, ValueError)
    (tmp_path / "own.py").write_text(OWN.replace('"has header"', repr(name)))
    (tmp_path / "s.yaml").write_text(SUITE.replace("USE", "Own").replace("PLACES", "local").partition("criteria")[0])
    (case,) = Runner(load(tmp_path / "s.yaml"), tmp_path).run().cases
    assert "a check is called" in case.reason


def test_a_check_in_a_unit_test_is_an_operation_and_fails_nothing() -> None:
    class Checking(Test):
        def run(self, op: Op) -> None:
            assert op.check("has header", [1]) is True
            assert op.check("has end", []) is False

    result = run_once(Checking)
    assert result.passed, result.error
    assert [(each.name, each.outcome.name, each.error) for each in result.operations] == [
        ("check.has_header", "PASSED", ""),
        ("check.has_end", "FAILED", "has end"),
    ]
