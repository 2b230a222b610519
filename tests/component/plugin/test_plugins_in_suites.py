"""The page on plug-ins in suites says what is true: its suites are run, its commands work."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import ROOT, pileup, run_folder


@pytest.mark.long
def test_figures_by_label_are_judged_and_own_reports_and_charts_are_written(folder: Path) -> None:
    done = pileup("run", "workers.yaml", "--quiet", cwd=folder, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    run = folder / run_folder(done)
    assert (run / "chat.txt").read_text().splitlines()[1:] == ["query: passed", "where: passed"]
    assert "What workers say: passed" in (run / "chat.txt").read_text()
    page = (run / "report.html").read_text()
    assert "Response times of query, task by worker" in page
    assert "Response times of query, ask by kind" not in page, "five of a kind are too few to be drawn"
    assert not (run / "junit.xml").exists(), "the reports that the suite names, and no others"
    kept = sorted(path.read_text() for path in run.glob("output/where/artefacts/*/client-*.txt"))
    assert kept
    assert set(kept) == {" at local, no scan, repeat 1\n"}
    notes = {case.name: case.notes for case in RunFolder.open(run).manifest().cases}
    assert any("at the same time as where" in note for note in notes["query"])


@pytest.mark.long
def test_rows_of_together_are_crossed_with_places_and_environments(folder: Path) -> None:
    done = pileup("run", "growing.yaml", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    record = RunFolder.open(folder / run_folder(done))
    info = record.manifest()
    assert len(info.points) == 8
    assert {(point["clients"], point["where.word"]) for point in info.points} == {("2", "small"), ("4", "large")}
    query = {case.id: case for case in info.cases if case.test == "query"}
    assert {case.clients for case in query.values()} == {2, 4}
    pressed: dict[int, set[int]] = {number: set() for number in query}
    for frame in record.frames():
        if frame.case in query and any(row.iteration and row.passed for row in frame.rows):
            pressed[frame.case].add(frame.place)
    assert {(case.point["query.places"], len(pressed[number])) for number, case in query.items()} == {
        ("1", 1),
        ("2", 2),
    }
    names = {place.number: place.name for place in info.places}
    with record.operations().connect() as connection:
        rows = connection.execute(
            "select place, iteration, count(*) from (select place, parent as iteration from operations"
            " where operation = 'task') group by all"
        ).fetchall()
    by_place: dict[str, set[int]] = {}
    for place, _, tasks in rows:
        by_place.setdefault(names[place], set()).add(tasks)
    assert by_place == {"process 1": {2}, "process 2": {3}}, "an option for each place"


@pytest.mark.long
def test_one_iteration_is_tried_as_the_page_says(folder: Path) -> None:
    page = (ROOT / "docs" / "plugins-in-suites.md").read_text()
    commands = [shlex.split(each) for each in re.findall(r"^    pileup (try .*?)  ", page, re.MULTILINE)]
    assert [command[1:] for command in commands] == [
        ["workers.yaml", "query"],
        ["growing.yaml", "query", "--client", "3"],
        ["workers.yaml", "query", "--pdb"],
    ]
    for command in commands[:2]:
        done = pileup(*command, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "passed" in done.stdout


@pytest.mark.long
def test_a_suite_is_run_and_looked_at_from_python(folder: Path) -> None:
    words = {"env": os.environ | {"PILEUP_RUNS": str(folder / "runs")}, "cwd": folder, "timeout": 60}
    done = subprocess.run([sys.executable, "figures.py"], capture_output=True, text=True, check=False, **words)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    verdict, task, failed = done.stdout.splitlines()
    assert verdict in ("passed", "unknown")
    assert re.fullmatch(r"task: 30 passed, p50 [0-9.]+ ms", task)
    assert failed == "0 failed"
    (run,) = (folder / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["title"] == "What workers say"
