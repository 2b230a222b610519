"""Monitors at another host: a place there samples them, with its clock set to ours."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from pileup._core._native import now
from pileup.fleet.connection import Connection, NoPileup
from pileup.fleet.launch import by_ssh
from pileup.fleet.opening import python_files
from pileup.fleet.wire import Message, WireError
from pileup.model.errors import PileupError, RecordError
from pileup.model.plan import Plan
from pileup.model.record import Sample, SampleRow
from pileup.model.timed import OperationBatch
from pileup.run.monitoring.plain import PlainHost
from pileup.run.monitoring.sampler import DRAIN, Watch


class Home(Protocol):
    """Where things go that come from another host."""

    def keep(self, rows: list[SampleRow]) -> None:
        """Keep samples."""

    def serve(self, monitor: str, batch: OperationBatch, ahead: int = 0) -> None:
        """Keep what a monitor recorded, by a clock that is so many ns before ours. Raises RecordError."""

    def tell(self, text: str) -> None:
        """Note what goes wrong."""


BEAT = 1.0
"""Seconds between pings."""
AGAIN = 10.0
"""Seconds before a host that was lost is tried again."""


class FarHost:
    """One host with the monitors that are sampled there, given by their places in the suite's list.

    A host that cannot be reached, or is lost, is reported once and retried until the run ends. Without pileup there,
    monitors of `watches` that only read /proc are sampled from here.
    """

    def __init__(
        self,
        host: str,
        plan: Plan,
        monitors: list[int],
        home: Home,
        watches: Sequence[Watch] = (),
    ) -> None:
        self._host = host.removeprefix("ssh://")
        self._plan = of_monitors(plan, monitors)
        self._home = home
        self._watches = watches
        self._rest = threading.Event()
        self._connection: Connection | None = None
        self.begun = {spec.name or spec.use: threading.Event() for spec in self._plan.suite.monitors}
        """Monitor -> set once it follows what it records; of those that record nothing never."""
        self._end = threading.Event()
        self._name = ""
        self._told: set[str] = set()
        self._thread = threading.Thread(target=self._run, name=f"monitors at {host}", daemon=True)

    def start(self) -> None:
        """Begin to sample, once the host is reached."""
        self._thread.start()

    def rest(self) -> None:
        """End sampling there; what records what a server did goes on."""
        self._rest.set()
        if self._connection is not None:
            self._connection.send("rest")

    def stop(self) -> None:
        """End the monitors there, once they have read what the servers did."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join(DRAIN + 15)

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self._serve()
            except NoPileup as problem:
                self._read_plainly(problem)
                return
            except PileupError as problem:
                self._say(str(problem))
            self._end.wait(AGAIN)

    def _read_plainly(self, reason: NoPileup) -> None:
        """Read what monitors need through a shell there, for the rest of the run; the others cannot measure."""
        chosen = [watch for watch in self._watches if watch.monitor.reads_proc and watch.covered]
        lacking = [watch.name for watch in self._watches if not watch.monitor.reads_proc]
        if chosen:
            names = ", ".join(watch.name for watch in chosen)
            self._say(f"no pileup there ({reason.what}): {names} read /proc there over plain ssh")
        if lacking:
            self._say(f"{', '.join(lacking)} cannot measure: {reason}")
        if chosen:
            places = self._plan.suite.places
            host = PlainHost(self._host, places.command, chosen, home=self._home, tell=self._say, note=self._note)
            host.run(self._rest, self._end, AGAIN)

    def _say(self, text: str) -> None:
        if text not in self._told and not self._end.is_set():
            self._told.add(text)
            self._note(text)

    def _note(self, text: str) -> None:
        self._home.tell(f"monitors at {self._host}: {text}")

    def _serve(self) -> None:
        """Have the monitors sampled until the run ends. Raises PileupError when the host is lost."""
        places = self._plan.suite.places
        connection = Connection(by_ssh(self._host, places.python, places.command), take=self._take, gone=self._say)
        try:
            self._connection = connection
            connection.greet()
            self._name = connection.host
            told = {"number": 0, "far": True, "table": "", "ship": False, "board": ""}
            content = pickle.dumps((self._plan, {}, python_files(self._plan)))
            if problem := connection.ask("open", told, "opened", (content,)).text("problem"):
                self._say(problem)
                return
            connection.synchronise()
            for number in range(len(self._plan.suite.monitors)):
                connection.send("watch", {"monitor": number})
            while not self._end.wait(BEAT) and not connection.lost:
                connection.ping()
                connection.watch()
                connection.align()
            if not connection.lost and connection.send("drain"):
                connection.answer("answer-drain", DRAIN + 5)
        finally:
            self._connection = None
            connection.close()

    def _take(self, message: Message) -> None:
        if message.kind == "note":
            self._say(message.text("text")[:1000])
        if message.kind == "begun" and (begun := self.begun.get(message.text("monitor"))):
            begun.set()
        if message.kind == "recorded":
            self._record(message)
        if message.kind != "samples":
            return
        try:
            rows = [
                SampleRow(int(time), str(monitor), self._name, Sample(str(name), float(value), str(unit), str(labels)))
                for time, monitor, name, value, unit, labels in message["rows"]
            ]
        except (TypeError, ValueError) as problem:
            raise WireError(f"these are not samples: {problem}"[:200], "rows as pileup sends them") from problem
        self._home.keep(rows)

    def _record(self, message: Message) -> None:
        """Fetch what a monitor recorded. Its times are by the uncorrected clock of the host."""
        try:
            batch = OperationBatch.from_wire(message["texts"], message.blobs)
        except ValueError as problem:
            raise WireError(f"these are not operations: {problem}"[:200], "columns as pileup sends them") from problem
        ahead, error = self._connection.offset.original(now()) if self._connection else (0, 0)
        with suppress(RecordError):  # a full disk is noticed where it ends the run
            self._home.serve(message.text("monitor"), batch, ahead if abs(ahead) > error else 0)


def of_monitors(plan: Plan, numbers: list[int]) -> Plan:
    """Return what a host must know to sample these monitors, and those alone: no credentials of targets, no tests."""
    nothing: dict[str, object] = {"targets": {}, "tests": (), "criteria": (), "faults": (), "scan": {}}
    nothing |= {"variables": {}, "options": {}, "environment": None}
    kept = {"monitors": tuple(plan.suite.monitors[number] for number in numbers)}
    return replace(plan, suite=plan.suite.model_copy(update=nothing | kept), cases=(), text="", values={}, points=())
