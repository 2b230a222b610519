"""A fault injected into one load: a thread that waits for its time, breaks something, and undoes it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

from pileup._core._native import now
from pileup.model.errors import PileupError, RecordError, TargetError
from pileup.model.suite import FaultSpec
from pileup.model.units import format_time
from pileup.record import RunFolder
from pileup.run.servers import commands, disks
from pileup.run.servers.processes import MARK
from pileup.run.servers.supervisor import Supervisor

COMMAND_WITHIN = 3600 * 10**9
"""Longest time that a command may take, ns; it ends with the load in any case."""
PERIOD = 0.5
"""Seconds in which a slow server runs and is stopped once."""
GRACE = 5.0
"""Seconds that a command may go on after the load."""

After = Callable[[int, str], None]
"""Called with the number of a fault in the suite's list, and its test, as soon as it is over and undone."""


class Fault:
    """`begin` when the load begins; `ask_to_end` and `end` when it has ended."""

    def __init__(
        self,
        number: int,
        spec: FaultSpec,
        test: str,
        supervisor: Supervisor,
        folder: RunFolder,
        *,
        after: After = lambda number, test: None,
    ) -> None:
        self._number = number
        self._spec = spec
        self._test = test
        self._supervisor = supervisor
        self._folder = folder
        self._after = after
        self._over = threading.Event()
        self._problem = ""
        self._gone: int | None = None
        """When all processes of the server had been ended or stopped, by the engine's clock."""
        self._thread = threading.Thread(target=self._main, name=f"fault {spec.do}", daemon=True)

    def begin(self) -> None:
        """Count its time from now."""
        self._due = time.monotonic() + self._spec.at / 1e9
        self._thread.start()

    def ask_to_end(self) -> None:
        """Signal that the load is over."""
        self._over.set()

    def end(self) -> str:
        """Wait until all is undone; return what did not happen as the suite says, empty when all did."""
        self._thread.join()
        return self._problem

    def _main(self) -> None:
        if self._over.wait(max(0.0, self._due - time.monotonic())):
            self._problem = f"{self._words()} did not happen: the load of {self._test} was over before"
            self._tell(now(), self._problem, "did not happen")
            return
        begin = now()
        mark = uuid4().hex
        spec = self._spec
        about = {"fault": self._number, "target": spec.target, "do": spec.do, "test": self._test, "mark": mark}
        try:
            entry = self._folder.journal("fault", "begun", **about)
            begin = now()  # the disk may have taken its time
            try:
                self._acts()[self._spec.do](mark)
            finally:
                lasted = now() - begin
                with suppress(RecordError):
                    self._folder.journal("fault", "ended", of=entry)
        except (PileupError, OSError, ValueError) as problem:
            self._problem = f"{self._words()} failed: {problem}"
            self._tell(begin, self._problem, "failed")
        else:
            self._tell(begin, f"{self._words()} lasted {format_time(lasted)}", "done", lasted=lasted)
        self._after(self._number, self._test)

    def _acts(self) -> dict[str, Callable[[str], None]]:
        return {
            "restart": self._restart,
            "kill": self._kill,
            "pause": self._pause,
            "continue": self._continue,
            "slow": self._slow,
            "limit": self._limit,
            "fill": self._fill,
            "command": self._command,
        }

    def _restart(self, _mark: str) -> None:
        self._supervisor.kill(self._name, _number(self._spec.signal))
        self._is_gone()
        self._supervisor.restart(self._name)

    def _kill(self, _mark: str) -> None:
        if not self._supervisor.alive(self._name):
            raise TargetError(f"the server of {self._name} does not run", "one to be killed", "`for` starts it again")
        chosen = "signal" in self._spec.model_fields_set
        self._supervisor.kill(self._name, _number(self._spec.signal) if chosen else signal.SIGKILL)
        self._is_gone()
        if self._spec.for_ is not None:
            self._over.wait(self._spec.for_ / 1e9)
            self._supervisor.restart(self._name)

    def _pause(self, _mark: str) -> None:
        """Without a time it lasts until another fault continues it, at most as long as the load."""
        begin = time.monotonic()
        self._supervisor.pause(self._name)
        self._is_gone()
        try:
            self._wait_paused(begin)
        finally:
            self._supervisor.go_on(self._name)

    def _wait_paused(self, begin: float) -> None:
        if self._spec.for_ is not None:
            self._over.wait(max(0.0, begin + self._spec.for_ / 1e9 - time.monotonic()))
            return
        while self._supervisor.paused(self._name) and not self._over.wait(0.05):
            pass

    def _is_gone(self) -> None:
        """Record that nothing answers from now on; for one process of several only the load can show that."""
        if "." not in self._name:
            self._gone = now()

    def _continue(self, _mark: str) -> None:
        self._supervisor.go_on(self._name)

    def _slow(self, _mark: str) -> None:
        """In each period it runs for a share of the time, and is stopped for the rest."""
        if not self._supervisor.alive(self._name):
            raise TargetError(f"the server of {self._name} does not run", "one to be slowed", "start it before")
        runs = PERIOD * (self._spec.speed or 0.0)
        until = time.monotonic() + self._lasting if self._lasting is not None else None
        while not self._over.is_set() and (until is None or time.monotonic() < until):
            self._supervisor.pause(self._name)
            try:
                self._over.wait(PERIOD - runs)
            finally:
                self._supervisor.go_on(self._name)
            self._over.wait(runs)

    def _limit(self, _mark: str) -> None:
        if not self._supervisor.alive(self._name):
            raise TargetError(f"the server of {self._name} does not run", "one to be limited", "`for` lifts the limit")
        limits = self._supervisor.limit(self._name, self._spec.files or 1)
        try:
            self._over.wait(self._lasting)
        finally:
            limits.lift()

    def _fill(self, _mark: str) -> None:
        """The disk is full until the end of its time; what the server frees meanwhile is taken too."""
        until = time.monotonic() + self._lasting if self._lasting is not None else None

        def over(seconds: float) -> bool:
            return self._over.wait(seconds) or (until is not None and time.monotonic() >= until)

        disks.keep_full(self._supervisor.disk(self._name), over)

    def _command(self, mark: str) -> None:
        words = commands.words_of(self._spec.run or "", {})
        environment = self._supervisor.environment(self._name) if self._name else {}
        given = {**environment, MARK: mark}
        done = commands.run(words, COMMAND_WITHIN, given, given_up=self._given_up(), whole=True)
        if not done.good:
            raise TargetError(f"{words[0]} {done.told()}", "code 0, before the load is over")

    def _given_up(self) -> Callable[[], bool]:
        """Return a function that says whether the load has been over for longer than a command may go on."""
        since: list[float] = []

        def given_up() -> bool:
            if self._over.is_set() and not since:
                since.append(time.monotonic())
            return bool(since) and time.monotonic() - since[0] > GRACE

        return given_up

    @property
    def _lasting(self) -> float | None:
        """Seconds; None: as long as the load."""
        return None if self._spec.for_ is None else self._spec.for_ / 1e9

    @property
    def _name(self) -> str:
        return self._spec.target or ""

    def _words(self) -> str:
        whom = self._spec.target or (self._spec.run or "").partition(" ")[0]
        return f"{self._spec.do} of {whom} at {format_time(self._spec.at)} of {self._test}"

    def _tell(self, begin: int, text: str, outcome: str, lasted: int | None = None) -> None:
        """Write the event: `says` is the fault in words, `lasted` in ns how long it lasted."""
        spec = self._spec
        about = {"do": spec.do, "target": spec.target, "test": self._test, "outcome": outcome}
        which = {"fault": self._number, "name": spec.name or str(self._number + 1)}
        which |= {"says": self._words()} | ({} if lasted is None else {"lasted": lasted})
        which |= {} if self._gone is None else {"gone": self._gone}
        with suppress(RecordError):
            self._folder.event("fault", text, begin=begin, end=now(), **about, **which)


def _number(name: str) -> int:
    return int(getattr(signal, f"SIG{name}"))
