"""Second targets of steps: what a run may send from one target to another, and where it may be put."""

from __future__ import annotations

from collections.abc import Iterable

from pileup.model.errors import TargetError
from pileup.model.plan import Plan
from pileup.model.program import Destination, Program
from pileup.plugin import FileTarget
from pileup.run.safety.boundary import inside_of, shown
from pileup.run.safety.own_folders import in_own
from pileup.run.targets.opening import Targets


def destinations(programs: Iterable[Program | None]) -> list[Destination]:
    """Return where programs send something."""
    steps = [step for program in programs if program is not None for step in program.steps]
    return [step.destination for step in steps if step.destination is not None]


def check_destination(plan: Plan, targets: Targets, to: Destination) -> FileTarget:
    """Return the open target that something is sent to.

    Copies are inside `limits.inside` and in the run's own folder, and are removed with it. Raises TargetError.
    """
    if to.target not in plan.suite.targets:
        known = ", ".join(plan.suite.targets)
        raise TargetError(f"there is no target {shown(to.target)} to copy to", known, "correct the test")
    target = targets.open_target(to.target)
    if not isinstance(target, FileTarget):
        raise TargetError(f"it would copy to target {to.target}, which keeps no files", "a target that keeps files")
    where, own = inside_of(plan, to.target, target), plan.own.get(to.target, "")
    if problem := where.problem_of(to.keys):
        raise TargetError(
            f"it would copy to target {to.target}: {problem}",
            f"names inside {where.inside}, the `limits.inside` of the suite",
        )
    if own and not in_own(own, to.keys):
        raise TargetError(
            f"it would copy to {shown(to.keys.name(0))} on target {to.target}, outside the run's own folder",
            f"names in {own}",
            "tests have it as `self.context.owns`",
        )
    return target
