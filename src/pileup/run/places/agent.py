"""A place of a fleet as a separate process: it builds tests and monitors from the plan that its parent sends."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from pileup._core import _native
from pileup.fleet.python.capture import routed
from pileup.fleet.serve import Builder, Send, Server, Wire
from pileup.fleet.wire import Message, receive
from pileup.model.errors import PileupError
from pileup.model.plan import Plan
from pileup.model.record import Sample
from pileup.model.shared import from_text
from pileup.model.timed import OperationBatch
from pileup.plugin import Target, Test
from pileup.run.monitoring.sampler import DRAIN, Sampler, Watch
from pileup.run.places.program_fallback import client_for, interpreted
from pileup.run.safety.limits import guarded_elsewhere
from pileup.run.safety.own_folders import prepared_writes
from pileup.suite import instances


class Agent(Builder):
    """Makes tests as the runner does, with the targets at the addresses that the parent has found."""

    def __init__(self, message: Message, content: Any) -> None:
        plan: Plan
        plan, self._urls, files = content
        self._position = message.number("position") if message["table"] else 1
        """In its fleet; what only samples monitors is not a place of one."""
        self._scratch = Path(tempfile.mkdtemp(prefix="pileup-place-")) if message["far"] else None
        if self._scratch is not None:
            folder = _unpack(self._scratch, files)
            plan = replace(plan, folder=str(folder))
            if message["table"]:
                message.fields["table"] = str(self._scratch / "operations.table")
        self._plan = plan
        self._end, self._over = threading.Event(), threading.Event()
        self._samplers: list[Sampler] = []

    def test(self, case: int, shared: str) -> Callable[[int], Test]:
        """Return what makes the Python test of a case for a client. Raises PileupError or ValueError."""
        plan, chosen, data = self._plan, self._plan.case(case), from_text(shared)
        targets, here = {name: self._target(name) for name in chosen.test.aims}, self._position
        test = instances.make_test(plan, chosen, targets.get, 0, data, place=here)
        if test.native():
            program = instances.program_of(test, chosen.test)
            if (client := client_for(program, test.target)) is not None:
                load = prepared_writes(plan, chosen, program).load or program
                return interpreted(plan, chosen, load, client, self._target)
        return lambda client: instances.make_test(plan, chosen, targets.get, client, data, place=here)

    def _target(self, name: str) -> Target | None:
        if name not in self._urls:
            return None
        target = instances.make_target(self._plan, name, self._urls[name])
        return guarded_elsewhere(self._plan, name, target)

    def take(self, message: Message, send: Send) -> None:
        """Take a message that is not about loads: begin to sample a monitor of the suite."""
        if message.kind == "rest":
            self._end.set()
        if message.kind == "drain":
            threading.Thread(target=self._drain, args=(send,), daemon=True).start()
        if message.kind != "watch":
            return
        spec = self._plan.suite.monitors[message["monitor"]]
        name = spec.name or spec.use

        def keep(moment: int, samples: list[Sample]) -> None:
            rows = [[moment, name, each.metric, each.value, each.unit, each.labels] for each in samples]
            send("samples", {"rows": rows})

        def tell(text: str) -> None:
            send("note", {"text": text})

        try:
            watch = Watch(name, instances.make_monitor(self._plan, spec), spec.every)
        except (PileupError, ValueError) as problem:
            tell(f"monitor {name}: {problem}")
            return

        def serve(batch: OperationBatch) -> None:
            texts, blobs = batch.to_wire()
            send("recorded", {"monitor": name, "texts": texts}, blobs)

        sampler = Sampler(watch, keep, tell, self._end, serve, over=self._over)
        self._samplers.append(sampler)
        sampler.thread.start()
        if watch.monitor.records:
            threading.Thread(target=self._begun, args=(sampler, name, send), daemon=True).start()

    def _begun(self, sampler: Sampler, name: str, send: Send) -> None:
        """Say when a monitor follows its log: what a server does from now on is recorded."""
        sampler.begun.wait()
        send("begun", {"monitor": name})

    def _drain(self, send: Send) -> None:
        """Have monitors read on to the end of what servers did, then say so."""
        self._end.set()
        self._over.set()
        for sampler in self._samplers:
            sampler.thread.join(DRAIN + 2)
        send("answer-drain", {})

    def close(self) -> None:
        """End the monitors, and remove what was made for this place."""
        self._end.set()
        self._over.set()
        for sampler in self._samplers:
            sampler.thread.join(2)
        if self._scratch is not None:
            rmtree(self._scratch, ignore_errors=True)


def _unpack(scratch: Path, files: dict[str, bytes]) -> Path:
    """Write the suite's Python files; return the folder that replaces the suite's."""
    folder = scratch.joinpath(*"abcdefgh", "suite")  # deep enough for paths that begin with ../
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(scratch.resolve()):
            raise ValueError(f"{name} would be outside of {scratch}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def serve(source: int, sink: int, shift: int = 0, again: bool = False) -> None:
    """Be a place for the parent at two descriptors; return when it ends this. `shift` moves the clock, ns."""
    if shift:
        _native.shift_clock(shift)
    wire = Wire(source, sink)
    agents: list[Agent] = []

    def build(message: Message, content: Any) -> Builder:
        agents.append(Agent(message, content))
        return agents[0]

    server = Server(wire, build)
    server.hello(again)
    first = receive(wire.read)
    if first is not None and first.kind == "environment":
        _become(source, sink, first["variables"])
    with routed():
        try:
            if first is not None:
                server.serve(first)
        finally:
            for agent in agents:
                agent.close()


def _become(source: int, sink: int, variables: dict[str, str]) -> None:
    """Replace this process by one with other variables: many libraries look at them only as they are loaded."""
    os.dup2(source, 0)
    os.dup2(sink, 1)
    words = [word for word in sys.argv[1:] if word != "--again"]
    os.execve(sys.executable, [sys.executable, "-P", "-m", "pileup", *words, "--again"], {**os.environ, **variables})  # noqa: S606
