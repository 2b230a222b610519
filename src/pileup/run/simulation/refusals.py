"""What a simulation cannot do of a suite: everything real, named all at once before anything begins."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from pileup.model.errors import Problem, SuiteError
from pileup.model.loads.load import Load
from pileup.model.plan import Plan
from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import Suite, TargetSpec, TestSpec
from pileup.plugin import Target, Test
from pileup.run.simulation.machines import used
from pileup.suite import instances


class NotSimulatedError(SuiteError):
    """A suite has something real in it."""

    about = "the suite, as a simulation,"
    remedy = "take out what is real, or run it with `pileup run`"


Told = tuple[str, str, str]
"""What it is, what was expected, what to do next."""
RUN = "`pileup run` does it for real"


def refuse(plan: Plan) -> None:
    """Raise NotSimulatedError with everything in a plan that virtual time cannot have."""
    found = dict.fromkeys(_problems(plan))
    if found:
        told = (Problem(plan.source, *each, code=ProblemCode.NOT_SIMULATED) for each in found)
        raise NotSimulatedError(tuple(told))


def _problems(plan: Plan) -> Iterator[Told]:
    suite, folder = plan.suite, Path(plan.folder)
    for name in used(plan):
        yield from _of_target(name, suite.targets[name], folder)
    for test in suite.tests:
        yield from _of_test(test, folder)
    for case in plan.cases:
        yield from _of_load(case.test.name, case.load)
    yield from _of_suite(suite)


def _of_suite(suite: Suite) -> Iterator[Told]:
    for monitor in suite.monitors:
        told = f"monitor {monitor.name or monitor.use} measures a real system"
        yield told, "no monitors: operations of the tests say what the machines do", RUN
    for number, fault in enumerate(suite.faults, 1):
        told = f"fault {fault.name or number} ({fault.do}) acts on a real server"
        yield told, "faults in the settings of a machine", RUN
    if not suite.places.local:
        where = ", ".join(suite.places.names) or suite.places.kind
        yield f"the load comes from {where}", "one place, this process", "leave out `places`"
    if suite.environment is not None:
        yield "`environment` is client software, which takes real time", "none", RUN
    if suite.isolate == "process":
        yield "`isolate: process` runs tests in a real process", "`isolate: thread`, or none", RUN
    for word, given in (("cooldown", suite.cooldown), ("until", suite.until)):
        if given is not None:
            yield f"`{word}` is not simulated", f"no `{word}`", "use `repeat` for a fixed number of repeats"


def _of_target(name: str, spec: TargetSpec, folder: Path) -> Iterator[Told]:
    cls = instances.class_of_target(spec.kind, folder)
    if spec.url is not None:
        yield f"target {name} is a real system ({spec.url})", "a target with `launch`, of a kind with a machine", RUN
    elif cls.simulated is Target.simulated:
        told = f"target {name} is of kind {spec.kind}, which has no machine in virtual time"
        yield told, "a kind that has one, such as practice-tape", RUN
    for word, given in (("path", spec.path), ("disk", spec.disk)):
        if given is not None:
            yield f"`{word}` of target {name} is real", f"no `{word}`", RUN


def _of_test(spec: TestSpec, folder: Path) -> Iterator[Told]:
    cls = instances.class_of_test(spec.use, folder)
    if cls.native():
        told = f"test {spec.name} ({spec.use}) has steps for the engine, which takes real time"
        yield told, "a test with `async def run`", RUN
    elif not inspect.iscoroutinefunction(cls.run):
        told = f"test {spec.name} ({spec.use}) is not async and would block virtual time"
        yield told, "a test with `async def run`", RUN
    elif cls.prepare is not Test.prepare or cls.cleanup is not Test.cleanup:
        yield f"test {spec.name} ({spec.use}) prepares its target by steps for the engine", "`setup` alone", RUN
    if spec.environment is not None or spec.isolate == "process":
        told = f"test {spec.name} runs in a process of its own, which takes real time"
        yield told, "neither `environment` nor `isolate`", RUN


def _of_load(name: str, load: Load) -> Iterator[Told]:
    for word, given in (("hold", load.hold), ("find", load.find), ("replay", load.replay)):
        if given is not None:
            told = f"the load of {name} has `{word}`, which is not simulated"
            yield told, f"a load without `{word}`", RUN
