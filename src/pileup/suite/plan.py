"""Makes a plan from a suite: cases in order with bounds on time, operations and bytes, checked against its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from pileup.model.errors import RecordError
from pileup.model.loads.load import Load
from pileup.model.loads.starts import Starts
from pileup.model.plan import Case, Plan
from pileup.model.suite import Suite, TestSpec
from pileup.model.units import format_quantity
from pileup.plugin import Test
from pileup.plugin.options import declared
from pileup.suite import instances
from pileup.suite.expand import Expansion
from pileup.suite.expected import expected
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problem_texts import first_words
from pileup.suite.problems import Problems
from pileup.suite.replays import Replays
from pileup.suite.variants import Variants


def make_plan(empty: Plan, replays: Replays, variants: Variants) -> Plan:
    """Return a plan with its cases; the suite in it is valid, and so are its `variants`.

    Raises ValueError when the options of a test do not go together at some point of the scan, or a record has nothing
    to replay there.
    """
    folder = Path(empty.folder)

    def options_of(test: TestSpec) -> set[str]:
        return set(declared(instances.class_of_test(test.use, folder)))

    expansion = Expansion(empty.suite, options_of, empty.together, variants)
    cases: list[Case] = []
    for case in expansion.cases():
        cases.append(_bounded(empty, instances.in_order(case, folder), replays))
    for place, case in enumerate(cases):
        if case.role:
            beside = [cases[each - 1] for each in case.beside]
            cases[place] = replace(
                case,
                expected=sum(each.expected for each in beside),
                longest=case.longest + sum(each.longest for each in beside),
            )
    return replace(empty, cases=tuple(cases), points=expansion.points())


def _bounded(plan: Plan, case: Case, replays: Replays) -> Case:
    try:
        replay = replays.of(case.load)
        differing = instances.places_that_differ(plan, case)
        tests = [instances.make_test(plan, case, lambda name: None, 0, place=place) for place in differing]
    except RecordError as problem:
        raise ValueError(f"{case.name}: {problem}") from problem
    except ValueError as problem:
        told = first_words(problem) if isinstance(problem, ValidationError) else str(problem)
        raise ValueError(f"{case.name}: {told}") from problem
    number = replay.count if replay else case.load.iterations
    bounds = [(None, None) if number is None else test.bounds(number) for test in tests]
    operations, size = (
        None if None in each else max(filter(None, each), default=0) for each in zip(*bounds, strict=True)
    )
    patient = max(map(patience, tests))
    delay = case.load.delay or plan.suite.delay
    return replace(
        case,
        expected=expected(case.load, delay, replay, operations, size, patient),
        longest=longest(case.test, plan.suite, patient, replay),
        operations=operations,
        bytes=size,
        replay=replay,
    )


def patience(test: Test) -> int:
    """Return what one iteration may take, ns: each operation of a program may take the time-out, Python as a whole."""
    inside = test.bounds(1)[0] if test.native() else 1
    return test.context.timeout * max(1, inside or 1)


def pressed(case: Case) -> int | None:
    """Return how long a case is pressed by its own words, ns; None when its end depends on the system."""
    return case.replay.last if case.replay else case.load.shape.shortest


def longest(test: TestSpec, suite: Suite, patience: int, replay: Starts | None = None) -> int:
    """Return the longest possible time of a case, ns: delay, load, and the time-outs that may pass.

    `patience` is what one iteration may take, ns.
    """
    law = test.load.delay or suite.delay
    return (law.longest if law else 0) + _pressed_at_most(test.load, patience, replay)


def _pressed_at_most(load: Load, patience: int, replay: Starts | None) -> int:
    if replay is None:
        return load.longest(patience)
    return min(end for end in (replay.last, load.lasting) if end is not None) + patience


def check_limits(plan: Plan, tree: Mapping, problems: Problems) -> None:
    """Add a problem for each limit that the plan is bound to pass."""
    for word, amount, dimension in planned(plan):
        limit = getattr(plan.suite.limits, word)
        if limit is not None and amount > limit:
            most = format_quantity(limit, dimension)
            what = f"the plan needs {format_quantity(amount, dimension)}, its limit `{word}` is {most}"
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
