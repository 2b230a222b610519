"""What to type after a run: a command that can be run as it is printed."""

from __future__ import annotations

import shlex
from pathlib import Path

from pileup.model.event import REPORT
from pileup.model.exits import ExitCode
from pileup.model.hidden import HIDDEN
from pileup.model.results import RunResults

RESUMED = (ExitCode.STOPPED_BY_USER, ExitCode.STOPPED_BY_LIMIT, ExitCode.TARGET_UNREACHABLE)
"""Endings after which `pileup resume` has something to do."""


def next_step(results: RunResults) -> str:
    """Return the next command; nothing where there is none.

    It goes on, writes the report that could not be written, compares with the last run that passed, or runs the suite
    again.
    """
    from pileup.record import RunFolder
    from pileup.record.earlier import last_green

    folder = shlex.quote(results.folder)
    if results.exit_code in RESUMED or any(entry.cut for entry in results.run.cases):
        return f"pileup resume {folder}"
    if lacking := next((event.about for event in results.events if event.kind == REPORT and event.about), ""):
        return f"pileup report {folder} --to {shlex.quote(lacking)}"
    green = last_green(RunFolder(Path(results.folder)))
    if green is not None and green.alike:
        return f"pileup compare --last-green {folder}"
    return _again(results)


def _again(results: RunResults) -> str:
    """Return the command that runs the suite once more; nothing where its file or a value is not known."""
    from pileup.suite.shipped import SHIPPED, shipped_suites

    suite = results.run.suite
    path = Path(suite.folder, Path(suite.source).name)  # `source` is a path from where the run was started
    if results.run.simulated or not suite.source or not path.is_file() or HIDDEN in "".join(suite.values.values()):
        return ""
    shipped = next((name for name, known in shipped_suites().items() if known == path), "")
    words = ["pileup", "run", f"{SHIPPED}{shipped}" if shipped else _short(path)]
    words += [word for name, value in suite.values.items() for word in ("--set", f"{name}={value}")]
    return shlex.join(words)


def _short(path: Path) -> str:
    """Return a path from here, where it is below."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
