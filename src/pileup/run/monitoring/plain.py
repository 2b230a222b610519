"""Monitors of a host without pileup: sampled here, as those of this machine, from what a shell there prints."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from pileup.model.errors import TargetError
from pileup.model.record import Sample, SampleRow
from pileup.run.monitoring.far_proc import FarProc
from pileup.run.monitoring.sampler import Sampler, Watch


class Keeper(Protocol):
    """Where samples go."""

    def keep(self, rows: list[SampleRow]) -> None:
        """Keep samples."""


class PlainHost:
    """Samples monitors that read /proc alone. `tell` gets what goes wrong, `note` each loss and return of the host."""

    def __init__(
        self,
        host: str,
        ssh: str | None,
        watches: Sequence[Watch],
        *,
        home: Keeper,
        tell: Callable[[str], None],
        note: Callable[[str], None],
    ) -> None:
        self._proc = FarProc(host, ssh, note)
        self._watches = watches
        self._home = home
        self._tell = tell

    def run(self, rest: threading.Event, end: threading.Event, again: float) -> None:
        """Sample until `rest`; return at `end`. A host that is not reached is tried again after so many s."""
        samplers: dict[str, Sampler] = {}
        try:
            while not rest.is_set() and not end.is_set():
                self._sample(samplers, rest)
                rest.wait(again)
            for sampler in samplers.values():
                sampler.thread.join(2)
        finally:
            self._proc.close()

    def _sample(self, samplers: dict[str, Sampler], rest: threading.Event) -> None:
        """Begin to sample, and begin again with what could not while its host was lost."""
        try:
            if not samplers:
                self._proc.open()
        except TargetError as problem:
            self._tell(str(problem))
            return
        for watch in self._watches:
            sampler = samplers.get(watch.name)
            if sampler is None or not sampler.thread.is_alive():
                watch.monitor.proc = self._proc
                samplers[watch.name] = Sampler(watch, partial(self._take, watch.name), self._tell, rest)
                samplers[watch.name].thread.start()

    def _take(self, monitor: str, moment: int, samples: list[Sample]) -> None:
        self._home.keep([SampleRow(moment, monitor, self._proc.name, sample) for sample in samples])
