"""The monitors' clock: each monitor sampled at its interval by a thread of its own, for the life of the run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from pileup.model.errors import RecordError
from pileup.model.plan import Plan
from pileup.model.record import Sample, SampleRow, ServerOperation
from pileup.record import RunFolder
from pileup.run.monitoring.remote import FarHost
from pileup.run.monitoring.sampler import Sampler, Watch

__all__ = ["MonitorClock", "Watch"]

FIRST = 5.0
"""Seconds in which monitors of this machine take their first sample before the load begins."""


class MonitorClock:
    """Samples on absolute ticks; a monitor that takes longer than its interval skips ticks and says so once.

    Monitors with a host are sampled there; for these the plan is needed, and they stand in the order of its monitors.
    What servers say that they did is kept with `place`, the first of the session, and the number of their target, which
    `index` tells. `lack` is told of monitors that cannot measure, or not all, why, and whether that is all of it.
    """

    def __init__(
        self,
        watches: list[Watch],
        folder: RunFolder,
        plan: Plan | None = None,
        place: int = 0,
        index: Callable[[str], int] = lambda target: 0,
        *,
        lack: Callable[[Watch, str, bool], None] = lambda watch, reason, whole: None,
    ) -> None:
        self._folder = folder
        self._place = place
        self._index = index
        self._served: dict[str, list[ServerOperation]] = {}
        self._host = socket.gethostname()
        self._lock = threading.Lock()
        self._rows: list[SampleRow] = []
        self._end = threading.Event()
        here = [watch for watch in watches if watch.host is None and watch.covered]
        samplers = [
            Sampler(
                watch,
                partial(self._take, watch.name),
                self._tell,
                self._end,
                partial(self._serve, watch.target),
                lack=partial(lack, watch),
            )
            for watch in here
        ]
        self._begun = {watch.name: sampler.begun for watch, sampler in zip(here, samplers, strict=True)}
        self._threads = [sampler.thread for sampler in samplers]
        hosts = dict.fromkeys(watch.host for watch in watches if watch.host)
        self._far = [
            FarHost(host, plan, [at for at, watch in enumerate(watches) if watch.host == host], self._keep, self._tell)
            for host in hosts
            if plan is not None
        ]

    def start(self) -> None:
        """Begin to sample; return when monitors of this machine have their first sample, after a few s at the latest.

        What a server counts is told from the first sample on: a load that began before it would lack in the figures.
        """
        for thread in self._threads:
            thread.start()
        for host in self._far:
            host.start()
        end = time.monotonic() + FIRST
        for name, begun in self._begun.items():
            if not begun.wait(max(0.0, end - time.monotonic())):
                self._tell(f"monitor {name} had no sample yet when the load began: what came before it is not counted")

    def add(self, monitor: str, moment: int, sample: Sample, iteration: int = -1) -> None:
        """Keep a number that came from elsewhere, such as a test that reported it in an iteration."""
        self._keep([SampleRow(moment, monitor, self._host, sample, None if iteration < 0 else iteration)])

    def write(self) -> None:
        """Bring what was sampled so far into the record."""
        with self._lock:
            rows, self._rows = self._rows, []
            served, self._served = self._served, {}
        if rows:
            self._folder.append_samples(rows)
        for target, found in served.items():
            self._folder.append_server_operations(found, self._place, self._index(target) if target else None)

    def stop(self) -> None:
        """End the monitors, wait a moment for them, and write the rest."""
        self._end.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(2)
        for host in self._far:
            host.stop()
        self.write()

    def _take(self, monitor: str, moment: int, samples: list[Sample]) -> None:
        self._keep([SampleRow(moment, monitor, self._host, sample) for sample in samples])

    def _serve(self, target: str, found: list[ServerOperation]) -> None:
        with self._lock:
            self._served.setdefault(target, []).extend(found)

    def _keep(self, rows: list[SampleRow]) -> None:
        with self._lock:
            self._rows.extend(rows)

    def _tell(self, text: str) -> None:
        with suppress(RecordError):  # a full disk is noticed where it ends the run
            self._folder.event("monitor", text)
