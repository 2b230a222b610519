"""A plug-in of each kind in somebody's package: one file, one entry-point line, and all of it works."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from pileup.plugin.registry import KINDS
from tests.seams.conftest import GROUPS, TOYS, Command
from tests.support import run_folder

SUITE = """pileup: 1
title: Toys
targets: {door: {kind: toy-door, launch: {}, options: {floor: 3}}}
tests:
  - {name: knock, use: toys.knock, target: door, load: {clients: 2, for: 1 s, think: 20 ms}}
  - name: native
    use: storage.stat
    target: door
    options: {folder: "", names: [anna, empty]}
    load: {clients: 1, times: 10}
monitors: [{use: toy-knocks, target: door, every: 100 ms}]
criteria:
  - {id: C1, says: "Every knock is answered", check: fraction(knock.failed) == 0}
  - {id: C2, says: "They are in its log", check: sum(toy-knocks.number) > 20}
reports: [{use: toy-line, greeting: good day}, {use: html}]
"""


@pytest.fixture(scope="module")
def run(installed: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all of them."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "toys.yaml").write_text(SUITE)
    done = installed("run", "toys.yaml", "--quiet", cwd=folder)
    assert done.stdout, done.stderr
    return run_folder(done)


def test_each_is_one_file_and_one_line() -> None:
    assert GROUPS.keys() == {f"pileup.{kind}" for kind in KINDS}
    values = [value for entries in GROUPS.values() for value in entries.values()]
    files = {path.stem for path in (TOYS / "pileup_toys").glob("*.py")} - {"__init__"}
    assert sorted(value.partition(":")[0] for value in values) == sorted(f"pileup_toys.{name}" for name in files)


def test_each_needs_the_public_surface_alone() -> None:
    for path in (TOYS / "pileup_toys").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                own = module.split(".")[0] in ("pileup", "pileup_toys")
                assert not own or f"{module}.".startswith("pileup.plugin."), f"{path.name} imports {module}"


def test_the_test_and_the_protocol_are_pressed(run: Path) -> None:
    info = json.loads((run / "run.json").read_text())
    assert info["targets"][0]["about"] == "door on floor 3, toys 1"
    assert [(case["name"], case["outcome"]) for case in info["cases"]] == [("knock", "passed"), ("native", "failed")]


def test_the_client_of_the_protocol_is_judged_as_the_engine_is(installed: Command, run: Path, tmp_path: Path) -> None:
    done = installed("export", str(run), "--to", "toy-tabs", "--out", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split("\t") for line in (tmp_path / "operations.tsv").read_text().splitlines()]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    native = sorted((each["key"], each["outcome"], each["error"]) for each in found if each["operation"] == "stat")
    assert set(native) == {("anna", "passed", ""), ("empty", "failed", "nobody is there")}
    assert len([each for each in found if each["operation"] == "knock"]) > 20


def test_the_monitor_reads_the_log(installed: Command, run: Path, tmp_path: Path) -> None:
    done = installed("report", str(run), "--to", "json", "--out", "-", cwd=tmp_path)
    verdicts = {each["id"]: each["verdict"] for each in json.loads(done.stdout)["criteria"]}
    assert verdicts == {"C1": "met", "C2": "met"}


def test_the_report_and_the_chart_are_written(run: Path) -> None:
    assert (run / "line.txt").read_text() == "good day, failed: 2 cases\n"
    page = (run / "report.html").read_text()
    assert page.index("<h2>Toys</h2>") < page.index('id="chart-toy_outcomes"')
    assert not (run / "junit.xml").exists()


@pytest.mark.long
def test_they_are_listed_and_described_with_their_package(installed: Command, tmp_path: Path) -> None:
    told = installed("list", cwd=tmp_path).stdout
    for name in (name for entries in GROUPS.values() for name in entries):
        (line,) = [line for line in told.splitlines() if line.split()[:1] == [name]]
        assert line.endswith("[pileup-toys]")
    assert "How many cases ended how." in installed("describe", "toy-outcomes", cwd=tmp_path).stdout
