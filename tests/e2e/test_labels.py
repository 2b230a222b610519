"""Operations that workers and a server timed: figures by label, criteria, stragglers; verified, merged, exported."""

import csv
import json
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.record import RunFolder
from tests.support import pileup, run_folder

WORKERS = '''
import time

from pileup.plugin import Op, Test


class Workers(Test):
    """Have workers read drives."""

    def run(self, op: Op) -> None:
        now = time.time_ns()
        for number in range(4):
            took = (4 + 8 * (number == 2)) * 1_000_000
            labels = {"drive": f"d{number}"}
            op.record("task", f"{op.number}.{number}", start=now - took, end=now, bytes=10, labels=labels)
'''
SERVER = '''
import time

from pileup.plugin import Monitor, Outcome, Sample


class Server(Monitor):
    """Say what a server did; the last of it long after the load."""

    records = True
    looks = 0

    def sample(self):
        self.looks += 1
        now = time.time_ns()
        if self.looks <= 20:
            self.record("GET", start=now - 5_000_000, end=now, labels={"kind": self.looks % 2})
        yield Sample("looks", self.looks)
'''
SUITE = """
pileup: 1
title: Timed by others
tests: [{name: copy, use: "./workers.py:Workers", load: {rate: 50 /s, for: 2 s}}]
monitors: [{use: "./server.py:Server", name: server, every: 200 ms}]
criteria:
  - {id: C1, says: quick, check: "p50(copy.task[drive=d1]) < 6 ms"}
  - {id: C2, says: slow, check: "p50(copy.task[drive=d2]) < 6 ms"}
  - {id: C3, says: here, check: "max(copy[place=local]) < 1 s"}
  - {id: C4, says: answers, check: "max(server.GET.response) < 10 ms"}
  - {id: C5, says: counts, check: "count(server.GET[kind=1]) >= 3"}
  - {id: C6, says: looks, check: last(server.looks) > 5}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder."""
    folder = tmp_path_factory.mktemp("labels")
    for name, text in (("workers.py", WORKERS), ("server.py", SERVER), ("suite.yaml", SUITE)):
        (folder / name).write_text(text)
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder, drawn=True)
    assert done.returncode == 4, done.stdout + done.stderr
    return folder / run_folder(done)


@pytest.mark.long
def test_criteria_ask_for_labels_and_for_what_monitors_recorded(run: Path) -> None:
    results = json.loads((run / "results.json").read_text())
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == dict.fromkeys(("C1", "C3", "C4", "C5", "C6"), "met") | {"C2": "not met"}


def test_the_slow_drive_is_named_and_tables_are_by_label(run: Path) -> None:
    shown = pileup("show", str(run), cwd=run).stdout
    assert "copy: task: drive=d2 is 200 % slower" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("d2 ")]
    assert line.split()[-2:] == ["+200", "%"]
    assert "task by drive" in (run / "report.html").read_text()


def test_nothing_is_lost_between_the_last_look_and_the_end(run: Path) -> None:
    rows = RunFolder.open(run).operations().arrays("case", "monitor", where="side = 'server'")
    assert len(rows["case"]) == 20
    assert set(rows["monitor"]) == {"server"}


@pytest.mark.long
def test_the_record_is_whole_and_can_be_merged_and_exported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def last(*words: str) -> str:
        main([*words])
        return capsys.readouterr().out.strip().splitlines()[-1]

    suite = run.parents[1] / "suite.yaml"
    again = last("run", str(suite), "--quiet", "--out", str(tmp_path / "runs"))
    whole = last("merge", str(run), again, "--out", str(tmp_path / "merged"))
    assert last("verify", whole) == "the record is whole"
    served = RunFolder.open(whole).operations().arrays("case", where="side = 'server' AND case_id <> 0")
    assert set(served["case"]) == {"copy#1", "copy#2"}
    last("export", whole, "--to", "csv", "--out", str(tmp_path / "out"))
    with (tmp_path / "out" / "labels.csv").open() as file:
        values = {(row["case"], row["operation"], row["value"]): row for row in csv.DictReader(file)}
    assert int(values["copy#2", "task", "d3"]["passed"]) == 100
    with (tmp_path / "out" / "operations.csv").open() as file:
        found = {row["labels"] for row in csv.DictReader(file) if row["operation"] == "task"}
    assert found == {f"drive=d{number}" for number in range(4)}
