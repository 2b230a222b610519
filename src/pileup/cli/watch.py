"""pileup watch: the screen of a run that another process, perhaps on another host, carries out."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from pileup.record import RunFolder

BEAT = 0.2
"""Seconds between two looks whether the run has ended."""
WRITTEN = 120
"""Seconds for which tables and reports are waited for."""
EACH = 5
"""Beats between two looks whether its pileup is still there."""


@click.command(
    "watch",
    cls=Command,
    examples=[
        ("a run of another terminal", "pileup watch RUN"),
        ("progress as lines, into a file", "pileup watch RUN 2> progress.txt"),
    ],
    page="reports.md",
)
@click.argument("run", type=RUN)
@click.pass_context
def command(context: click.Context, run: Path) -> None:
    """Show the screen of a run that goes on.

    When the run ends its verdict is printed. RUN is a run folder of another process, or of another host where both see
    the folder. Ctrl-C, or the key q, leaves the run alone. Without a terminal lines of progress are printed, on stderr.

    Exit codes: that of the run; 6 when you leave before its end, 8 when its pileup has gone.
    """
    from pileup.cli.console import SafeConsole
    from pileup.cli.live.view import LiveView, shown
    from pileup.cli.show.command import broken_off
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    with working("reading the run"), reading(run):
        folder = RunFolder.open(run)
        folder.manifest()
    with _left() as left, shown(SafeConsole(stderr=True), watching=True) as face:
        view = LiveView(folder.path, face)
        view.start()
        try:
            gone = _until_ended(folder, left)
        finally:
            view.stop()
    if left.is_set():
        echo(f"the run goes on; to see it again: pileup watch {run}", err=True)
        context.exit(int(ExitCode.STOPPED_BY_USER))
    if gone:
        echo(broken_off(folder), err=True)
        context.exit(int(ExitCode.UNKNOWN))
    _tell(context, run)


def _until_ended(folder: RunFolder, left: threading.Event) -> bool:
    """Wait for the end of the run, or until the user has left; return whether its pileup is gone before its end."""
    from pileup.cli.show.command import broken_off

    beats = 0
    while not folder.manifest().has_ended:
        if left.wait(BEAT):
            return False
        beats += 1
        if beats % EACH == 0 and broken_off(folder):
            return True
    return False


def _until_written(folder: RunFolder) -> None:
    """Wait until the other process has written its tables and reports; where its lock cannot be seen, not at all."""
    from pileup.run.recovery import lock

    end = time.monotonic() + WRITTEN
    while lock.held(folder.path) and time.monotonic() < end:
        time.sleep(BEAT)


def _tell(context: click.Context, run: Path) -> None:
    """Print the verdict of a run that has ended, and exit with its code."""
    from pileup.cli.ending import print_ending
    from pileup.cli.reading import read_results
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    with working("reading the run"), reading(run):
        folder = RunFolder.open(run)
        _until_written(folder)
        found = read_results(folder)
        page = folder.path / "report.html"
        echo()
        print_ending(found, [page] if page.is_file() else [])
    context.exit(int(found.exit_code))


@contextmanager
def _left() -> Iterator[threading.Event]:
    """Yield what is set by Ctrl-C, SIGTERM and SIGHUP while this lasts."""
    left = threading.Event()

    def leave(_number: int, _frame: object) -> None:
        left.set()

    kept = {number: signal.signal(number, leave) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield left
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
