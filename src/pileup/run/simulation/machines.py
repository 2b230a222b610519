"""The targets of a simulated run: each is a machine in virtual time, made by its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pileup.fleet.order import case_seed
from pileup.model.errors import PileupError, TargetError
from pileup.model.plan import Plan
from pileup.plugin import Target
from pileup.run.machine import EnterPoint
from pileup.run.simulation.clock import VirtualClock
from pileup.suite import instances
from pileup.suite.problems import parts
from pileup.suite.scan import text_of


@dataclass(frozen=True, slots=True)
class MachineTime:
    """The clock as a machine sees it (plugin.VirtualTime)."""

    clock: VirtualClock
    seed: int

    def now(self) -> int:
        """Return the time, ns since the epoch."""
        return self.clock.now()

    def at(self, time: int, act: Callable[[], object]) -> None:
        """Have something done at a time."""
        self.clock.at(time, act)


class Machines:
    """The machines of a plan. They begin with the run, and afresh at each visit to a point but the first.

    At the first one begins afresh only if its settings change: it may have something that a test of `scope: run` left.
    """

    def __init__(self, plan: Plan, clock: VirtualClock) -> None:
        self._plan, self._clock = plan, clock
        self._open: dict[str, Target] = {}
        self._problems: dict[str, str] = {}
        self._texts: dict[str, dict[str, str]] = {}
        self._visited = False

    def enter(self, point: EnterPoint | None, turn: str) -> None:
        """Bring all targets to the settings of a point; those that it does not name have those of the suite.

        Random times are drawn for each `turn`, a repeat. Raises TargetError when a machine does not take the settings.
        """
        for name in used(self._plan):
            self._set(name, point, turn)
        self._visited = point is not None

    def get(self, name: str) -> Target | None:
        """Return a target; None when it could not be made."""
        return self._open.get(name)

    def problem(self, name: str) -> str:
        """Return why a target could not be made; empty when it could."""
        return self._problems.get(name, "")

    def _set(self, name: str, point: EnterPoint | None, turn: str) -> None:
        launch = self._plan.suite.targets[name].launch or {}
        wanted = {**launch, **(point.settings.get(name, {}) if point else {})}
        texts = {word: text_of(value) for word, value in wanted.items()}
        if name in self._open and self._texts[name] == texts and not self._visited:
            return
        self._open.pop(name, None)
        self._problems.pop(name, None)
        time = MachineTime(self._clock, case_seed(self._plan.suite.seed, f"{name}/{turn}"))
        try:
            made = instances.make_target(self._plan, name, "").simulated(wanted, time)
            if made is None:
                raise TargetError(f"target {name} has no machine in virtual time", "a kind that has one")
            self._open[name], self._texts[name] = made, texts
        except (PileupError, ValueError) as problem:
            self._problems[name] = str(problem)
            raise TargetError(*parts(f"target {name}: {problem}")) from problem


def used(plan: Plan) -> list[str]:
    """Return the targets that a test is for, or that the scan sets something of, in the order of the suite."""
    names = {name for case in plan.cases for name in (*case.test.aims, *case.settings)}
    return [name for name in plan.suite.targets if name in names]
