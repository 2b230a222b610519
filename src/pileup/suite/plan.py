"""A suite made into a plan: cases in order with bounds on time, operations and bytes, held against its own limits."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from pileup.model.errors import RecordError
from pileup.model.find import MOST_MEASURED
from pileup.model.plan import Case, Plan
from pileup.model.replay import Starts
from pileup.model.suite import Load, Suite, TestSpec
from pileup.model.units import format_quantity
from pileup.plugin import Test
from pileup.plugin.options import declared
from pileup.suite import instances
from pileup.suite.expand import Expansion
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problem_texts import first_words
from pileup.suite.problems import Problems
from pileup.suite.replays import Replays

SIGMAS = 6
"""Poisson arrivals: a number of iterations that is practically never exceeded is mean + 6 sqrt(mean)."""


def make_plan(empty: Plan, replays: Replays) -> Plan:
    """Return a plan with its cases; the suite in it was found right.

    Raises ValueError when the options of a test do not go together at some point of the scan, or a record has nothing
    to replay there.
    """
    folder = Path(empty.folder)
    expansion = Expansion(empty.suite, lambda test: set(declared(instances.class_of_test(test.use, folder))))
    cases: list[Case] = []
    for case in expansion.cases():
        cases.append(_bounded(empty, case, replays))
    for place, case in enumerate(cases):
        if case.role:
            cases[place] = replace(case, longest=case.longest + sum(cases[each - 1].longest for each in case.beside))
    return replace(empty, cases=tuple(cases), points=expansion.points())


def _bounded(plan: Plan, case: Case, replays: Replays) -> Case:
    try:
        replay = replays.of(case.load)
        test = instances.make_test(plan, case, None, 0)
    except RecordError as problem:
        raise ValueError(f"{case.name}: {problem}") from problem
    except ValueError as problem:
        told = first_words(problem) if isinstance(problem, ValidationError) else str(problem)
        raise ValueError(f"{case.name}: {told}") from problem
    number = replay.count if replay else iterations(case.load)
    operations, size = (None, None) if number is None else test.bounds(number)
    most = longest(case.test, plan.suite, patience(test), replay)
    return replace(case, longest=most, operations=operations, bytes=size, replay=replay)


def patience(test: Test) -> int:
    """Return what one iteration may take, ns: each operation of a program may take the time-out, Python as a whole."""
    inside = test.bounds(1)[0] if test.native() else 1
    return test.context.timeout * max(1, inside or 1)


def iterations(load: Load) -> int | None:
    """Return the largest number of iterations of a load, None when nothing but the system bounds it."""
    bounds = [load.times] if load.times is not None else []
    if load.kind == "once":
        bounds.append(1)
    if load.pace is not None and load.for_ is not None:
        bounds.append(_arrivals(load.pace, load.ramp, load.warm_up + load.for_, load.arrivals == "poisson"))
    if load.stages and load.kind == "open":
        bounds.append(_arrivals_of_stages(load))
    return min(bounds, default=None)


def _arrivals(rate: float, ramp: int, full: int, poisson: bool) -> int:
    """Integral of the rate: it grows linearly over the ramp (half of it counts), then stays."""
    return _practical(rate * (ramp / 2 + full) / 1e9, poisson)


def _arrivals_of_stages(load: Load) -> int:
    """Integral of the rate over all stages: each ramp is linear from the level before."""
    mean, before = 0.0, 0.0
    for stage in load.stages or ():
        mean += ((before + stage.level) / 2 * stage.ramp + stage.level * (stage.warm_up + stage.for_)) / 1e9
        before = stage.level
    return _practical(mean, load.arrivals == "poisson")


def _practical(mean: float, poisson: bool) -> int:
    return math.ceil(mean + SIGMAS * math.sqrt(mean)) if poisson else math.ceil(mean)


def pressed(case: Case) -> int | None:
    """Return how long a case is pressed by its own words, ns; None when its end depends on the system."""
    if case.replay:
        return case.replay.last
    if case.load.find is not None:
        return case.load.find.settle + (case.load.for_ or 0)  # it may be found at once
    return case.load.lasting if case.load.times is None else None


def longest(test: TestSpec, suite: Suite, patience: int, replay: Starts | None = None) -> int:
    """Return the longest possible time of a case, ns: delay, load, and the time-outs that may pass.

    `patience` is what one iteration may take, ns.
    """
    law = test.load.delay or suite.delay
    found = (_by_time(test.load, patience), None if replay else _by_number(test.load, patience))
    bounds = [bound for bound in found if bound is not None] + ([replay.last + patience] if replay else [])
    return (law.longest if law else 0) + min(bounds, default=patience)


def _by_time(load: Load, patience: int) -> int | None:
    trials = 0 if load.find is None else load.find.at_most + MOST_MEASURED - 1
    return None if load.lasting is None else load.lasting + (1 + trials) * patience


def _by_number(load: Load, patience: int) -> int | None:
    """Every iteration takes all the time it may and its think time; an open load begins them at its rate."""
    number = load.times or 1
    if load.times is None and load.sustained:
        return None
    if load.pace is not None:
        spread = number + SIGMAS * math.sqrt(number) if load.arrivals == "poisson" else number
        return load.ramp + load.warm_up + math.ceil(spread / load.pace * 1e9) + patience
    each = patience + (load.think.longest if load.think else 0)
    return load.ramp + load.warm_up + -(-number // (load.clients or 1)) * each


def check_limits(plan: Plan, tree: Mapping, problems: Problems) -> None:
    """Add a problem for each limit that the plan is bound to pass."""
    for word, amount, dimension in planned(plan):
        limit = getattr(plan.suite.limits, word)
        if limit is not None and amount > limit:
            most = format_quantity(limit, dimension)
            what = f"the plan comes to {format_quantity(amount, dimension)}, its limit `{word}` is {most}"
            problems.add(where(tree, ("limits", word)), what, "a larger limit or a smaller plan")


def planned(plan: Plan) -> list[tuple[str, int, str]]:
    """Return (limit, amount, dimension) for what the plan is known to take: cases without a bound count nothing.

    Of time only what the loads say themselves counts, not the time-outs that may pass.
    """
    amounts = {
        "bytes": sum(case.bytes or 0 for case in plan.cases),
        "operations": sum(case.operations or 0 for case in plan.cases),
        "duration": sum(pressed(case) or 0 for case in plan.cases if not case.role),
    }
    dimensions = {"bytes": "size", "operations": "count", "duration": "time"}
    return [(word, amount, dimensions[word]) for word, amount in amounts.items()]
