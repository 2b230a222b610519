"""Native tests that another client than the engine runs: a Python test that executes their steps."""

from __future__ import annotations

from collections.abc import Callable

from pileup.fleet.order import case_seed
from pileup.fleet.program_runner import ProgramTest
from pileup.model.errors import PluginError
from pileup.model.plan import Case, Plan
from pileup.model.program import Program
from pileup.plugin import ProgramClient, Target, Test
from pileup.suite import instances
from pileup.suite.problems import parts


def client_for(program: Program, target: Target | None) -> Callable[[int], ProgramClient] | None:
    """Return what makes the clients that do a program in the engine's stead; None when the engine does it.

    Raises PluginError for a step that it or they cannot do, or when they are not installed.
    """
    make = target.program_client() if target is not None else None
    problem = next(filter(None, map(target.problem_of, program.steps)), "") if target is not None else ""
    if problem:
        raise PluginError(*parts(problem))
    return make


def interpreted(
    plan: Plan,
    case: Case,
    program: Program,
    client: Callable[[int], ProgramClient],
    target_of: Callable[[str], Target | None],
) -> Callable[[int], Test]:
    """Return what makes the test of a virtual client that does a program, with the seed that the engine would have.

    `target_of` returns the open target of a name, for steps with a second one.
    """
    seed = case_seed(plan.suite.seed, case.name)
    named = {step.destination.target for step in program.steps if step.destination is not None}
    others = {name: target for name in named if (target := target_of(name)) is not None}

    own = target_of(case.test.target) if case.test.target else None

    def make(number: int) -> Test:
        context = instances.context_of(plan.folder, plan.suite.seed, case.test, number)
        test = ProgramTest(program, seed, client, context, others)
        test.target = own  # which says what exceptions mean
        return test

    return make
