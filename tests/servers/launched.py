"""Servers of tests, started and ended by the supervisor that suites use, with no run folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pileup.plugin import Launcher
from pileup.run.servers.supervisor import Supervisor

NAME = "target"


@contextlib.contextmanager
def supervised(launcher: Launcher, folder: Path) -> Iterator[Supervisor]:
    """Yield the supervisor of a server called NAME; it is ended in order, by pid, with whatever it has started."""
    supervisor = Supervisor()
    try:
        supervisor.launch(NAME, launcher, folder)
        yield supervisor
    finally:
        supervisor.end_all()


@contextlib.contextmanager
def launched(launcher: Launcher, folder: Path) -> Iterator[str]:
    """Yield the url of a server."""
    with supervised(launcher, folder) as supervisor:
        yield supervisor.url(NAME)
