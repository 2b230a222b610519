"""The line of a command that works for long: on a terminal alone, gone before anything else is printed."""

import os
import pty
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest

from pileup.cli import working as module
from pileup.cli.messages import echo
from pileup.cli.working import working


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
