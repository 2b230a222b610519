"""Which reports a run writes: those of its suite, else every installed one that is a default."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pileup.model.exits import ExitCode
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults
from pileup.model.verdict import RunVerdict
from pileup.plugin import PluginError, Report, registry
from pileup.record import RunFolder
from pileup.run.reports import write_reports
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


def test_what_goes_wrong_with_one_is_an_event_and_the_others_are_written(
    folder: RunFolder, installed: Callable[..., None]
) -> None:
    installed("Broken", "Escaping", "Missing", "Page", "Plain", "Twin")
    write_reports(folder, RESULTS, None)
    assert list(files(folder)) == ["page.txt", "plain.txt"]
    assert not (folder.path.parent / "outside.txt").exists()
    broken, escaping, missing, twin = told(folder)
    assert broken == "report broken failed: ZeroDivisionError: zero"
    assert escaping.startswith("report escaping cannot be made: '../outside.txt' is no name for a report")
    assert missing.startswith("report missing cannot be made: ") and "AttributeError" in missing
    assert twin == "report twin is not written: plain.txt is that of report plain"


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
    assert told(folder) == ["report broken cannot be made: no paper; expected paper"]


@pytest.mark.parametrize(("words", "written"), [("", ["page.txt", "plain.txt"]), ("reports: []\n", [])])
def test_a_suite_that_names_none(
    folder: RunFolder, installed: Callable[..., None], tmp_path: Path, words: str, written: list[str]
) -> None:
    installed("Page", "Plain", "Rare")
    (tmp_path / "suite.yaml").write_text(SUITE + words)
    write_reports(folder, RESULTS, load(tmp_path / "suite.yaml"))
    assert list(files(folder)) == written
