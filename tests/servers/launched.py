"""Servers of tests, started and ended by the supervisor that suites use, with no run folder."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pileup.plugin import Launcher
from pileup.run.servers import Supervisor


@contextlib.contextmanager
def launched(launcher: Launcher, folder: Path, name: str = "target") -> Iterator[str]:
    """Yield the url of a server; it is ended in order, by pid, with whatever it has started."""
    supervisor = Supervisor()
    try:
        yield supervisor.launch(name, launcher, folder)
    finally:
        supervisor.end_all()
