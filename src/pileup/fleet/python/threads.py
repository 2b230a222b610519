"""Runs a plain Python test: one thread per client, each pulls its starts from the engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from pileup._core._native import Op, Press, Seat
from pileup.fleet.python.client import IterationScope, LoadContext, PythonExecutor
from pileup.fleet.python.stacks import Stack, stack_of_thread, stacks_of_threads
from pileup.model.record import Outcome
from pileup.plugin import Test
from pileup.plugin.verdict import verdict_of

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
        self._served: dict[int, tuple[int, Seat]] = {}
        """Client -> its thread and its seat."""
        self._stopped = False

    def start(self) -> None:
        """Begin to give threads to clients as they are wanted; the only client of a check has the first one itself."""
        self._begin(self._spawn if self.desk.order.load.sustained else self._spawn_one, "spawner")

    def under_way(self) -> Iterator[tuple[Op, Stack]]:
        """Yield the iterations under way, with where their threads are."""
        found = [(op, thread) for thread, seat in list(self._served.values()) if (op := seat.under_way) is not None]
        yield from zip([op for op, _ in found], stacks_of_threads(thread for _, thread in found), strict=True)

    def close(self) -> None:
        """Wait a moment for the threads that have nothing to do any more."""
        for thread in self._threads:
            thread.join(0.2)
        self.tracebacks.close()

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
        bracket = IterationScope(self.desk)
        test = self._set_up(client, bracket)
        if early := self._early.get(client):
            early.there.set()
            early.wanted.wait()
        self.name(test)
        self._served[client] = threading.get_ident(), seat
        while (op := seat.next()) is not None:
            if bracket.notes:
                bracket.begin(op)
            if test is not None:
                self._iterate(test, op, bracket)
            else:
                bracket.end(op, (Outcome.FAILED, str(self.ending)))
        if test is not None:
            self._tear_down(client, test, bracket)
        self.left(client)
        bracket.close()

    def _set_up(self, client: int, bracket: IterationScope) -> Test | None:
        """Make the test of a client; None ends the load, `ending` says why."""
        self.setting_up[client] = partial(stack_of_thread, threading.get_ident())
        try:
            test = self.made(client)
            test.setup()
        except BaseException as problem:
            self.set_up_failed(client, problem)
            return None
        finally:
            del self.setting_up[client]
            bracket.write(f"setup of client {client}")
        return test

    def _tear_down(self, client: int, test: Test, bracket: IterationScope) -> None:
        try:
            test.teardown()
        except Exception as problem:
            self.tear_down_failed(client, problem)
        bracket.write(f"teardown of client {client}")

    def _iterate(self, test: Test, op: Op, bracket: IterationScope) -> None:
        try:
            test.under_way = op
            result = test.run(op)
        except BaseException as problem:
            bracket.end(op, self.failed(op, problem))
        else:
            bracket.end(op, None if result is None else verdict_of(result))
