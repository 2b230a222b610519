"""Which reports a run writes: those of its suite, else every installed one that is a default."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pileup.cli.show.overview import print_results
from pileup.model.exits import ExitCode
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults
from pileup.model.verdict import RunVerdict
from pileup.plugin import PluginError, Report, registry
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.run.reports import write_reports
from pileup.stats import results
from pileup.suite import load

RESULTS = RunResults("", Manifest(title="t"), (), (), (), (), ExitCode.PASSED, RunVerdict.PASSED, "")
SUITE = "pileup: 1\ntitle: t\ntests: [{name: a, use: noop}]\n"


class Plain(Report):
    """A default, for programs."""

    name = "plain"
    file_name = "plain.txt"
    by_default = True

    text: str = "plain"

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        return self.text.encode()


class Page(Plain):
    """A default, for people."""

    file_name = "page.txt"
    for_people = True


class Rare(Plain):
    """Only where it is asked for."""

    file_name = "rare.txt"
    by_default = False


class Twin(Plain):
    """Has the file of another."""


class Broken(Plain):
    """Fails."""

    file_name = "broken.txt"

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        raise {"plain": ZeroDivisionError("zero"), "ours": PluginError("no paper", "paper")}[self.text]


class Escaping(Plain):
    """Wants a place that is not its own."""

    file_name = "../outside.txt"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    found = RunFolder.create(tmp_path / "runs", "t", 1)
    found.save(Manifest())
    return found


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let these be the reports that are installed, under the names of their classes, and the tests that are."""
    real = registry._entries

    def install(*classes: str) -> None:
        entries = [EntryPoint(name.lower(), f"{__name__}:{name}", "pileup.reports") for name in classes]
        monkeypatch.setattr(registry, "_entries", lambda kind: iter(entries) if kind == "reports" else real(kind))

    return install


def told(folder: RunFolder) -> list[str]:
    return [each.text for each in folder.events()]


def files(folder: RunFolder) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.path.glob("*.txt"))}


def test_without_a_suite_the_defaults_are_written(folder: RunFolder, installed: Callable[..., None]) -> None:
    installed("Plain", "Page", "Rare")
    assert write_reports(folder, RESULTS, None) == [folder.path / "page.txt"]
    assert files(folder) == {"page.txt": "plain", "plain.txt": "plain"}
    assert told(folder) == []


def test_p4_what_goes_wrong_with_one_is_an_event_and_the_others_are_written(
    folder: RunFolder, installed: Callable[..., None]
) -> None:
    installed("Broken", "Escaping", "Missing", "Page", "Plain", "Twin")
    write_reports(folder, RESULTS, None)
    assert list(files(folder)) == ["page.txt", "plain.txt"]
    assert not (folder.path.parent / "outside.txt").exists()
    broken, escaping, missing, twin = told(folder)
    assert broken.startswith("not written: broken.txt: ZeroDivisionError: zero (test_reports.py:")
    assert escaping.startswith("not written: ../outside.txt: '../outside.txt' is not a name for a report")
    assert missing.startswith("not written: report missing: ") and "AttributeError" in missing
    assert twin == "not written: report twin: plain.txt is that of report plain"


def test_a_suite_says_which_with_their_options(
    folder: RunFolder, installed: Callable[..., None], tmp_path: Path
) -> None:
    installed("Broken", "Page", "Plain", "Rare")
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        SUITE + "reports: [{use: rare}, {use: plain, to: a.txt, text: other}, {use: broken, text: ours}]\n"
    )
    assert write_reports(folder, RESULTS, load(suite)) == [folder.path / "rare.txt", folder.path / "a.txt"]
    assert files(folder) == {"a.txt": "other", "rare.txt": "plain"}
    assert told(folder) == ["not written: broken.txt: no paper; expected paper"]


@pytest.mark.parametrize(("words", "written"), [("", ["page.txt", "plain.txt"]), ("reports: []\n", [])])
def test_a_suite_that_names_none(
    folder: RunFolder, installed: Callable[..., None], tmp_path: Path, words: str, written: list[str]
) -> None:
    installed("Page", "Plain", "Rare")
    (tmp_path / "suite.yaml").write_text(SUITE + words)
    write_reports(folder, RESULTS, load(tmp_path / "suite.yaml"))
    assert list(files(folder)) == written


TEXT = """from pileup.plugin import Report


class Text(Report):
    file_name = "text.txt"

    def render(self, results, outputs):
        return "text"


class Raising(Report):
    file_name = "raising.txt"

    def render(self, results, outputs):
        return results.nothing
"""


def test_p4_what_was_not_written_is_told_at_the_end_until_it_is(tmp_path: Path) -> None:
    """An exit code of 0 and one line among many went unnoticed."""
    (tmp_path / "own.py").write_text(TEXT)
    suite = tmp_path / "suite.yaml"
    suite.write_text(SUITE + 'reports: [{use: "./own.py:Text"}, {use: "./own.py:Raising", to: a.txt}, {use: json}]\n')
    runner = Runner(load(suite), tmp_path)
    ended = runner.run()
    path = runner.folder.path
    attribute = "AttributeError: 'RunResults' object has no attribute 'nothing' (own.py:15)"
    wanted = [
        f"not written: text.txt: render() gave a str; expected bytes; fix it, then pileup report {path} --to "
        "./own.py:Text",
        f"not written: a.txt: {attribute}; fix it, then pileup report {path} --to ./own.py:Raising",
    ]
    assert shown(ended)[-2:] == wanted
    assert shown(results(RunFolder.open(path)))[-2:] == wanted
    (path / "text.txt").write_text("mended")
    assert shown(results(RunFolder.open(path)))[-1:] == wanted[1:]
    assert not any(line.startswith("not written: text.txt") for line in shown(results(RunFolder.open(path))))


def shown(found: RunResults) -> list[str]:
    output = StringIO()
    print_results(found, Console(file=output, width=1000))
    return output.getvalue().splitlines()
