"""Unit tests start no process, open no connection and do not sleep: such tests are in tests/component/.

A wait for a thread has a timeout as a bound; a test in which that time goes by is one that sleeps, though nothing here
sees it.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

FORBIDDEN = {
    "subprocess.Popen": "a process",
    "os.fork": "a process",
    "os.posix_spawn": "a process",
    "os.system": "a process",
    "socket.bind": "a socket",
    "socket.connect": "a socket",
}
"""Audit events of Python (https://docs.python.org/3/library/audit_events.html), and what they stand for."""
_seen: list[str] = []
_watching = False


def _note(event: str, _arguments: Any) -> None:
    if _watching and event in FORBIDDEN:
        _seen.append(FORBIDDEN[event])


sys.addaudithook(_note)


def _no_sleep(seconds: float) -> NoReturn:
    raise AssertionError(f"a unit test sleeps for {seconds} s; expected virtual time (or move it to tests/component/)")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test that leaves its process, and one that sleeps."""
    global _watching  # noqa: PLW0603  a hook cannot be taken away again
    monkeypatch.setattr(time, "sleep", _no_sleep)
    _seen.clear()
    _watching = True
    yield
    _watching = False
    assert not _seen, f"a unit test opened {_seen[0]}; expected none (move it to tests/component/)"
