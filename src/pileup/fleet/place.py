"""The place in this process: it turns an order into a load under way and gives its frames."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

from pileup._core._native import Press, Recorder, now
from pileup.fleet.client import PythonExecutor
from pileup.fleet.coroutines import CoroutineExecutor
from pileup.fleet.order import Order, Work
from pileup.fleet.threads import ThreadExecutor
from pileup.model.record import Frame, FrameRow
from pileup.record import Output, RunFolder

MOST_THREADS = 64
"""Clients in flight of an open load of a plain Python test that does not say: more only wait for the interpreter."""


class Pressing:
    """One load under way at one place."""

    def __init__(self, press: Press, order: Order, place: int, executor: PythonExecutor | None) -> None:
        self._press = press
        self._executor = executor
        self.order = order
        self.place = place
        self._last = now()
        self._cpu = time.process_time_ns()

    @property
    def over(self) -> bool:
        """Whether nothing more starts and nothing is under way."""
        return self._press.over

    @property
    def reason(self) -> str:
        """Why it stopped early, empty when it did not."""
        return self._press.reason

    @property
    def mistake(self) -> str:
        """What went wrong in the set-up of a client, empty when nothing did."""
        return self._executor.mistake if self._executor else ""

    def wait(self, seconds: float) -> bool:
        """Block up to that long; True when the load is over."""
        return self._press.wait(seconds)

    def stop(self, at_once: bool = False) -> None:
        """Start nothing more; `at_once` also gives up what is under way (recorded as unfinished)."""
        self._press.stop(at_once)

    def frames(self) -> list[Frame]:
        """Return what happened since the last call, a frame for each place."""
        return [self.frame()]

    def frame(self) -> Frame:
        """Return what happened since the last frame."""
        plain = self._press.frame()
        moment, cpu = now(), time.process_time_ns()
        rows = tuple(FrameRow(**row) for row in plain.pop("rows"))
        plain["nanoseconds"] = moment - self._last
        frame = Frame(time=moment, place=self.place, case=self.order.case, cpu=cpu - self._cpu, rows=rows, **plain)
        self._last, self._cpu = moment, cpu
        return frame

    def reported(self) -> list[tuple[int, str, float, str]]:
        """Return what Python tests reported since the last call: (ns since the epoch, metric, value, unit)."""
        return self._executor.reported() if self._executor else []

    def close(self) -> None:
        """Let the clients go once the load is over."""
        if self._executor:
            self._executor.close()


class LocalPlace:
    """This process as a place: `press` any number of loads, `close` once."""

    def __init__(self, number: int, folder: RunFolder) -> None:
        self.number = number
        self.name = "local"
        self._recorder = Recorder(str(folder.operations_path(number)), number)

    def info(self) -> dict[str, Any]:
        """Return what run.json says of it."""
        return {"number": self.number, "name": self.name, "host": socket.gethostname(), "offset": 0, "error": 0}

    def press(self, order: Order, work: Work, output: Output) -> Pressing:
        """Begin a load; it runs on threads of its own.

        Raises ValueError for a load or program that the engine refuses.
        """
        threads = MOST_THREADS if work.program is None and not work.coroutine else None
        press = Press(self._recorder, order.to_native(self.number, shard=0, shards=1, start=0, most=threads))
        executor = self._executor(press, order, work, output)
        pressing = Pressing(press, order, self.number, executor)
        if executor:
            executor.start()
        else:
            press.native(_client(work), json.dumps(work.program.to_native() if work.program else {}))
        return pressing

    @staticmethod
    def _executor(press: Press, order: Order, work: Work, output: Output) -> PythonExecutor | None:
        if work.program is not None:
            return None
        kind = CoroutineExecutor if work.coroutine else ThreadExecutor
        executor: PythonExecutor = kind(press, order, work.make, output)
        return executor

    def flush(self) -> None:
        """Bring every row so far into the record. Raises OSError when the disk refuses."""
        self._recorder.flush()

    def close(self) -> None:
        """End the record of this place."""
        self._recorder.close()


def _client(work: Work) -> str:
    plain: dict[str, Any] = {"protocol": "noop", "settings": {}}
    if work.client:
        plain = {"protocol": work.client.protocol, "settings": work.client.settings}
    return json.dumps(plain)
