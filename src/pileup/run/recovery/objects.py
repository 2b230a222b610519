"""Removing what a run has made, without the run: each object by itself, by the engine, outside any record."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from pileup._core._native import Press, Recorder
from pileup.fleet.order import Order, client_to_native
from pileup.model.errors import VerdictException
from pileup.model.loads.load import Load
from pileup.model.plan import Plan
from pileup.model.program import Keys, Program, Step
from pileup.model.record import FrameRow, Phase
from pileup.plugin import ClientSpec, FileTarget, NotThere, Target
from pileup.plugin.target import NO_CLIENT
from pileup.record import ErrorTail
from pileup.record.tally import Counters
from pileup.run.safety.boundary import Inside, inside_of


def remove(plan: Plan, name: str, target: Target, program: Program, timeout: int) -> str:
    """Do the steps of a program that removes objects, as a journal keeps it; return what went wrong, if anything did.

    Nothing outside `limits.inside` is touched; one object that cannot be removed does not keep the others.
    """
    inside = inside_of(plan, name, target)
    problems = [_remove(inside, target, step, timeout) for step in program.steps]
    return "; ".join(problem for problem in problems if problem)


def _remove(inside: Inside, target: Target, step: Step, timeout: int) -> str:
    if problem := inside.problem_of_step(step):
        return problem
    client = target.client() if target.preparing_client() is None else None
    if client is None:
        return _by_python(target, step.keys, step.repeat) if isinstance(target, FileTarget) else NO_CLIENT
    with tempfile.TemporaryDirectory(prefix="pileup-") as folder:
        path = Path(folder) / "operations.table"
        failed = _press(path, client, replace(step, repeat=1), step.repeat, timeout)
        errors = ErrorTail(path).look()
    if not failed:
        return ""
    why = f": {errors[0].message}" if errors else ""
    return f"{failed} of {step.repeat} could not be removed{why}"


def _by_python(target: FileTarget, keys: Keys, times: int) -> str:
    """Remove objects one after another where the engine cannot reach the target; those that are not there are fine."""
    problems = []
    for number in range(times):
        try:
            target.delete(keys.name(number))
        except VerdictException as problem:
            if not isinstance(problem, NotThere):
                problems.append(str(problem))
    return f"{len(problems)} of {times} could not be removed: {problems[0]}" if problems else ""


def _press(path: Path, client: ClientSpec, step: Step, times: int, timeout: int) -> int:
    """Do a step so many times, with successive keys; return how many times it did not pass."""
    recorder = Recorder(str(path), 0)
    try:
        order = Order(1, "clean-up", Load(times=times), timeout, seed=1, phase=Phase.CLEANUP)
        press = Press(recorder, order.to_native(place=0, shard=0, shards=1, start=0))
        press.native(client_to_native(client), json.dumps(Program((step,)).to_native()))
        while not press.wait(1.0):
            pass
        done = Counters()
        for told in press.frame()["rows"]:
            if told["iteration"]:
                done.take(FrameRow(**told))
    finally:
        recorder.close()
    return times - done.counts["passed"]
