"""Runs a plain Python test: one thread per client, each pulls its starts from the engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pileup._core._native import Op, Press
from pileup.fleet.python.client import IterationScope, LoadContext, PythonExecutor, tear_down
from pileup.model.record import Outcome
from pileup.plugin import Test
from pileup.plugin.verdict import verdict_of, verdict_on

OPENING = 10.0
"""Longest time that setting up clients may delay a load, s."""


@dataclass(frozen=True, slots=True)
class Early:
    """A client that is set up before the load begins."""

    there: threading.Event = field(default_factory=threading.Event)
    """Its set-up is over."""
    wanted: threading.Event = field(default_factory=threading.Event)
    """It has something to begin, or never will."""


class ThreadExecutor(PythonExecutor):
    """Threads over one press. A thread that hangs is left behind; its iteration is recorded as unfinished."""

    def __init__(self, press: Press, desk: LoadContext, make: Callable[[int], Test]) -> None:
        super().__init__(press, desk, make)
        self._threads: list[threading.Thread] = []
        self._early: dict[int, Early] = {}
        self._stopped = False

    def start(self) -> None:
        """Begin to give threads to clients as they are wanted; the only client of a check has the first one itself."""
        self._begin(self._spawn if self.desk.order.load.sustained else self._spawn_one, "spawner")

    def close(self) -> None:
        """Wait a moment for the threads that have nothing to do any more."""
        for thread in self._threads:
            thread.join(0.2)

    def stop(self) -> None:
        """Wait no more for clients that are set up before the load begins."""
        self._stopped = True
        for early in list(self._early.values()):
            early.there.set()

    def _begin(self, target: Callable[..., None], name: str, *arguments: int) -> None:
        thread = threading.Thread(target=target, args=arguments, name=f"{self.desk.order.name} {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _spawn(self) -> None:
        self._set_up_early()
        while (client := self.press.spawn()) is not None:
            if client in self._early:
                self._early[client].wanted.set()
            else:
                self._begin(self._serve, f"client {client}", client)
        for early in self._early.values():
            early.wanted.set()

    def _set_up_early(self) -> None:
        self._early = {client: Early() for client in self.early()}
        for client in self._early:
            self._begin(self._serve, f"client {client}", client)
        until = time.monotonic() + min(OPENING, self.desk.order.timeout / 1e9)
        for early in self._early.values():
            early.there.wait(0.0 if self._stopped else max(0.0, until - time.monotonic()))

    def _spawn_one(self) -> None:
        if (client := self.press.spawn()) is not None:
            self._serve(client)

    def _serve(self, client: int) -> None:
        seat = self.press.seat(client)
        test = self.set_up(client)
        if early := self._early.get(client):
            early.there.set()
            early.wanted.wait()
        self.name(test)
        bracket = IterationScope(self.desk)
        while (op := seat.next()) is not None:
            if bracket.notes:
                bracket.begin(op)
            if test is not None:
                self._iterate(test, op, bracket)
            else:
                bracket.end(op, (Outcome.FAILED, str(self.ending)))
        bracket.close()
        if test is not None:
            tear_down(test, self.desk.output)

    @staticmethod
    def _iterate(test: Test, op: Op, bracket: IterationScope) -> None:
        try:
            test.iteration = op.number
            result = test.run(op)
        except BaseException as problem:
            bracket.end(op, verdict_on(problem))
        else:
            bracket.end(op, None if result is None else verdict_of(result))
