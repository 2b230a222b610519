"""Runs a plain Python test: one thread per client, each pulls its starts from the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pileup._core._native import Op, Press
from pileup.fleet.python.client import Bracket, Desk, PythonExecutor, tear_down
from pileup.model.record import Outcome
from pileup.plugin import Test
from pileup.plugin.verdict import verdict_of, verdict_on


class ThreadExecutor(PythonExecutor):
    """Threads over one press. A thread that hangs is left behind; its iteration is recorded as unfinished."""

    def __init__(self, press: Press, desk: Desk, make: Callable[[int], Test]) -> None:
        super().__init__(press, desk, make)
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to give threads to clients as they are wanted; the only client of a check has the first one itself."""
        self._begin(self._spawn if self.desk.order.load.sustained else self._spawn_one, "spawner")

    def close(self) -> None:
        """Wait a moment for the threads that have nothing to do any more."""
        for thread in self._threads:
            thread.join(0.2)

    def _begin(self, target: Callable[..., None], name: str, *arguments: int) -> None:
        thread = threading.Thread(target=target, args=arguments, name=f"{self.desk.order.name} {name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _spawn(self) -> None:
        while (client := self.press.spawn()) is not None:
            self._begin(self._serve, f"client {client}", client)

    def _spawn_one(self) -> None:
        if (client := self.press.spawn()) is not None:
            self._serve(client)

    def _serve(self, client: int) -> None:
        seat = self.press.seat(client)
        test = self.set_up(client)
        bracket = Bracket(self.desk)
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
    def _iterate(test: Test, op: Op, bracket: Bracket) -> None:
        try:
            result = test.run(op)
        except BaseException as problem:
            bracket.end(op, verdict_on(problem))
        else:
            bracket.end(op, None if result is None else verdict_of(result))
