"""Suites from Python: checked, and run to the end."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pileup.api.opened import Run
from pileup.model.ending import StoppedBy
from pileup.model.suite import Suite
from pileup.model.surroundings import introduce
from pileup.record import RunFolder
from pileup.run import Runner
from pileup.run.recovery.leftovers import sweep
from pileup.run.start import planned, runs_folder
from pileup.run.stop import Stop

LOG = logging.getLogger("pileup")
Value = str | float | bool | Path | list[Any]
"""What a variable, or a word of a suite, may be set to; a number or a list as in YAML."""


def load(suite: str | Path, *, set: Mapping[str, Value] | None = None) -> Suite:
    """Return a suite, checked and typed, variables filled in. Nothing is run, but files that it names are imported.

    `suite` is a file, or `suite:NAME` for one that comes with pileup; `set` what `--set` of the command takes.
    Raises SuiteError with every problem of the suite.
    """
    introduce(os.environ, os.geteuid())
    return planned(str(suite), _texts(set or {}), None, os.environ).suite


def run(
    suite: str | Path,
    *,
    set: Mapping[str, Value] | None = None,
    out: str | Path | None = None,
    fleet: str | None = None,
) -> Run:
    """Run a suite to its end, as `pileup run` does, and return the run; nothing is printed.

    `set` maps a variable, or the path of a word of the suite, to a value: `{"clients": 10, "targets.se.url": "https://…"}`.
    `out` is the folder for run folders (default $PILEUP_RUNS, else ./runs), `fleet` where the load comes from.

    Ctrl-C (in a notebook: interrupt the kernel) ends the run in order, again at once, and the run is returned all the
    same: its verdict is "stopped". Raises SuiteError, TargetError and RecordError.
    """
    introduce(os.environ, os.geteuid())
    stop = Stop()
    plan = planned(str(suite), _texts(set or {}), fleet, os.environ)
    base = runs_folder(None if out is None else Path(out), os.environ)
    for line in sweep():
        LOG.info(line)
    runner = Runner(plan, base, stop)
    with _interruptible(stop):
        found = runner.run()
    return Run(RunFolder.open(runner.folder.path), found)


def _texts(values: Mapping[str, Value]) -> dict[str, str]:
    """Return values as `--set` takes them: text as it is, all else as JSON."""
    return {
        name: str(value) if isinstance(value, (str, Path)) else json.dumps(value, default=str)
        for name, value in values.items()
    }


@contextmanager
def _interruptible(stop: Stop) -> Iterator[None]:
    """While it lasts, Ctrl-C asks the run to stop; only in the main thread, the only one that has signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.signal(signal.SIGINT, lambda _number, _frame: stop.ask(StoppedBy.USER, "Ctrl-C"))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)
