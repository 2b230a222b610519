"""The page for authors of plug-ins says what is true: each of its files is written out and used."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.request import urlopen

import pytest
import yaml

from pileup.builtin.posix.target import PosixTarget
from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.charts.assemble import charts
from pileup.cli.export.duckdb_table import DuckTable
from pileup.model.exits import ExitCode
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults
from pileup.model.verdict import RunVerdict
from pileup.plugin import Context, Outcome
from pileup.plugin.registry import load
from pileup.plugin.testing import TestLedger, run_once
from pileup.record.operations import connect
from pileup.run import Runner
from pileup.suite import load as load_suite
from tests.pages import PAGES
from tests.servers.launched import launched
from tests.support import pileup
from tests.unit.builtin.reports import synthetic

TEXT = "\n".join(page.read_text() for page in PAGES)


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_every_python_block_is_a_file_that_is_used(folder: Path) -> None:
    assert {path.name for path in folder.glob("*.py")} == {
        "mytests.py",
        "native.py",
        "test_mytests.py",
        "mytargets.py",
        "mymonitors.py",
        "mylog.py",
        "access_log.py",
        "mycharts.py",
        "myexporters.py",
        "myreports.py",
        "recalls.py",
        "myserver.py",
        "store.py",
        "test_store.py",
        "test_myreports.py",
        "send.py",
        "convert.py",
        "shop.py",
        "move.py",
        "catalogue_test.py",
        "drain.py",
        "switches.py",
        "workers.py",
        "where.py",
        "later.py",
        "figures.py",
    }
    assert TEXT.count("```python") == 26


class Tape:
    """What the page's tests of recalls ask."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask_for(self, name: str) -> None:
        self.asked.append(name)

    def which_are_here(self, names: list[str]) -> dict[str, int]:
        return {name: 7 for name in names if name in self.asked[:1]}


def test_recalls_are_begun_by_one_and_ended_by_another(folder: Path) -> None:
    tape: Any = Tape()
    ledger = TestLedger()
    recall, watch = (load("tests", f"./recalls.py:{name}", folder) for name in ("Recall", "Watch"))
    for number in (0, 1):
        assert run_once(recall, tape, number=number, ledger=ledger).passed
    assert run_once(watch, tape, ledger=ledger).passed
    assert [(ended.name, ended.key) for ended in ledger.ended] == [("recall", "/archive/0")]
    assert ledger.keys("recall") == ["/archive/1"]


def test_p9_what_is_open_is_drained(folder: Path) -> None:
    tape: Any = Tape()
    ledger = TestLedger()
    for number in (0, 1):
        assert run_once(load("tests", "./recalls.py:Recall", folder), tape, number=number, ledger=ledger).passed
    tape.which_are_here = lambda names: dict.fromkeys(names[:1], 7)
    found = run_once(load("tests", "./drain.py:Drain", folder), tape, ledger=ledger)
    assert found.passed, found.error
    assert (len(found.operations), ledger.open("recall")) == (2, 0)


TAPE = """
import time

from pileup.plugin import Target


class Tape(Target):
    kind = "tape"
    needs_url = False
    provides = frozenset({"any", "tape"})

    def ask_for(self, name: str) -> None:
        self.__dict__.setdefault("asked", {})[name] = time.time_ns()

    def which_are_here(self, names: list[str]) -> dict[str, int]:
        come = {name: self.asked[name] + 600_000_000 for name in names}
        return {name: moment for name, moment in come.items() if moment <= time.time_ns()}
"""
TAPES = """
pileup: 1
title: Recalls
targets: {tape: {kind: "./tape.py:Tape"}}
tests:
  - {name: recall, use: "./recalls.py:Recall", target: tape, load: {rate: 20, for: 1 s}}
  - {name: watch, use: "./recalls.py:Watch", target: tape, with: [recall], load: {every: 100 ms}}
"""
DRAIN = '  - {name: drain, use: "./drain.py:Drain", target: tape, after: [recall], timeout: 10 s}\n'


@pytest.mark.long
@pytest.mark.parametrize(("drain", "unfinished"), [(DRAIN, False), ("", True)])
def test_p9_a_role_ends_with_its_load_and_a_test_after_it_drains_the_rest(
    folder: Path, drain: str, unfinished: bool
) -> None:
    (folder / "tape.py").write_text(TAPE)
    (folder / "tapes.yaml").write_text(TAPES + drain)
    runner = Runner(load_suite(folder / "tapes.yaml"), folder)
    case = next(each for each in runner.run().cases if each.name == "recall")
    (recalls,) = (each for each in case.operations if each.operation == "recall")
    assert recalls.counts.passed + recalls.counts.unfinished == 20
    assert (recalls.counts.unfinished > 0) == unfinished


