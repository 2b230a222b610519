"""Results of a run folder, also of one whose other process puts its tables into another form just now."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.model.errors import DamagedRecord

if TYPE_CHECKING:
    from pileup.model.results import RunResults
    from pileup.record import RunFolder

ATTEMPTS = 6
"""Tables are replaced one after another: each look may meet the next of them."""
PAUSE = 0.5
"""Seconds between two looks."""
THREADS = "OPENBLAS_NUM_THREADS"
"""Variable that numpy's library for matrices reads when it is loaded."""


def load_numpy() -> None:
    """Load numpy without threads for matrices: they would spin for 50 ms of CPU, and small matrices need none.

    Only for commands that run nobody else's code. What the user has set is left.
    """
    if "numpy" in sys.modules or THREADS in os.environ:
        return
    os.environ[THREADS] = "1"
    try:
        importlib.import_module("numpy")
    finally:
        del os.environ[THREADS]


def read_results(folder: RunFolder) -> RunResults:
    """Return what a run gave. Raises RecordError for a record that cannot be read, or lacks a file."""
    from pileup.stats import results

    for _ in range(ATTEMPTS - 1):
        try:
            return results(folder)
        except FileNotFoundError:
            time.sleep(PAUSE)
    try:
        return results(folder)
    except FileNotFoundError as problem:
        name = Path(problem.filename or "a file").name
        raise DamagedRecord(
            f"{folder.path} cannot be read: {name} is missing", "a record as pileup writes it", "pileup verify RUN"
        ) from problem


def read_run(run: Path) -> RunResults:
    """Return what the run in a folder gave. Raises RecordError."""
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    with reading(run):
        return read_results(RunFolder.open(run))
