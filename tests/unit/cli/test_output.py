"""stdout that takes no more: a full disk is one error, a reader that has gone none; a command goes on to its end."""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.cli.output import take_over
from pileup.cli.table import COMMANDS, TOPICS
from pileup.model.exits import ExitCode
from tests.support import EXAMPLES, ROOT

FULL = """error: stdout cannot be written: No space left on device
  expected a file or a pipe with room
  the command goes on; send its output elsewhere
"""
RUN = str(ROOT / "tests/golden/0.1/ended")
SUITE = str(EXAMPLES / "first-run.yaml")
WORDS = [
    ["--version"],
    ["--help"],
    *([name, "--help"] for name in COMMANDS),
    *(["help", name] for name in TOPICS),
    ["completion", "bash"],
    ["man", "run"],
    ["list", "suites"],
    ["list", "--json"],
    ["describe", "storage.read"],
    ["schema"],
    ["validate", SUITE],
    ["plan", SUITE],
    ["convert", SUITE, "-", "--to", "xml"],
    ["show", RUN],
    ["show", RUN, "--json"],
    ["report", RUN, "--to", "json", "--out", "-"],
]
"""What prints by each of the ways to do so, and all commands: whatever they print, it goes there."""
Press = Callable[[int, list[str]], tuple[int, str]]


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Press:
    """Run a command with such a stdout; return its exit code, and what is on its stderr."""

    def run(out: int, words: list[str]) -> tuple[int, str]:
        with os.fdopen(out, "w") as stdout, (tmp_path / "stderr").open("w") as stderr:
            monkeypatch.setattr(sys, "stdout", stdout)
            monkeypatch.setattr(sys, "stderr", stderr)
            results = take_over()
            code = main(words)
            sys.stdout.flush()
            sys.stderr.flush()
        monkeypatch.undo()
        return results.code(code), (tmp_path / "stderr").read_text()

    return run


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_full_disk_is_one_error_of_any_command(press: Press, words: list[str]) -> None:
    code, told = press(os.open("/dev/full", os.O_WRONLY), words)
    assert (code, "".join(line for line in told.splitlines(True) if not line.startswith("note: "))) == (74, FULL)


@pytest.mark.parametrize("words", [["--help"], ["schema"], ["show", RUN]], ids=" ".join)
def test_a_reader_that_has_gone_is_none(press: Press, words: list[str]) -> None:
    here, there = os.pipe()
    os.close(here)
    assert press(there, words) == (ExitCode.PASSED, "")


def test_a_command_that_fails_says_why_and_that_counts(press: Press) -> None:
    code, told = press(os.open("/dev/full", os.O_WRONLY), ["list", "nonsense"])
    assert (code, told.splitlines()[0]) == (ExitCode.USAGE, "error: KIND is 'nonsense'")


def test_what_is_written_is_as_it_was(press: Press, tmp_path: Path) -> None:
    out = tmp_path / "stdout"
    assert press(os.open(out, os.O_WRONLY | os.O_CREAT), ["--version"]) == (ExitCode.PASSED, "")
    assert out.read_text().startswith("pileup ")


def test_streams_that_are_closed_take_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    results = take_over()
    assert results.code(main(["list", "nonsense"])) == ExitCode.USAGE
    assert results.code(main(["--help"])) == ExitCode.PASSED
    assert isinstance(sys.stdout, io.TextIOWrapper)
    os.close(sys.stdout.fileno())
    os.close(sys.stderr.fileno())