class DataSets:
    """What the page's test of a catalogue asks."""

    def __init__(self) -> None:
        self.sets: dict[str, int] = {}

    def make_set(self, files: int) -> str:
        self.sets["made"] = files
        return "made"

    def ask(self, name: str) -> int:
        return self.sets[name]

    def remove_set(self, name: str) -> None:
        del self.sets[name]


def test_a_data_set_is_made_once_and_removed(folder: Path) -> None:
    catalogue: Any = DataSets()
    found = run_once(load("tests", "./catalogue_test.py:Query", folder), catalogue, files=7)
    assert found.passed, found.error
    assert catalogue.sets == {}


def test_the_test_of_the_test_passes(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    module("test_mytests").test_entries_are_counted(tmp_path_factory.mktemp("data"))


def test_the_test_refuses_what_it_says(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("data")
    (data / "LOCKED").touch()
    cls = load("tests", "./mytests.py:ListFolder", folder)
    assert run_once(cls, PosixTarget(str(data))).error == "the folder '' is locked"


def test_the_suite_names_classes_that_load(folder: Path) -> None:
    suite = yaml.safe_load((folder / "suite.yaml").read_text())
    for test in suite["tests"]:
        cls = load("tests", test["use"], folder)
        assert cls(None, **test.get("options", {})).needs == "files"


def test_s1_8_the_test_with_a_program_runs_it(folder: Path) -> None:
    cls = load("tests", "./convert.py:Convert", folder)
    (folder / "names").write_text("b\na\n")
    done = run_once(cls, context=Context(timeout=20 * 10**9), file=str(folder / "names"))
    assert (done.passed, [each.value for each in done.numbers]) == (True, [2]), done.error
    failed = run_once(cls, context=Context(timeout=20 * 10**9), file=str(folder / "none"))
    assert failed.error.startswith("exit code 2, expected 0: ")
    assert "cannot read" in failed.error


def test_the_target_says_what_the_exceptions_of_its_library_mean(folder: Path) -> None:
    target, test = (load(kind, f"./shop.py:{name}", folder) for kind, name in (("targets", "Shop"), ("tests", "Buy")))
    done = run_once(test, target())
    assert [done.outcome, done.operations[0].outcome] == [Outcome.REFUSED] * 2
    assert done.error in TEXT, "the page shows this message"


def test_the_native_test_has_a_program(folder: Path) -> None:
    cls = load("tests", "./native.py:StatReadme", folder)
    assert cls.native()
    assert cls().program().steps[0].keys.name(0) == "README"


def test_the_test_with_a_second_target_has_a_program(folder: Path) -> None:
    made = load("tests", "./send.py:Send", folder)(None, Context(owns={"source": "near", "to": "far"}))
    (step,) = made.program().steps
    assert (step.verb, step.keys.name(0)) == ("copy", "near/file")
    assert (step.destination.target, step.destination.keys.name(0)) == ("to", "far/copy")


def test_the_test_with_two_targets_copies(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    source, to = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("to")
    (source / "README").write_text("content")
    targets = {"source": PosixTarget(str(source)), "to": PosixTarget(str(to))}
    context = Context(owns={"source": "", "to": ""})
    found = run_once(load("tests", "./move.py:Move", folder), targets=targets, context=context)
    assert found.passed, found.error
    assert (to / "copy-0").read_text() == "content"


def test_the_target(folder: Path) -> None:
    cls = load("targets", "./mytargets.py:Catalogue", folder)
    assert cls("http://host/api", version="2").client().settings == {"url": "http://host/api/v2"}
    with pytest.raises(Exception, match="cannot be reached"):
        cls("http://127.0.0.1:1").probe()


def test_the_server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cls = load("targets", "./myserver.py:Pages", folder)
    where = tmp_path_factory.mktemp("server")
    with launched(cls.launcher({"greeting": "good day"}, where), where) as url, urlopen(url) as answer:
        assert answer.read() == b"good day"
    target = cls(str(where))
    target.change("greeting", "hello")
    assert target.setting("greeting") == "hello"


def test_the_monitor(folder: Path) -> None:
    cls = load("monitors", "./mymonitors.py:Temperature", folder)
    monitor = cls(zone=0)
    (folder / "temp").write_text("41500\n")
    monitor._file = folder / "temp"
    assert [(each.metric, each.value, each.unit, each.labels) for each in monitor.sample()] == [
        ("core", 41.5, "degC", "zone=0")
    ]
    with pytest.raises(Exception, match="there is no thermal zone 999; expected one below"):
        cls(zone=999).open()


def test_the_monitor_out_of_a_log(folder: Path) -> None:
    cls = load("monitors", "./mylog.py:Requests", folder)
    path = folder / "server.log"
    path.write_text("GET /a took 9 s\n")
    monitor = cls(file=str(path))
    monitor.open()
    with path.open("a") as file:
        file.write("GET /a took 0.5 s\nstarted\nGET /b took 1.5 s\nGET /c took")
    assert [(each.metric, each.value) for each in monitor.sample()] == [("number", 2), ("longest", 1.5)]
    monitor.close()


def test_the_protocol_of_its_own_is_tested_by_its_test(folder: Path) -> None:
    tests = module("test_store")
    tests.test_what_is_written_is_read()
    tests.test_it_connects_again_when_the_connection_has_broken()


@pytest.mark.long
def test_the_protocol_of_its_own_is_pressed_by_python_tests_and_by_no_native_one(folder: Path) -> None:
    with module("test_store").serving() as url:
        done = pileup("run", "store.yaml", "--quiet", "--set", f"targets.store.url={url}", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    native = {"use": "noop", "options": {}}
    changed = [f"tests.press.{word}={value}" for word, value in native.items()]
    done = pileup("validate", "store.yaml", *(part for each in changed for part in ("--set", each)), cwd=folder)
    assert done.returncode == 3
    assert "this target has no client of the engine; expected a Python test, or a ProgramClient" in done.stderr


@pytest.mark.long
def test_the_async_test_connects_on_its_loop(folder: Path) -> None:
    with module("test_store").serving() as url:
        target = load("targets", "./store.py:Store", folder)(url)
        found = run_once(load("tests", "./later.py:Ask", folder), target)
        assert (found.passed, found.operations[0].bytes) == (True, 1), found.error
        words = ("--set", f"targets.store.url={url}", "--set", "tests.press.use=./later.py:Ask")
        done = pileup("run", "store.yaml", "--quiet", *words, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_test_keeps_a_file(folder: Path) -> None:
    context = Context(place_name="local")
    found = run_once(load("tests", "./where.py:Where", folder), context=context, word="here")
    assert found.passed, found.error
    assert found.artefacts == {"client-0.txt": b"here at local, no scan, repeat 1\n"}


def test_each_kind_of_skeleton_can_be_made(tmp_path: Path) -> None:
    commands = re.findall(r"^    pileup (new \S+ \S+(?: --log)?)", TEXT, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["test", "target", "monitor", "package"]
    for command in commands:
        done = pileup(*command.split(), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "our-tools" / "pyproject.toml").is_file()
    assert (tmp_path / "list_folder.py").is_file()


def test_the_report(folder: Path) -> None:
    cls = load("reports", "./myreports.py:Summary", folder)
    results = RunResults("", Manifest(title="Copies"), (), (), (), (), ExitCode.PASSED, RunVerdict.PASSED, "")
    assert cls().render(results, {}) == b"Copies: passed\n"
    module("test_myreports").test_a_line_for_each_case()


def test_the_chart(folder: Path) -> None:
    drawn = charts(synthetic.rich(), ["./mycharts.py:Reasons"], folder)
    assert (drawn.problems, [each.id for each in drawn.all()]) == ([], ["reasons", "firsts"])
    pictures = dict(HtmlReport(charts=[f"{folder}/mycharts.py:Reasons"]).charts(synthetic.rich(), "svg"))
    assert list(pictures) == ["reasons-errors.svg", "firsts-first-errors.svg"]


def test_the_exporter(folder: Path) -> None:
    with connect() as connection:
        connection.execute("CREATE TABLE cases AS SELECT 1 AS id, 'copy' AS name")
        load("exporters", "./myexporters.py:Markdown", folder)().write(DuckTable(connection, "cases"), folder / "a.md")
    assert (folder / "a.md").read_text() == "| | id | name\n| | --- | ---\n| | 1 | copy\n"
