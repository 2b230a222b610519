"""Operations that a test times itself take labels: figures, criteria and the record tell them apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from pileup.plugin import Op, Test
from pileup.plugin.testing import run_once
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.suite import load

OWN = """
import asyncio
import time

from pileup.plugin import Op, Test


class Own(Test):
    def run(self, op: Op) -> None:
        with op("read", "a key", labels={"drive": f"d {op.number % 2}", "kind": "disk"}) as reading:
            time.sleep(0.02 if op.number % 2 else 0.001)
            reading.bytes = 7
        with op("plain"):
            pass


class Later(Test):
    async def run(self, op: Op) -> None:
        async with op("read", "a key", labels={"drive": f"d {op.number % 2}", "kind": "disk"}) as reading:
            await asyncio.sleep(0.02 if op.number % 2 else 0.001)
            reading.bytes = 7
        async with op("plain"):
            pass


class Hangs(Test):
    def run(self, op: Op) -> None:
        with op("read", labels={"drive": "d3"}):
            time.sleep(10)
"""
SUITE = """
pileup: 1
title: t
places: PLACES
tests:
  - {name: own, use: "./own.py:USE", load: {times: 20, clients: 2}}
criteria:
  - {id: C1, says: slow, check: "min(own.read[drive=d 1]) >= 20 ms"}
  - {id: C2, says: quick, check: "min(own.read[drive=d 0, kind=disk]) < 20 ms"}
  - {id: C3, says: half, check: "count(own.read.passed[drive=d 1]) == 10"}
  - {id: C4, says: all, check: "count(own.read.passed) == 20"}
reports: []
"""


def suite(folder: Path, use: str, places: str = "local") -> Path:
    (folder / "own.py").write_text(OWN)
    path = folder / "s.yaml"
    path.write_text(SUITE.replace("USE", use).replace("PLACES", places))
    return path


@pytest.mark.long
@pytest.mark.parametrize(("use", "places"), [("Own", "local"), ("Later", "local"), ("Own", "processes:2")])
def test_figures_criteria_and_rows_are_told_apart(tmp_path: Path, use: str, places: str) -> None:
    runner = Runner(load(suite(tmp_path, use, places)), tmp_path)
    results = runner.run()
    assert {each.id: (str(each.verdict), each.reason) for each in results.criteria} == dict.fromkeys(
        ("C1", "C2", "C3", "C4"), ("met", "")
    )
    read = next(each for each in results.cases[0].operations if each.operation == "read")
    assert (read.bytes, read.counts.passed) == (140, 20)
    by = next(each for each in read.breakdowns if each.label == "drive")
    assert [(each.value, each.counts.passed) for each in by.values] == [("d 0", 10), ("d 1", 10)]
    rows = RunFolder.open(runner.folder.path).operations().connect()
    found = rows.sql("select distinct operation, key, labels from caused where operation != 'iteration'").fetchall()
    assert sorted(found) == [
        ("plain", "", ""),
        ("read", "a key", "drive=d 0,kind=disk"),
        ("read", "a key", "drive=d 1,kind=disk"),
    ]


def test_one_that_hangs_is_named_without_its_labels(tmp_path: Path) -> None:
    path = suite(tmp_path, "Hangs").read_text().partition("criteria")[0].replace("load:", "timeout: 200 ms, load:")
    (tmp_path / "s.yaml").write_text(path.replace("times: 20, clients: 2", "times: 1"))
    runner = Runner(load(tmp_path / "s.yaml"), tmp_path)
    runner.run()
    rows = RunFolder.open(runner.folder.path).operations().connect()
    ((error,),) = rows.sql("select error from operations where operation = 'iteration'").fetchall()
    assert error.startswith("still going at the end, in 'read' (own.py:")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"a b": 1}, "ValueError: label 'a b' is not a name; expected letters, digits, _ and -, a letter first"),
        ("drive", "TypeError: labels are 'drive'; expected a mapping of names to values"),
    ],
)
def test_labels_that_no_check_could_select_fail_the_iteration(tmp_path: Path, labels: object, said: str) -> None:
    given = 'labels={"drive": f"d {op.number % 2}", "kind": "disk"}'
    (tmp_path / "own.py").write_text(OWN.replace(given, f"labels={labels!r}"))
    (tmp_path / "s.yaml").write_text(SUITE.replace("USE", "Own").replace("PLACES", "local").partition("criteria")[0])
    (case,) = Runner(load(tmp_path / "s.yaml"), tmp_path).run().cases
    assert said.replace("'", '"') in case.reason.replace("'", '"')

    class Mine(Test):
        def run(self, op: Op) -> None:
            op("read", labels=labels)  # type: ignore[arg-type]

    told = run_once(Mine).error
    assert told.replace("'", '"').startswith(said.replace("'", '"'))


def test_unit_tests_see_them() -> None:
    class Mine(Test):
        def run(self, op: Op) -> None:
            with op("read", labels={"drive": 3}):
                pass

    (operation,) = run_once(Mine).operations
    assert operation.labels == {"drive": "3"}
