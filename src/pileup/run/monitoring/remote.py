"""Monitors at another host: a place there samples them, with its clock set to ours."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from dataclasses import replace

from pileup.fleet.connection import Connection
from pileup.fleet.launch import by_ssh
from pileup.fleet.opening import python_files
from pileup.fleet.wire import Message, WireError
from pileup.model.errors import PileupError
from pileup.model.plan import Plan
from pileup.model.record import Sample, SampleRow

BEAT = 1.0
"""Seconds between pings."""
AGAIN = 10.0
"""Seconds before a host that was lost is tried again."""


class FarHost:
    """One host with the monitors that are sampled there, given by their places in the suite's list.

    A host that cannot be reached, or is lost, is told once and tried again until the run ends.
    """

    def __init__(
        self,
        host: str,
        plan: Plan,
        monitors: list[int],
        keep: Callable[[list[SampleRow]], None],
        tell: Callable[[str], None],
    ) -> None:
        self._host = host.removeprefix("ssh://")
        self._plan = of_monitors(plan, monitors)
        self._keep = keep
        self._tell = tell
        self._end = threading.Event()
        self._name = ""
        self._told: set[str] = set()
        self._thread = threading.Thread(target=self._run, name=f"monitors at {host}", daemon=True)

    def start(self) -> None:
        """Begin to sample, once the host is reached."""
        self._thread.start()

    def stop(self) -> None:
        """End the monitors there."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join(15)

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                self._serve()
            except PileupError as problem:
                self._say(str(problem))
            self._end.wait(AGAIN)

    def _say(self, text: str) -> None:
        if text not in self._told and not self._end.is_set():
            self._told.add(text)
            self._tell(f"monitors at {self._host}: {text}")

    def _serve(self) -> None:
        """Have the monitors sampled until the run ends. Raises PileupError when the host is lost."""
        places = self._plan.suite.places
        connection = Connection(by_ssh(self._host, places.python, places.command), take=self._take, gone=self._say)
        try:
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
        finally:
            connection.close()

    def _take(self, message: Message) -> None:
        if message.kind == "note":
            self._say(message.text("text")[:1000])
        if message.kind != "samples":
            return
        try:
            rows = [
                SampleRow(int(time), str(monitor), self._name, Sample(str(name), float(value), str(unit), str(labels)))
                for time, monitor, name, value, unit, labels in message["rows"]
            ]
        except (TypeError, ValueError) as problem:
            raise WireError(f"samples are none: {problem}"[:200], "rows as pileup sends them") from problem
        self._keep(rows)


def of_monitors(plan: Plan, numbers: list[int]) -> Plan:
    """Return what a host must know to sample these monitors, and those alone: no credentials of targets, no tests."""
    nothing: dict[str, object] = {"targets": {}, "tests": (), "criteria": (), "faults": (), "scan": {}}
    nothing |= {"variables": {}, "options": {}, "environment": None}
    kept = {"monitors": tuple(plan.suite.monitors[number] for number in numbers)}
    return replace(plan, suite=plan.suite.model_copy(update=nothing | kept), cases=(), text="", values={}, points=())
