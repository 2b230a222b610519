"""Putting right what a run has left: the journal walked backwards, every open intent acted upon and closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pileup.model.errors import PileupError
from pileup.record import RunFolder
from pileup.run.intents import Intent, open_intents
from pileup.run.menders import MENDERS, ON_TARGETS, Context


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of one intent, or would."""

    text: str
    """Such as "the setting threads of target se is set back to 4"."""
    problem: str = ""
    """Why it could not be done."""

    def __str__(self) -> str:
        return f"{self.text}: could not be done: {self.problem}" if self.problem else self.text


def mend(folder: RunFolder, objects: bool, given: Mapping[str, str] | None = None) -> list[Mended]:
    """End, restore and remove what a run has left; return what was done, and what could not be.

    Servers are ended, paused ones continued, settings restored, folders for temporary files removed; with `objects`
    also what its tests have made on the targets, unless the suite keeps it. `given` are values of the suite that the
    record hides. Whoever calls sees to it that the run's pileup is gone. What is done is closed in the journal, so
    that a second call does nothing; what could not be done stays open.
    """
    return [mended for intent, context in _each(folder, objects, given) if (mended := _mend(intent, context))]


def would_mend(folder: RunFolder, objects: bool, given: Mapping[str, str] | None = None) -> list[str]:
    """Return what `mend` would do, and do nothing."""
    told = []
    for intent, context in _each(folder, objects, given):
        mender = MENDERS[intent.what]
        if mender.needed(intent, context):
            told.append(mender.told(intent, context))
    return told


def _each(folder: RunFolder, objects: bool, given: Mapping[str, str] | None) -> Iterator[tuple[Intent, Context]]:
    context = Context(folder, dict(given or {}))
    for intent in open_intents(folder):
        if intent.what in MENDERS and (objects or intent.what not in ON_TARGETS):
            yield intent, context


def _mend(intent: Intent, context: Context) -> Mended | None:
    """Mend one; return what became of it, None when there was nothing to do."""
    mender = MENDERS[intent.what]
    needed = mender.needed(intent, context)
    told = mender.told(intent, context)
    if needed:
        try:
            mender.mend(intent, context)
        except (PileupError, OSError, ValueError) as problem:
            if mender.failed:
                context.folder.journal(intent.what, mender.failed, of=intent.number, problem=str(problem))
            return Mended(told, str(problem))
    kept = {word: intent.entry[word] for word in ("case", "target", "own") if word in intent.entry}
    context.folder.journal(intent.what, mender.state(intent, context), of=intent.number, by="undo", **kept)
    return Mended(told) if needed else None
