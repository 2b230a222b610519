"""The monitors' clock: each monitor sampled at its interval by a thread of its own, for the life of the run."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass

from pileup._core._native import now
from pileup.model.record import Sample, SampleRow
from pileup.plugin import Monitor
from pileup.record import RunFolder


@dataclass(frozen=True, slots=True)
class Watch:
    """A monitor with its name in the run and its interval in ns."""

    name: str
    monitor: Monitor
    every: int
    host: str | None = None
    """Where it is measured; None: here."""


class MonitorClock:
    """Samples on absolute ticks; a monitor that takes longer than its interval skips ticks and says so once."""

    def __init__(self, watches: list[Watch], folder: RunFolder) -> None:
        self._watches = watches
        self._folder = folder
        self._host = socket.gethostname()
        self._lock = threading.Lock()
        self._rows: list[SampleRow] = []
        self._end = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(watch,), name=f"monitor {watch.name}", daemon=True)
            for watch in watches
        ]

    def start(self) -> None:
        """Begin to sample."""
        for thread in self._threads:
            thread.start()

    def add(self, monitor: str, moment: int, sample: Sample) -> None:
        """Keep a number that came from elsewhere, such as a test that reported it."""
        with self._lock:
            self._rows.append(SampleRow(moment, monitor, self._host, sample))

    def write(self) -> None:
        """Bring what was sampled so far into the record."""
        with self._lock:
            rows, self._rows = self._rows, []
        if rows:
            self._folder.append_samples(rows)

    def stop(self) -> None:
        """End the monitors, wait a moment for them, and write the rest."""
        self._end.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(2)
        self.write()

    def _run(self, watch: Watch) -> None:
        try:
            watch.monitor.open()
        except Exception as problem:
            self._folder.event("monitor", f"monitor {watch.name} cannot measure here: {problem}")
            return
        problems: set[str] = set()
        begin, tick, skipped = time.monotonic_ns(), 0, 0
        while not self._end.is_set():
            self._sample(watch, problems)
            following = max(tick + 1, -(-(time.monotonic_ns() - begin) // watch.every))
            skipped += following - tick - 1
            tick = following
            self._end.wait(max(0, begin + tick * watch.every - time.monotonic_ns()) / 1e9)
        if skipped:
            self._folder.event("monitor", f"monitor {watch.name} was too slow for its interval {skipped} times")
        watch.monitor.close()

    def _sample(self, watch: Watch, problems: set[str]) -> None:
        moment = now()
        try:
            rows = [SampleRow(moment, watch.name, self._host, sample) for sample in watch.monitor.sample()]
        except Exception as problem:
            text = f"monitor {watch.name}: {type(problem).__name__}: {problem}"
            if text not in problems and len(problems) < 20:
                problems.add(text)
                self._folder.event("monitor", text)
            return
        with self._lock:
            self._rows.extend(rows)
