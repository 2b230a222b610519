"""Deletes stage requests that a run has left at a tape system: at its end, or after a crash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pileup.model.errors import NotThere, TargetError, VerdictException
from pileup.model.plan import Plan
from pileup.model.units import counted
from pileup.plugin import Target
from pileup.plugin.tape import StagingTarget
from pileup.plugin.verdict import verdict_on
from pileup.record import RunFolder
from pileup.run.recovery.intents import AGAIN, Intent, open_intents
from pileup.run.safety.leaving import STAYS

if TYPE_CHECKING:
    from pileup.run.recovery.undo_kinds import Context

REQUESTS = "requests"
"""Kind of the intents: of a load, with the stamp that the names of its requests begin with."""
REQUEST, RELEASED = "request", "released"
"""What its tests claim: that there may be a request, and that nothing of it is left."""

MOST_IN_A_ROW = 3
"""Requests that cannot be deleted, one after another, after which the others are not tried: the system is away."""


class OpenRequests(NamedTuple):
    """What the requests of a load have left."""

    ids: tuple[str, ...]
    unanswered: int
    """Requests without an answer: there may be one at the system, of an id that nobody knows."""

    @property
    def stays(self) -> str:
        """Return what nobody can delete, in words; empty for nothing."""
        if not self.unanswered:
            return ""
        which = counted(self.unanswered, "stage request")
        return f"{which} got no answer: what is there of them has no known id, and stays for its `lifetime`"


def open_requests(folder: RunFolder, stamp: str) -> OpenRequests:
    """Return the requests of a load that were claimed and not released."""
    known: dict[str, str] = {}
    released: set[str] = set()
    for claim in folder.claims():
        if not claim.name.startswith(f"{stamp}-"):
            continue
        if claim.what == RELEASED:
            released.add(claim.name)
        elif claim.what == REQUEST:
            known[claim.name] = claim.id or known.get(claim.name, "")
    ids = [id_ for name, id_ in known.items() if name not in released]
    return OpenRequests(tuple(filter(None, ids)), sum(not each for each in ids))


def delete(target: Target | None, ids: Sequence[str], go_on: Callable[[], bool] = lambda: True) -> None:
    """Delete requests at a system; what it does not know any more is done. `go_on` is asked before each.

    Raises TargetError with how many are left, and why.
    """
    if not isinstance(target, StagingTarget):
        raise TargetError("the target takes no stage requests", "a tape system")
    waiting, kept, in_a_row, why = list(reversed(ids)), 0, 0, ""
    while waiting and in_a_row < MOST_IN_A_ROW and go_on():
        try:
            target.forget(waiting.pop())
            in_a_row = 0
        except NotThere:
            in_a_row = 0
        except VerdictException as problem:
            kept, in_a_row, why = kept + 1, in_a_row + 1, why or str(problem)
        except Exception as problem:  # a target of anybody's
            raise TargetError(verdict_on(problem)[1], "a tape system that answers") from problem
    if left := len(waiting) + kept:
        told = f"not deleted: {counted(left, 'stage request')} of {len(ids)}: {why or 'the run was ended at once'}"
        raise TargetError(told, "none", AGAIN)


def end_requests(folder: RunFolder, plan: Plan, get: Callable[[str], Target | None], go_on: Callable[[], bool]) -> None:
    """Delete what the tests of a run have left, at its end, and close it in the journal.

    `get` returns an open target. What cannot be deleted stays open, for `pileup clean`.
    """
    for intent in open_intents(folder):
        if intent.what == REQUESTS:
            entry, found = intent.entry, open_requests(folder, intent.entry.stamp)
            state, problem = "deleted", ""
            if plan.suite.targets[entry.target].url is None:
                state = "gone"
            elif entry.cleanup == "never":
                state = "kept"
            else:
                state, problem = _deleted(get(entry.target), found, go_on)
            told = {"problem": problem} if problem else {}
            folder.journal(REQUESTS, state, of=intent.number, case=entry.case, target=entry.target, **told)


def _deleted(target: Target | None, found: OpenRequests, go_on: Callable[[], bool]) -> tuple[str, str]:
    """Delete requests; return the state of the journal, and what is left."""
    try:
        if found.ids:
            delete(target, found.ids, go_on)
    except TargetError as problem:
        return "left", str(problem)
    return (STAYS, found.stays) if found.stays else ("deleted", "")


class UndoRequests:
    """Deletes the requests that the tests of one load have claimed and not released."""

    failed = "left"

    def needed(self, intent: Intent, context: Context) -> bool:
        """What was at a private server went with it; the suite may keep what a test leaves."""
        if context.private(intent.entry.target) or intent.entry.cleanup == "never":
            return False
        return any(open_requests(context.folder, intent.entry.stamp))

    def told(self, intent: Intent, context: Context) -> str:
        """Say how many of which case."""
        entry = intent.entry
        found = open_requests(context.folder, entry.stamp)
        what = counted(len(found.ids), "stage request")
        return f"{what} that {entry.case} has left on target {entry.target}: deleted"

    def mend(self, intent: Intent, context: Context) -> str:
        """Delete each of them; return what nobody can delete. Raises TargetError."""
        found = open_requests(context.folder, intent.entry.stamp)
        if found.ids:
            delete(context.target(intent.entry.target), found.ids)
        return found.stays

    def state(self, intent: Intent, context: Context) -> str:
        """They are deleted, went with the server, or are kept."""
        if context.private(intent.entry.target):
            return "gone"
        return "kept" if intent.entry.cleanup == "never" else "deleted"
