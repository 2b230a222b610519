"""The line of a command that works for long: on a terminal alone, gone before anything else is printed."""

import os
import pty
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import getsource
from io import StringIO
from typing import NoReturn

import pytest

from pileup.cli import main as command_line
from pileup.cli import working as module
from pileup.cli.messages import echo
from pileup.cli.table import COMMANDS
from pileup.cli.working import working
from pileup.model.errors import UsageError


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, term: str = "xterm") -> Iterator[int]:
    """A terminal as stderr, in the body of a test: pytest puts its own stream there before that begins."""
    main, other = pty.openpty()
    with monkeypatch.context() as patch, os.fdopen(other, "w", buffering=1) as file:
        patch.setenv("TERM", term)
        patch.setattr(module, "AFTER", 0.1)
        patch.setattr(sys, "stderr", file)
        yield main
    os.close(main)


def seen(main: int, first: float = 0.5) -> str:
    """What was written, waiting so long for the first of it."""
    found, wait = b"", first
    while select.select([main], [], [], wait)[0]:
        found += os.read(main, 4096)
        wait = 0.1
    return found.decode()


def test_long_work_is_said_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as main:
        with working("exporting"):
            assert seen(main, 10).startswith("\r\x1b[2Kexporting: 0 s")
            echo("one file", err=True)
            assert "\r\x1b[2Kone file\r\n" in seen(main, 10)
            assert seen(main, 10).startswith("\r\x1b[2Kexporting: ")
        assert seen(main, 10).endswith("\r\x1b[2K"), "nothing of it stays"


@pytest.mark.parametrize(
    ("words", "slow", "told"),
    [
        (["validate", "suite:first-run"], "pileup.suite.load", "checking the suite"),
        (["plan", "suite:first-run"], "pileup.suite.load", "checking the suite"),
        (["run", "suite:first-run"], "pileup.run.start.planned", "checking the suite"),
        (["list", "runs"], "pileup.run.start.runs_path", "reading the runs"),
        (["convert", "suite:first-run"], "pileup.suite.formats.convert.convert", "converting"),
    ],
)
def test_commands_say_what_takes_long(
    words: list[str], slow: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wait(*_: object, **__: object) -> NoReturn:
        time.sleep(0.5)
        raise UsageError("that took long", "an end")

    module_name, _, name = slow.rpartition(".")
    monkeypatch.setattr(import_module(module_name), name, wait)
    with terminal(monkeypatch) as main:
        assert command_line(words) == 2
        screen = seen(main, 10)
    assert f"\r\x1b[2K{told}: 0 s\r\x1b[2K" in screen, "said, and gone before the problem is told"
    assert "that took long" in screen


ELSEWHERE = {
    "check": "the screen of the run",
    "bench": "the screen of the run",
    "new": "writes a few files",
    "describe": "reads no suite and no run",
    "schema": "reads no suite and no run",
    "help": "reads no suite and no run",
    "completion": "prints a script",
    "man": "reads no suite and no run",
    "practice": "a server, which says where it is",
    "relay": "a server, which says where it is",
    "place": "called by pileup itself",
}
"""Command without such a line -> why."""


def test_every_command_that_may_take_long_says_so() -> None:
    without = {name for name, each in COMMANDS.items() if "with working(" not in getsource(import_module(each.module))}
    assert without == set(ELSEWHERE)


def test_quick_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as main:
        with working("exporting"):
            pass
        assert seen(main) == ""


def test_nothing_is_said_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(module, "AFTER", 0.05)
    with working("exporting"):
        time.sleep(0.2)
    assert out.getvalue() == ""


def test_a_dumb_terminal_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch, "dumb") as main, working("exporting"):
        assert seen(main) == ""
