"""Revokes credentials that a run has delegated to a system that pileup did not launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pileup.model.errors import TargetError, VerdictException
from pileup.model.units import counted
from pileup.plugin.batch import BatchTarget, Delegation
from pileup.plugin.verdict import verdict_on
from pileup.run.recovery.intents import Intent

if TYPE_CHECKING:
    from pileup.run.recovery.undo_kinds import Context


class UndoDelegations:
    """Revokes the delegations that the tests of one load have claimed, except those that they revoked themselves.

    Delegations of the last second before a crash were not claimed: they expire, as all do if the system cannot revoke
    them.
    """

    failed = "left"

    def needed(self, intent: Intent, context: Context) -> bool:
        """What was on a private server went with it; the suite may keep what a test leaves."""
        there = not context.private(intent.entry.target) and intent.entry.cleanup != "never"
        return there and next(_handed(intent, context), None) is not None

    def told(self, intent: Intent, context: Context) -> str:
        """Name the case, and why they stay when they do."""
        entry = intent.entry
        whose = f"delegations that {entry.case} has left on target {entry.target}"
        return f"{whose} are revoked" if self._can(intent, context) else f"{whose} stay until they expire"

    def mend(self, intent: Intent, context: Context) -> None:
        """Revoke each of them. Raises TargetError when one could not be."""
        if not self._can(intent, context):
            return
        target = context.target(intent.entry.target)
        problems = []
        for delegation in _handed(intent, context):
            try:
                target.revoke(delegation)  # type: ignore[attr-defined]  # it can
            except VerdictException as problem:
                problems.append(f"{delegation.id}: {problem}")
            except Exception as problem:  # a target of anybody's
                raise TargetError(verdict_on(problem)[1], "a system that answers") from problem
        if problems:
            raise TargetError(
                f"not revoked: {counted(len(problems), 'delegation')}, such as {problems[0]}", "none", "they expire"
            )

    def state(self, intent: Intent, context: Context) -> str:
        """They are revoked, went with the server, or stay."""
        if context.private(intent.entry.target):
            return "gone"
        kept = intent.entry.cleanup == "never" or not self._can(intent, context)
        return "kept" if kept else "revoked"

    def _can(self, intent: Intent, context: Context) -> bool:
        """Whether the system takes delegations back."""
        target = context.target(intent.entry.target)
        return isinstance(target, BatchTarget) and type(target).revoke is not BatchTarget.revoke


def _handed(intent: Intent, context: Context) -> Iterator[Delegation]:
    """Yield the delegations of the load of an intent that were not revoked, according to the claims."""
    case = next((each.id for each in context.plan.cases if each.name == intent.entry.case), None)
    handed: dict[str, Delegation] = {}
    for claim in context.folder.claims():
        if claim.case == case and claim.what == "delegation":
            handed[claim.id] = Delegation(claim.id, 0, claim.name)
        elif claim.case == case and claim.what == "revoked":
            handed.pop(claim.id, None)
    yield from handed.values()
