"""The relays of a run: one before each target with a `path`, in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from pileup.model.distance import NOT_SHOWN, Distance, EachWay
from pileup.model.errors import RecordError, TargetError
from pileup.model.plan import Case
from pileup.model.suite import Suite
from pileup.model.units import counted, format_size, format_time
from pileup.plugin import Daemon, Launcher, Line
from pileup.record import RunFolder
from pileup.run.relays import control
from pileup.run.servers.supervisor import Supervisor
from pileup.suite.scan import of_path

READY = r"^pileup relay ready at "
SETTINGS = "PILEUP_RELAY_SETTINGS"
"""Variable with seed and path of a relay that pileup starts for itself, as JSON."""


def added(case: Case, suite: Suite) -> Iterator[tuple[str, int]]:
    """Yield the targets of a case that have a path, and what it adds to a round trip at its point, ns."""
    for name in case.test.aims:
        path = suite.targets[name].path if name in suite.targets else None
        if path is not None and path.at is None:
            settings = case.settings.get(name, {}).items()
            changed = ((of_path(setting), value) for setting, value in settings)
            yield name, path.with_words((word, value) for word, value in changed if word).round_trip


def remark(path: Distance, trips: Collection[int]) -> str:
    """Return what users must know of a target behind a relay that adds these times to a round trip, ns."""
    low, high = min(trips, default=path.round_trip), max(trips, default=path.round_trip)
    more = f" to {format_time(high)}, by {'place' if path.by_place else 'point'}," if high > low else ""
    whose = f"relay {path.at}" if path.at else f"a relay that adds {format_time(low)}{more} to a round trip"
    return f"reached through {whose}; {NOT_SHOWN}"


class Relays:
    """Starts relays, changes their paths, and knows which of them have ended."""

    def __init__(self, folder: RunFolder, supervisor: Supervisor, seed: int) -> None:
        self._folder = folder
        self._supervisor = supervisor
        self._seed = seed
        self._paths: dict[str, Distance] = {}
        self._sockets: dict[str, Path] = {}

    def open(self, target: str, path: Distance, to: tuple[str, int]) -> str:
        """Start the relay of a target; return its address. Raises TargetError when it does not start."""
        settings = {"seed": self._seed, "path": path.to_native()}
        words = ("relay", "127.0.0.1:{port}", "--to", _address(*to), "--control", "{short}/relay.sock")
        command = (sys.executable, "-m", "pileup", *words)
        daemon = Daemon(command, Line(READY), name="relay", environment={SETTINGS: json.dumps(settings)})
        launcher = Launcher((daemon,), url="127.0.0.1:{port} {short}/relay.sock")
        folder, whose = self._folder.path / "servers" / f"{target}.relay", f"before target {target}"
        url = self._supervisor.launch(_name(target), launcher, folder, whose=whose)
        address, _, socket = url.partition(" ")
        self._paths[target], self._sockets[target] = path, Path(socket)
        return address

    def change(self, target: str, words: dict[str, object]) -> None:
        """Change words of a path; nothing is started again. Raises TargetError when that fails."""
        if ended := self.problem(target):
            raise TargetError(ended)
        before = self._paths[target]
        try:
            after = before.with_words(words.items())
        except ValidationError as problem:
            raise TargetError(
                f"the path of target {target}: {problem.errors()[0]['msg']}", "what a path takes"
            ) from None
        if after == before:
            return
        try:
            before_it = control.told_late(control.ask(self._sockets[target], after.to_native())["late"])
        except TargetError as problem:
            raise TargetError(f"the relay before target {target}: {problem.what}", problem.expected) from problem
        self._paths[target] = after
        told = f"path of target {target}: {_said(words)}" + (f"; until then {before_it}" if before_it else "")
        self._folder.event("setting", told, target=target)

    def problem(self, target: str) -> str:
        """Return that the relay of a target has ended; empty when it runs, or there is none."""
        if target not in self._paths or self._supervisor.alive(_name(target)):
            return ""
        return f"the relay before target {target} has ended: what failed since then says nothing of the target"

    def close(self) -> None:
        """Say in the record what went through each."""
        for target, socket in self._sockets.items():
            if self.problem(target):
                continue
            with suppress(TargetError, RecordError):
                self._folder.event("relay", _counted(target, control.ask(socket)))


def _name(target: str) -> str:
    """The relay among the servers of a run: no target has such a name."""
    return f"{target} (relay)"


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _said(words: dict[str, object]) -> str:
    return ", ".join(f"{word} {_value(value)}" for word, value in words.items())


def _value(value: object) -> str:
    if not isinstance(value, EachWay):
        return str(value)
    both = (format_time(value.there), format_time(value.back))
    same = abs(value.there - value.back) <= 1
    return format_time(value.there + value.back) if same else "{} there and {} back".format(*both)


def _counted(target: str, counts: control.Counts) -> str:
    there, back = counts["bytes"]
    told = [
        f"through the relay before target {target} went {counted(counts['connections'], 'connection')}, "
        f"{format_size(there)} there and {format_size(back)} back, {counted(counts['turns'], 'answer')}"
    ]
    for number, text in (
        (counts["refused"], "not taken by the target"),
        (counts["resets"], "reset on purpose"),
        (counts["half_open"], "silenced"),
    ):
        if number:
            told.append(f"{number} {text}")
    if late := control.told_late(counts["late"]):
        told.append(late)
    return ", ".join(told)
