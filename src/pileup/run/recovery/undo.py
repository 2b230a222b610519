"""Cleaning up what a run has left: the journal walked backwards, every open intent acted upon and closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pileup.model.errors import PileupError
from pileup.record import RunFolder
from pileup.run.recovery.intents import Intent, open_intents
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.undo_kinds import UNDO_KINDS, Context, UndoReach, reach_of
from pileup.run.safety.leaving import STAYS


@dataclass(frozen=True, slots=True)
class UndoResult:
    """The result of cleaning up one intent, or the expected one."""

    text: str
    """Such as "the setting threads of target se is set back to 4"."""
    problem: str = ""
    """Why it could not be done."""

    def __str__(self) -> str:
        return f"{self.text}: could not be done: {self.problem}" if self.problem else self.text


def mend(
    folder: RunFolder,
    trust: Trust,
    reach: UndoReach,
    given: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[UndoResult]:
    """End, restore and remove what a run has left; return what was done, and what could not be.

    Reach.OWN: servers are ended, paused ones continued, folders for temporary files removed, and nothing of the suite
    is executed. Reach.SETTINGS: settings are restored, too. Reach.ALL: also what its tests have made on the targets is
    removed, unless the suite keeps it. `given` are values of the suite that the record hides; `tell` gets what of
    the suite is executed, before it is. Whoever calls sees to it that the run's pileup is gone. What is done is closed
    in the journal, so that a second call does nothing; what could not be done stays open.

    Raises UsageError when something is open and the folder is not one that may be acted upon.
    """
    intents = check(folder, trust, reach)
    context = Context(folder, dict(given or {}), trust, tell)
    return [mended for intent in intents if (mended := _mend(intent, context, reach))]


def would_mend(
    folder: RunFolder,
    trust: Trust,
    reach: UndoReach,
    given: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Return what `mend` would do, and do nothing. Raises as that does."""
    intents = check(folder, trust, reach)
    context = Context(folder, dict(given or {}), trust, tell)
    return list(_would(intents, context))


def _would(intents: list[Intent], context: Context) -> Iterator[str]:
    for intent in intents:
        kind = UNDO_KINDS[intent.what]
        if intent.problem:
            yield f"{intent.problem}: it is skipped"
        elif kind.needed(intent, context):
            yield kind.told(intent, context)


def check(folder: RunFolder, trust: Trust, reach: UndoReach) -> list[Intent]:
    """Return what is to be looked at; settings always, so that those that stay are reported.

    Raises UsageError when there is something, and the folder is not one that may be acted upon.
    """
    least = max(reach, UndoReach.SETTINGS)
    found = [each for each in open_intents(folder) if each.what in UNDO_KINDS and reach_of(each.what) <= least]
    if found:
        kinds = ", ".join(sorted({intent.what for intent in found}))
        trust.check(folder, f"what its journal leaves open ({kinds}) is not cleaned up")
    return found


def _mend(intent: Intent, context: Context, reach: UndoReach) -> UndoResult | None:
    """Undo one; return what became of it, None when there was nothing to do."""
    kind = UNDO_KINDS[intent.what]
    if intent.problem:
        return UndoResult("an entry of the journal is skipped", intent.problem)
    try:
        needed = kind.needed(intent, context)
        told = kind.told(intent, context)
    except (KeyError, TypeError, AttributeError) as problem:
        return UndoResult(f"entry {intent.number} ({intent.what})", f"run.json is not as pileup writes it: {problem!r}")
    if needed and reach_of(intent.what) > reach:
        return UndoResult(
            told, f"the next start executes nothing of a suite; `pileup clean {context.folder.path}` does it"
        )
    stays = None
    if needed:
        try:
            stays = kind.mend(intent, context)
        except (PileupError, OSError, ValueError, KeyError, TypeError) as problem:
            if kind.failed:
                context.folder.journal(intent.what, kind.failed, of=intent.number, problem=str(problem))
            return UndoResult(told, str(problem))
    kept = {word: getattr(intent.entry, word) for word in ("case", "target", "own") if word in intent.entry.given}
    if stays:
        context.folder.journal(intent.what, STAYS, of=intent.number, by="undo", problem=stays, **kept)
        return UndoResult(f"{told}; but {stays}")
    context.folder.journal(intent.what, kind.state(intent, context), of=intent.number, by="undo", **kept)
    return UndoResult(told) if needed else None
