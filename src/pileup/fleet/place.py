"""The place in this process: it turns an order into a load under way and gives its frames."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pileup._core._native import Press, Recorder, now
from pileup.fleet.artefacts import ArtefactFolder
from pileup.fleet.asking import Answer, Asking
from pileup.fleet.inflight_file import InflightWriter
from pileup.fleet.ledgers import ledger_of
from pileup.fleet.order import MOST_THREADS, Order, Work, client_to_native
from pileup.fleet.python.client import LoadContext, PythonExecutor, Reported, Sink
from pileup.fleet.python.coroutines import CoroutineExecutor
from pileup.fleet.python.threads import ThreadExecutor
from pileup.model.ending import Ending, EndingKind
from pileup.model.manifest import PlaceEntry
from pileup.model.record import Claimed, Frame, FrameRow

Reports = list[Reported]
"""Numbers that Python tests reported."""
Claims = list[Claimed]
"""Submissions that Python tests claimed."""


class LocalPart:
    """The part of one load in this process. It is made, then `begin` starts it."""

    def __init__(self, place: LocalPlace, order: Order, work: Work, output: Sink, shard: tuple[int, int]) -> None:
        self._place = place
        self._work = work
        self._output = output
        self._shard = shard
        self.order = order
        self.place = place.number
        self._press: Press
        self._artefacts = ArtefactFolder()
        self._asking = Asking(work.answerer) if work.answerer is not None else None
        self._executor: PythonExecutor | None = None
        self._last = self._cpu = 0

    def ready(self) -> None:
        """Return at once: nothing is to be waited for."""

    def begin(self, start: int) -> None:
        """Begin at a time (ns since the epoch; 0: now). Raises ValueError for what the engine refuses."""
        work = self._work
        most, workers = most_clients(work), self._place.workers
        load = self.order.to_native(self.place, *self._shard, start, most, workers=workers)
        self._press = Press(self._place.recorder, load)
        self._last, self._cpu = max(start, now()), time.process_time_ns()
        if work.program is not None:
            self._press.native(client_to_native(work.client), json.dumps(work.program.to_native()))
            return
        kind = CoroutineExecutor if work.coroutine else ThreadExecutor
        here, place = self._artefacts, self._place
        told = place.ledger.ledger, place.board, place.number, place.name
        desk = LoadContext(self.order, self._output, *told, artefacts=here, asking=self._asking)
        self._executor = kind(self._press, desk, work.make)
        self._executor.start()

    lost = False

    @property
    def begun(self) -> bool:
        """Whether it has begun."""
        return self._last > 0

    @property
    def over(self) -> bool:
        """Whether nothing more starts and nothing is under way."""
        return self._press.over

    @property
    def ending(self) -> Ending:
        """How it ended; as finished while it goes on."""
        if self._executor and self._executor.ending.early:
            return self._executor.ending
        kind, why = self._press.ending
        return Ending(EndingKind(kind), why)

    def wait(self, seconds: float) -> bool:
        """Block up to that long; True when the load is over."""
        return self._press.wait(seconds, self._executor.give_up if self._executor else None)

    def stop(self, at_once: bool = False) -> None:
        """Start nothing more; `at_once` also gives up what is under way (recorded as unfinished)."""
        if self._executor:
            self._press.stop(False)
            self._executor.stop()
        try:
            if at_once and self._executor:
                self._executor.give_up()  # which says more than that it was under way
        finally:
            self._press.stop(at_once)
            if at_once and self._asking:
                self._asking.close("the load was ended")

    def answer(self, answers: Sequence[Answer]) -> None:
        """Pass on what the coordinator of the load answers its clients."""
        if self._asking:
            self._asking.answer(answers)

    def set_level(self, level: float, at: int) -> None:
        """Change the level of a steered load, of the whole of it, from a time on (ns since the epoch)."""
        self._press.set_level(level, at)

    def frame(self) -> Frame:
        """Return what happened since the last frame."""
        plain = self._press.frame()
        moment, cpu = now(), time.process_time_ns()
        rows = tuple(FrameRow(**row) for row in plain.pop("rows"))
        plain["nanoseconds"] = max(1, moment - self._last)
        frame = Frame(time=moment, place=self.place, case=self.order.case, cpu=cpu - self._cpu, rows=rows, **plain)
        self._last, self._cpu = moment, cpu
        return frame

    def frames(self) -> list[Frame]:
        """Return the frame of now."""
        return [self.frame()]

    def reported(self) -> Reports:
        """Return what Python tests reported since the last call."""
        return self._executor.reported() if self._executor else []

    def claimed(self) -> Claims:
        """Return what Python tests claimed since the last call."""
        return self._executor.claimed() if self._executor else []

    def settle(self) -> None:
        """Do nothing: this process is never lost to itself."""

    def abandon(self) -> None:
        """Give it up, whether it has begun or not."""
        if self.begun:
            self.stop(True)

    def close(self) -> None:
        """Let the clients go once the load is over."""
        if self._asking:
            self._asking.close()
        if self._executor:
            self._executor.close()
        self._artefacts.bring_home(partial(self._output.keep, self.place), self._output.note)


class LocalPlace:
    """This process as a place: any number of loads, `close` once."""

    lost = ""
    """This process is never lost to itself."""

    def __init__(self, number: int, table: Path, workers: int = 1) -> None:
        self.number = number
        self.name = "local"
        self.workers = workers
        """Threads that native tests are pressed from, at most."""
        self.recorder = Recorder(str(table), number)
        self.ledger = ledger_of(self.recorder, number)
        self.board: InflightWriter | None = None
        """Where iterations of Python tests under way are noted; nowhere by default."""

    def entry(self) -> PlaceEntry:
        """Return what run.json says of the place; offset and error of its clock in ns."""
        return PlaceEntry(self.number, self.name, socket.gethostname(), self.workers)

    def prepare(self, order: Order, work: Work, output: Sink, shard: tuple[int, int] = (0, 1)) -> LocalPart:
        """Return a part of a load, to be begun: shard (number from 0, of how many)."""
        return LocalPart(self, order, work, output, shard)

    def margin(self) -> int:
        """Return how long before its start a load must be reported, ns."""
        return 0

    def flush(self) -> None:
        """Bring every row so far into the record. Raises OSError when the disk refuses."""
        self.recorder.flush()

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""
        return self.ledger.frames()

    def close(self) -> None:
        """End the record of this place; detached operations that are open are unfinished."""
        self.ledger.close()
        self.recorder.close()


def most_clients(work: Work) -> int | None:
    """Return the most clients of an open load that does not say, None for the engine's own number."""
    return MOST_THREADS if work.program is None and not work.coroutine else None
