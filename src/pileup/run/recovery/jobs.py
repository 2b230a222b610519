"""Cancels jobs that a crashed run has left on a system that pileup did not launch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from pileup.model.errors import TargetError
from pileup.model.plan import Case
from pileup.plugin.batch import BatchTarget
from pileup.plugin.verdict import verdict_on
from pileup.record.tally import Pressed
from pileup.run.recovery.intents import AGAIN, Intent
from pileup.suite import instances

if TYPE_CHECKING:
    from pileup.run.recovery.undo_kinds import Context

MARGIN = 10
"""Iterations are looked for beyond those that the frames report on: so many times the most of one second,"""
LEAST = 1000
"""and at least so many."""
MOST = 500_000
"""Names that are looked for, at most."""
STAMP = re.compile(r"[0-9a-f]{10}")


class UndoJobs:
    """Cancels the jobs of one load that are still there, each found by its name, which no other job has.

    It asks for all names that the iterations so far may have submitted, since claims of the last second before a crash
    are missing.
    """

    failed = "left"

    def needed(self, intent: Intent, context: Context) -> bool:
        """What was on a private server went with it; the suite may keep its jobs."""
        return not context.private(intent.entry.target) and intent.entry.cleanup != "never"

    def told(self, intent: Intent, context: Context) -> str:
        """Name the case."""
        return f"jobs that {intent.entry.case} has left on target {intent.entry.target} are cancelled"

    def mend(self, intent: Intent, context: Context) -> None:
        """Find what has one of the names and is not over, and cancel it. Raises TargetError."""
        entry = intent.entry
        name = entry.target
        target = context.target(name)
        if not isinstance(target, BatchTarget):
            raise TargetError(f"target {name} has no jobs", "a batch system")
        try:
            left = _cancel_all(target, _names(intent, context))
        except Exception as problem:  # a target of anybody's
            raise TargetError(verdict_on(problem)[1], "a batch system that answers") from problem
        if left:
            raise TargetError(f"{left} jobs could not be cancelled", "none", AGAIN)

    def state(self, intent: Intent, context: Context) -> str:
        """They are cancelled, went with the server, or are kept."""
        if context.private(intent.entry.target):
            return "gone"
        return "kept" if intent.entry.cleanup == "never" else "cancelled"


def _cancel_all(target: BatchTarget, names: Iterator[str]) -> int:
    """Cancel every job of these names that is not over; return how many could not be, and are there still."""
    left = 0
    while page := list(islice(names, target.at_once)):
        going = [job.id for job in target.status(names=page) if not job.state.final]
        refused = set(target.cancel(going)) if going else set()  # some were over before, which is not a failure
        if refused:
            left += sum(job.id in refused and not job.state.final for job in target.status(names=page))
    return left


def _names(intent: Intent, context: Context) -> Iterator[str]:
    """Yield the names that the load of an intent may have submitted."""
    entry = intent.entry
    stamp = entry.stamp
    case = next((each for each in context.plan.cases if each.name == entry.case), None)
    if case is None or not STAMP.fullmatch(stamp):
        raise TargetError(f"the journal has no load with jobs: {entry.case}", "a journal as pileup writes it")
    test = instances.make_test(context.plan, case, lambda name: None, 0)
    test.stamp = stamp
    if not test.submits(0):  # its names are not known, but its claims are
        yield from (claim.name for claim in context.folder.claims() if claim.case == case.id and claim.what == "job")
        return
    names = (name for number in range(_begun(case, context)) for name in test.submits(number))
    yield from islice(names, MOST)


def _begun(case: Case, context: Context) -> int:
    """Return how many iterations of a case have begun, at most: by its frames, and some for the last second."""
    pressed, most = Pressed(), 0
    for frame in context.folder.frames(case.id):
        pressed.take(frame)
        most = max(most, frame.started)
    return pressed.started + max(LEAST, MARGIN * most)
