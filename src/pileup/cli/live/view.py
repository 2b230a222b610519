"""The live view of a run: a screen on a terminal, plain lines elsewhere. Reads the growing run folder alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pileup.cli.live.state import CaseState, FolderWatcher, State
from pileup.model.record import OF_DUE

if TYPE_CHECKING:
    from rich.console import Console

BEAT = 1.0
"""Seconds between two looks."""
EVERY = 10 * 10**9
"""Time between two lines of progress where there is no terminal, ns."""


class Face(Protocol):
    """Shows a state."""

    def show(self, state: State) -> None:
        """Show it as it is."""

    def close(self) -> None:
        """Show nothing more."""


class Screen:
    """Redraws some lines at the bottom of a terminal, and takes them away at the end."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        # Tests print while this is up: their streams are caught by the run and must not go through this.
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()

    def show(self, state: State) -> None:
        """Redraw."""
        from rich.console import Group

        from pileup.cli.live.screen import screen

        size = self._console.size
        self._live.update(Group(*screen(state, size.width - 1, size.height - 1)), refresh=True)

    def close(self) -> None:
        """Take the lines away."""
        self._live.stop()


class Lines:
    """Prints a line when a case begins or ends, when something happens, and every ten seconds."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        self._said: set[str] = set()
        self._due: dict[int, int] = {}

    def show(self, state: State) -> None:
        """Print what is new."""
        for case in sorted(state.cases.values(), key=lambda each: (each.started or state.now, each.number)):
            self._case(case, state.now)
        for message in state.messages:
            if message.text not in self._said and len(self._said) < 100:
                self._said.add(message.text)
                self._print(state.now, f"! {message.text}")

    def close(self) -> None:
        """Nothing to take away."""

    def _case(self, case: CaseState, now: int) -> None:
        if case.started and case.number not in self._begun:
            self._begun.add(case.number)
            self._due[case.number] = case.started + EVERY
            self._print(case.started, f"{case.name} begins: {case.load}")
        if case.running and now >= self._due[case.number]:
            self._due[case.number] += EVERY * max(1, -(-(now - self._due[case.number] + 1) // EVERY))
            self._print(now, f"{case.name} {progress(case)}")
        if case.outcome and case.number not in self._ended:
            self._ended.add(case.number)
            reason = f": {case.reason}" if case.reason else ""
            self._print(case.ended or now, f"{case.name} {case.outcome}{reason}{totals(case)}")

    def _print(self, moment: int, text: str) -> None:
        clock = time.strftime("%H:%M:%S", time.gmtime(moment / 1e9))
        self._console.print(f"{clock} {text}", markup=False, highlight=False, soft_wrap=True)


def progress(case: CaseState) -> str:
    """Return how a case goes in one line."""
    from pileup.cli.live.screen import phase_of
    from pileup.model.units import format_bandwidth, format_rate

    recent, tally = case.tally.now(), case.tally
    parts = [f"passed {format_rate(recent.rate)}"]
    if case.rate:
        parts.append(f"started {format_rate(recent.started_rate)} of {format_rate(case.rate)}")
    if recent.bandwidth:
        parts.append(format_bandwidth(recent.bandwidth))
    parts += [f"{name} {told}" for name, told in recent.quantiles.items() if told != "-"]
    parts.append(f"{tally.in_flight} in flight")
    if tally.open:
        parts.append(f"{tally.open} open")
    return f"{phase_of(case)}: {', '.join(parts)}{totals(case, '; ')}"


def totals(case: CaseState, before: str = " (") -> str:
    """Return the counts of a case so far, only those that are not zero."""
    from pileup.model.units import format_count

    counts = case.tally.so_far().counts()
    words = [f"{format_count(count)} {name}" for name in OF_DUE if (count := getattr(counts, name))]
    return f"{before}{', '.join(words)}{')' if before.endswith('(') else ''}" if words else ""


class LiveView:
    """Looks at a run folder each second in a thread of its own and shows what it finds."""

    def __init__(self, path: Path, face: Face, beat: float = BEAT) -> None:
        self._watcher = FolderWatcher(path)
        self._face = face
        self._beat = beat
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="live view", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, after a last look."""
        self._end.set()
        self._thread.join(5)

    def _run(self) -> None:
        try:
            while not self._end.wait(self._beat):
                self._face.show(self._watcher.look())
            self._face.show(self._watcher.look())
        except (OSError, ValueError):  # the terminal has gone: the run goes on without a view
            pass
        finally:
            self._face.close()


@contextmanager
def watch(folder_path: Path, console: Console, quiet: bool) -> Iterator[None]:
    """While it lasts, show the run in that folder on the console; nothing when `quiet`."""
    if quiet:
        yield
        return
    console.file = console.file  # keep today's stream: the run puts its own in the place of sys.stderr
    view = LiveView(folder_path, Screen(console) if console.is_terminal else Lines(console))
    view.start()
    try:
        yield
    finally:
        view.stop()
