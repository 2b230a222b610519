"""One monitor sampled on absolute ticks, here or at a place of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pileup._core._native import now
from pileup.model.errors import PileupError, PluginError
from pileup.model.record import Sample
from pileup.model.timed import OperationBatch
from pileup.model.units import counted
from pileup.plugin import Monitor
from pileup.plugin.recording import Recording
from pileup.plugin.userfile import MEND
from pileup.plugin.verdict import mistake

MOST_PROBLEMS = 20
"""Different mistakes of a monitor that are reported."""
DRAIN = 10.0
"""Seconds after the end in which a monitor may still record what its server did."""
PAUSE = 0.25
"""Seconds between two looks then."""
LOOKS = 5
"""Looks without anything new after which nothing more is waited for: servers write their logs in pieces."""
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Watch:
    """A monitor with its name in the run and its interval in ns."""

    name: str
    monitor: Monitor
    every: int
    host: str | None = None
    """Where it is measured, as `ssh://user@host:port`; None: here."""
    target: str = ""
    """Name of the target that it watches; empty for none."""
    serves: str = ""
    """Name of the target whose operations it records, where that is another one; empty: `target`."""
    covered: bool = True
    """Whether it has anything to sample."""


class Sampler:
    """Samples one monitor until `end`; `take` gets a time (ns) and its samples, `tell` what goes wrong."""

    def __init__(
        self,
        watch: Watch,
        take: Callable[[int, list[Sample]], None],
        tell: Callable[[str], None],
        end: threading.Event,
        serve: Callable[[OperationBatch], None] = lambda found: None,
        *,
        lack: Callable[[str, bool], None] = lambda reason, whole: None,
        over: threading.Event | None = None,
    ) -> None:
        """`serve` gets what the monitor records, `lack` why it cannot measure, and whether that is all of it. After
        `end` a monitor that records is read on until `over`: its server goes on for a while; `end` where it is None.
        """
        self._watch = watch
        self._serve = serve
        self._take = take
        self._tell = tell
        self._lack = lack
        self._end = end
        self._over = over or end
        self._problems: set[str] = set()
        self._recorded = 0
        self._recording = Recording(self._hand_on, self._tell_once)
        if watch.monitor.records:
            watch.monitor.recording = self._recording
        self.begun = threading.Event()
        """Set once the first sample is there, or it is clear that there will be none."""
        self.rested = threading.Event()
        """Set once, after `end`, a monitor that records has looked again, and any other has ended."""
        self.thread = threading.Thread(target=self._live, name=f"monitor {watch.name}", daemon=True)

    def _live(self) -> None:
        try:
            self._run()
        finally:
            self.rested.set()

    def _run(self) -> None:
        watch = self._watch
        try:
            watch.monitor.open()
        except Exception as problem:
            reason = _said(problem)
            self._tell(f"monitor {watch.name} cannot measure here: {reason}")
            self._lack(reason, True)
            self.begun.set()
            return
        self._ask_for_lacks()
        begin, tick, skipped = time.monotonic_ns(), 0, 0
        while not self._end.is_set():
            self._sample()
            self.begun.set()
            following = max(tick + 1, -(-(time.monotonic_ns() - begin) // watch.every))
            skipped += following - tick - 1
            tick = following
            self._end.wait(max(0, begin + tick * watch.every - time.monotonic_ns()) / 1e9)
        if watch.monitor.records:
            self._read_on()
        if skipped:
            self._tell(f"monitor {watch.name} was too slow for its interval {counted(skipped, 'time')}")
        try:
            watch.monitor.close()
        except Exception as problem:
            self._tell(f"monitor {watch.name} was not closed: {_said(problem)}")

    def _ask_for_lacks(self) -> None:
        try:
            lack = self._watch.monitor.lacks()
        except Exception:  # it says so again when it is sampled
            return
        if lack:
            self._lack(lack, False)

    def _read_on(self) -> None:
        """Record what a server still writes about its operations; samples are no longer taken, since the load is over.

        At once, for monitors that ask the server itself, which will be gone later; and once the servers have ended,
        until nothing more comes at some looks, for DRAIN at most.
        """
        self._sample(keep=False)
        self.rested.set()
        while not self._over.wait(PAUSE):
            self._sample(keep=False)
        until, idle = time.monotonic() + DRAIN, 0
        while idle < LOOKS and time.monotonic() < until:
            before = self._recorded
            self._sample(keep=False)
            idle = 0 if self._recorded > before else idle + 1
            if idle < LOOKS:
                threading.Event().wait(PAUSE)
        if idle < LOOKS:
            told = f"still had operations to record {DRAIN:.0f} s after the servers had ended"
            self._tell(f"monitor {self._watch.name} {told}: the rest is not in the record")

    def _hand_on(self, batch: OperationBatch) -> None:
        self._recorded += len(batch)
        self._serve(batch)

    def _sample(self, *, keep: bool = True) -> None:
        moment = now()
        try:
            samples = _all(Sample, self._watch.monitor.sample(), "sample()")
        except Exception as problem:
            if keep:  # a server that has ended does not answer any more
                self._tell_once(_said(problem))
            samples = []
        self._recording.flush()
        if keep and samples:
            self._take(moment, samples)

    def _tell_once(self, said: str) -> None:
        text = f"monitor {self._watch.name}: {said}"
        if text not in self._problems and len(self._problems) < MOST_PROBLEMS:
            self._problems.add(text)
            self._tell(text)


def _said(problem: Exception) -> str:
    """Return the error of a monitor: expected ones as they are, others with class and the user's line."""
    return str(problem) if isinstance(problem, PileupError) else mistake(problem)


def _all(kind: type[Given], found: object, method: str) -> list[Given]:
    """Return the samples of a monitor. Raises PluginError for values that cannot be recorded."""
    given: list[Any] = list(found) if isinstance(found, Iterable) else [found]
    for each in given:
        if not isinstance(each, kind):
            raise PluginError(f"{method} gave {each!r:.100}", f"only {kind.__name__}s", MEND)
    return given
