"""The live view of a run: a screen on a terminal, plain lines elsewhere. Reads the growing run folder alone."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pileup.cli.live.keys import Keyboard, keyboard, suspended
from pileup.cli.live.state import CaseState, FolderWatcher, State
from pileup.cli.marks import ascii_text, shows_signs
from pileup.model.record import OF_DUE

if TYPE_CHECKING:
    from rich.console import Console

BEAT, BEAT_OF_LINES = 1.0, 2.0
"""Seconds between two looks: of a screen, and where there is no terminal and a look is a few ms of CPU time."""
STEP = 0.2
"""Seconds after which a view that waits for keys looks whether it is over."""
MOST_AT_ONCE = 20
"""Lines of ended cases that are printed together."""
EVERY = 10 * 10**9
"""Time between two lines of progress where there is no terminal, ns."""


class Face(Protocol):
    """Shows a state."""

    beat: float
    """Seconds between two looks."""

    def show(self, state: State) -> None:
        """Show it as it is."""

    def wait(self, seconds: float, over: threading.Event) -> None:
        """Let some time pass; end early, or soon, when it is over."""

    def close(self) -> None:
        """Show nothing more."""


class Screen:
    """Redraws some lines at the bottom of a terminal, and takes them away at the end; lines of ended cases stay."""

    beat = BEAT

    def __init__(self, console: Console, keys: Keyboard | None = None, *, watching: bool = False) -> None:
        from rich.live import Live

        from pileup.cli.live.screen import Look

        self._console = console
        self._keys = keys
        self.look = Look(ascii=not shows_signs(console), keys=keys is not None, watching=watching)
        self._ended: set[int] = set()
        self._opened = self._asked = False
        self._shown = State()
        # Tests print while this is up: their streams are caught by the run and must not go through this.
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()

    def show(self, state: State) -> None:
        """Redraw."""
        self._shown = state
        if not self.look.frozen:
            self._stay(state)
            self._draw()

    def wait(self, seconds: float, over: threading.Event) -> None:
        """Let some time pass, and do what keys ask for."""
        if self._keys is None:
            over.wait(seconds)
            return
        end = time.monotonic() + min(seconds, STEP)
        while (left := end - time.monotonic()) > 0:
            for key in self._keys.wait(left):
                self._press(key)

    def close(self) -> None:
        """Take the lines away, and give the terminal back."""
        try:
            self._stay(self._shown)
            self._live.stop()
        finally:
            if self._keys is not None:
                self._keys.give_back(over=True)

    def pause(self) -> None:
        """Give the terminal back before the process is suspended."""
        self._live.stop()
        if self._keys is not None:
            self._keys.give_back()

    def go_on(self) -> None:
        """Take the terminal again."""
        self._live.start()
        if self._keys is not None:
            self._keys.take()

    def _press(self, key: str) -> None:
        look = self.look
        match key:
            case "?":
                look.help = not look.help
            case "f":
                look.frozen = not look.frozen
            case "\t":
                look.first += 1
            case "+" | "=":
                look.zoom(1)
            case "-":
                look.zoom(-1)
            case "q" if not self._asked:
                self._asked = True
                os.kill(os.getpid(), signal.SIGINT)
                return
            case _:
                return
        self._stay(self._shown)
        self._draw()

    def _draw(self) -> None:
        from rich.console import Group

        from pileup.cli.live.screen import screen

        size = self._console.size
        self._live.update(Group(*screen(self._shown, size.width - 1, size.height - 1, self.look)), refresh=True)

    def _stay(self, state: State) -> None:
        """Print, above what is redrawn, what is to stay: what will run, and each case that has ended."""
        from rich.text import Text

        from pileup.cli.live.screen import ended_line, opening
        from pileup.cli.marks import in_ascii

        lines = []
        if state.title and not self._opened:
            self._opened = True
            lines.append(Text(opening(state), style="bold"))
        new = [case for case in state.finished if case.number not in self._ended]
        self._ended |= {case.number for case in new}
        if len(new) > MOST_AT_ONCE:
            lines.append(Text(f"{len(new) - MOST_AT_ONCE} more cases have ended", style="dim"))
        for line in (*lines, *map(ended_line, new[-MOST_AT_ONCE:])):
            self._console.print(in_ascii(line) if self.look.ascii else line, highlight=False)


class Lines:
    """Prints a line when a case begins or ends, when something happens, and every ten seconds."""

    beat = BEAT_OF_LINES

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        self._said: set[str] = set()
        self._due: dict[int, int] = {}
        self._opened = False

    def show(self, state: State) -> None:
        """Print what is new."""
        from pileup.cli.live.screen import opening

        if state.title and not self._opened:
            self._opened = True
            self._print(state.started, opening(state))
        for case in sorted(state.cases.values(), key=lambda each: (each.started or state.now, each.number)):
            self._case(case, state.now)
        for message in state.messages:
            if message.text not in self._said and len(self._said) < 100:
                self._said.add(message.text)
                self._print(state.now, f"! {message.text}")

    def wait(self, seconds: float, over: threading.Event) -> None:
        """Let some time pass."""
        over.wait(seconds)

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
            self._print(case.ended or now, f"{case.name} {case.outcome}{reason}{totals(case)}{judged(case)}")

    def _print(self, moment: int, text: str) -> None:
        clock = time.strftime("%H:%M:%S", time.gmtime(moment / 1e9))
        text = text if shows_signs(self._console) else ascii_text(text)
        self._console.print(f"{clock} {text}", markup=False, highlight=False, soft_wrap=True)


def progress(case: CaseState) -> str:
    """Return how a case goes in one line."""
    from pileup.cli.live.screen import phase_of
    from pileup.model.units import format_bandwidth, format_rate

    recent, tally = case.tally.now(), case.tally
    parts = [f"passed {format_rate(recent.rate)}"] if case.has_rate else []
    if case.rate and case.has_rate:
        parts.append(f"started {format_rate(recent.started_rate)} of {format_rate(case.rate)}")
    if recent.bandwidth and case.has_rate:
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


def judged(case: CaseState) -> str:
    """Return what criteria say of a case so far: `; C2 met`."""
    return "".join(f"; {each.id} {each.verdict}" for each in case.judged)


class LiveView:
    """Looks at a run folder in a thread of its own and shows what it finds."""

    def __init__(self, path: Path, face: Face) -> None:
        self._watcher = FolderWatcher(path)
        self._face = face
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
            while not self._end.is_set():
                self._face.show(self._watcher.look())
                self._wait()
            self._face.show(self._watcher.look())
        except (OSError, ValueError):  # the terminal has gone: the run goes on without a view
            pass
        finally:
            with suppress(OSError, ValueError):
                self._face.close()

    def _wait(self) -> None:
        """Let a beat pass."""
        end = time.monotonic() + self._face.beat
        while not self._end.is_set() and (left := end - time.monotonic()) > 0:
            self._face.wait(left, self._end)


@contextmanager
def watch(folder_path: Path, console: Console, quiet: bool) -> Iterator[None]:
    """While it lasts, show the run in that folder on the console; nothing when `quiet`."""
    if quiet:
        yield
        return
    console.file = console.file  # keep today's stream: the run puts its own in the place of sys.stderr
    with shown(console) as face:
        view = LiveView(folder_path, face)
        view.start()
        try:
            yield
        finally:
            view.stop()


@contextmanager
def shown(console: Console, *, watching: bool = False) -> Iterator[Screen | Lines]:
    """Yield what shows a run on this console: a screen on a terminal, lines elsewhere; the terminal is put back."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield Lines(console)
        return
    keys = keyboard()
    face = Screen(console, keys, watching=watching)
    try:
        with suspended(face.pause, face.go_on):
            yield face
    finally:
        if keys is not None:
            keys.give_back(over=True)
