"""The guard rails of a run: what was moved so far against the suite's limits."""

from __future__ import annotations

import threading

from pileup.model.errors import TargetError
from pileup.model.plan import Case, Plan
from pileup.model.program import Program, Step
from pileup.model.record import Frame
from pileup.model.suite import Limits
from pileup.model.units import format_count, format_size, format_time
from pileup.plugin import FileTarget, Target
from pileup.record.tally import Counters, counted
from pileup.run.safety.boundary import Names, changing, inside_of, shown
from pileup.run.safety.guarded_target import guarded
from pileup.run.safety.own_folders import is_private
from pileup.run.safety.second_targets import check_destination, destinations
from pileup.run.targets.opening import Targets


class LimitCheck:
    """Adds frames up and says which limit is passed."""

    def __init__(self, limits: Limits, began: int) -> None:
        self._limits = limits
        self._began = began
        self._lock = threading.Lock()
        self._bytes = 0
        self._operations = 0

    @property
    def operations_left(self) -> int | None:
        """Operations that may still be made; None without a limit."""
        limit = self._limits.operations
        return None if limit is None else max(0, limit - self._operations)

    def take(self, frame: Frame) -> None:
        """Count what a frame reports; from any thread."""
        found = counted([frame], lambda row: row.iteration)
        iterations = found.get(True, Counters())
        with self._lock:
            self._bytes += iterations.bytes
            self._operations += found.get(False, iterations).ended

    def passed(self, moment: int) -> str:
        """Return which limit is reached at `moment` (ns since the epoch), empty when none is."""
        limits = self._limits
        if limits.bytes is not None and self._bytes >= limits.bytes:
            return f"{format_size(self._bytes)} moved, the limit is {format_size(limits.bytes)}"
        if limits.operations is not None and self._operations >= limits.operations:
            return f"{format_count(self._operations)} operations, the limit is {format_count(limits.operations)}"
        if limits.duration is not None and moment - self._began >= limits.duration:
            return f"{format_time(moment - self._began)} elapsed, the limit is {format_time(limits.duration)}"
        return ""


class WriteRules:
    """Where a run may write and delete: only inside `limits.inside`, and only what this run has made.

    Programs of native tests are checked before they begin; Python tests get a guarded target. The limit does not apply
    to a folder that pileup makes for the run.
    """

    def __init__(self, plan: Plan, targets: Targets) -> None:
        self._plan = plan
        self._targets = targets
        self._made = {name: Names() for name in plan.suite.targets}
        self._guarded: dict[str, tuple[Target, Target]] = {}
        """The target and the guarded one; a server that was started again may be another target."""
        for name, keys in targets.made_before():
            self._made.setdefault(name, Names()).add(keys)

    def check_inside(self, case: Case, target: Target | None, *programs: Program | None) -> None:
        """Check where the programs of a case change something, on second targets too. Raises TargetError."""
        for to in destinations(programs):
            check_destination(self._plan, self._targets, to)
            self._made[to.target].add(to.keys)
        steps = changing(programs)
        if target is None or not steps:
            return
        name = case.test.target or ""
        inside = inside_of(self._plan, name, target)
        for step in steps:
            if problem := inside.problem_of_step(step):
                raise TargetError(
                    f"it would {step.method or step.verb} on target {name}: {problem}",
                    f"names inside {inside.inside}, the `limits.inside` of the suite",
                )

    def check(self, case: Case, target: Target | None, *programs: Program | None) -> None:
        """Note what the programs of a case make, and check what they change.

        The first is that of its load, None for a Python test: what such a one makes is not known, so what it removes
        after itself is only checked for where it is. Raises TargetError.
        """
        self.check_inside(case, target, *programs)
        steps = changing(programs)
        if target is None or not steps:
            return
        name = case.test.target or ""
        for step in steps:
            if step.made is not None or not step.traits.deletes:
                self._made[name].add(step.made or step.keys)
        if programs[0] is not None:
            self._check_deleting(name, steps)

    def guarded(self, target: Target) -> Target:
        """Return the same target for Python tests: what it writes and deletes is checked each time.

        Where tests of the suite are pressed from other processes it is not known here what those have made.
        """
        name = next((each for each in self._plan.suite.targets if self._targets.get(each) is target), "")
        if not isinstance(target, FileTarget) or not name:
            return target
        known = self._guarded.get(name)
        if known is None or known[0] is not target:
            made = None if _pressed_elsewhere(self._plan) else self._made[name]
            private = is_private(self._plan.suite.targets[name])
            known = self._guarded[name] = target, guarded(target, inside_of(self._plan, name, target), made, private)
        return known[1]

    def _check_deleting(self, name: str, steps: list[Step]) -> None:
        for step in steps:
            foreign = self._made[name].missing(step.keys) if step.traits.deletes else None
            if foreign is not None:
                raise TargetError(
                    f"it would delete {shown(foreign)} on target {name}, which this run has not made",
                    "names that an earlier test of this run writes",
                    "nothing else is deleted",
                )


def guarded_elsewhere(plan: Plan, name: str, target: Target) -> Target:
    """Return a target for Python tests at another place: it changes nothing outside `limits.inside`."""
    private = is_private(plan.suite.targets[name])
    return guarded(target, inside_of(plan, name, target), None, private) if isinstance(target, FileTarget) else target


def _pressed_elsewhere(plan: Plan) -> bool:
    suite = plan.suite
    alone = (suite.isolate == "process", suite.environment is not None, not suite.places.local)
    return any(alone) or any(test.isolate == "process" or test.environment is not None for test in suite.tests)
