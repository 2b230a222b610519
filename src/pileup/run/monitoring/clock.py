"""The monitors' clock: a thread samples each monitor at its interval, for the life of the run."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from pileup.model.errors import RecordError
from pileup.model.plan import Plan
from pileup.model.record import Sample, SampleRow
from pileup.model.timed import OperationBatch
from pileup.record import RunFolder
from pileup.record.served import NOBODY, Source
from pileup.run.monitoring.remote import FarHost
from pileup.run.monitoring.sampler import DRAIN, Sampler, Watch

__all__ = ["MonitorClock", "Watch"]

FIRST = 5.0
"""Seconds in which monitors of this machine take their first sample before the load begins."""
FIRST_FAR = 20.0
"""The same of monitors of other hosts that record what servers do."""


class MonitorClock:
    """Samples on absolute ticks; a monitor that takes longer than its interval skips ticks and says so once.

    Monitors with a host are sampled there; for these the plan is needed, and they are in the order of its monitors.
    Recorded operations of servers get `place`, the first of the session, and the number of their target from `index`.
    `lack` is called for monitors that cannot measure everything, with the reason, and whether nothing can be measured.
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
        self._host = socket.gethostname()
        self._lock = threading.Lock()
        self._rows: list[SampleRow] = []
        self._targets = {watch.name: watch.serves or watch.target for watch in watches}
        self._end, self._over = threading.Event(), threading.Event()
        here = [watch for watch in watches if watch.host is None and watch.covered]
        samplers = [
            Sampler(
                watch,
                partial(self._take, watch.name),
                self.tell,
                self._end,
                partial(self.serve, watch.name),
                lack=partial(lack, watch),
                over=self._over,
            )
            for watch in here
        ]
        self._recording = [watch.name for watch in watches if watch.host and watch.covered and watch.monitor.records]
        self._begun = {watch.name: sampler.begun for watch, sampler in zip(here, samplers, strict=True)}
        self._threads = [(sampler.thread, sampler.rested) for sampler in samplers]
        hosts = dict.fromkeys(watch.host for watch in watches if watch.host)
        self._far = [
            FarHost(
                host,
                plan,
                [at for at, watch in enumerate(watches) if watch.host == host],
                self,
                [watch for watch in watches if watch.host == host],
            )
            for host in hosts
            if plan is not None
        ]

    def start(self) -> None:
        """Begin to sample; return when monitors of this machine have their first sample, and those of other hosts that
        record what servers do follow it, after some s at the latest.

        What a server counts is reported from the first sample on: a load that began before it would miss it.
        """
        for thread, _ in self._threads:
            thread.start()
        for host in self._far:
            host.start()
        begin = time.monotonic()
        far = {name: begun for host in self._far for name, begun in host.begun.items() if name in self._recording}
        for name, begun in (self._begun | far).items():
            end = begin + (FIRST_FAR if name in far else FIRST)
            if not begun.wait(max(0.0, end - time.monotonic())):
                self.tell(f"monitor {name} had no sample yet when the load began: what came before it is not counted")

    def add(self, monitor: str, moment: int, sample: Sample, iteration: int = -1) -> None:
        """Keep a number that came from elsewhere, such as a test that reported it in an iteration."""
        self.keep([SampleRow(moment, monitor, self._host, sample, None if iteration < 0 else iteration)])

    def write(self) -> None:
        """Bring what was sampled so far into the record."""
        with self._lock:
            rows, self._rows = self._rows, []
        if rows:
            self._folder.append_samples(rows)

    def rest(self) -> None:
        """End sampling, and wait a moment for it; monitors that record what servers did look once more, while the
        servers are there to be asked, and go on to read what these log.
        """
        self._end.set()
        for host in self._far:
            host.rest()
        for thread, rested in self._threads:
            if thread.ident is not None:
                rested.wait(2)
        self.write()

    def stop(self) -> None:
        """End the monitors, once the servers have ended: what these did is read to its end. Write the rest."""
        self.rest()
        self._over.set()
        for host in self._far:
            host.stop()
        for thread, _ in self._threads:
            if thread.ident is not None:
                thread.join(DRAIN + 2)
        self.write()

    def _take(self, monitor: str, moment: int, samples: list[Sample]) -> None:
        self.keep([SampleRow(moment, monitor, self._host, sample) for sample in samples])

    def serve(self, monitor: str, batch: OperationBatch, ahead: int = 0) -> None:
        """Keep what a monitor recorded, by a clock that is so many ns before ours. Raises RecordError."""
        target = self._targets.get(monitor, "")
        source = Source(monitor, self._index(target) if target else NOBODY, ahead)
        self._folder.append_recorded(batch, source, self._place)

    def keep(self, rows: list[SampleRow]) -> None:
        """Keep samples."""
        with self._lock:
            self._rows.extend(rows)

    def tell(self, text: str) -> None:
        """Note what goes wrong as an event."""
        with suppress(RecordError):  # a full disk is noticed where it ends the run
            self._folder.event("monitor", text)
