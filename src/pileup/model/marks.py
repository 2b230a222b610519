"""Marks: a sign and a tone for each verdict and outcome, the same on the screen, in `show`, `compare` and reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a mark says of a system; screens and pages give each a colour."""

    GOOD = "good"
    UNSURE = "warn"
    BAD = "bad"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign of one character, and its tone."""

    sign: str
    tone: Tone


MET, NOT_SHOWN, NOT_MET = Mark("✓", Tone.GOOD), Mark("~", Tone.UNSURE), Mark("✗", Tone.BAD)
OPEN, BROKEN, NOTHING = Mark("?", Tone.UNSURE), Mark("!", Tone.UNSURE), Mark("\N{EN DASH}", Tone.NONE)
MARKS = {
    "met": MET,
    "met, not shown": NOT_SHOWN,
    "not met": NOT_MET,
    "not met, not shown": NOT_MET,
    "unknown": OPEN,
    "not covered": NOTHING,
    "passed": MET,
    "failed": NOT_MET,
    "error": NOT_MET,
    "refused": NOT_MET,
    "ambiguous": OPEN,
    "unfinished": OPEN,
    "lost": OPEN,
    "not run": NOTHING,
    "spared": NOTHING,
    "unavailable": BROKEN,
    "stopped": BROKEN,
    "better": MET,
    "worse": NOT_MET,
}
"""Verdicts of criteria, runs and contrasts, outcomes of cases and iterations."""


def mark(word: str) -> Mark:
    """Return the mark of a verdict or an outcome; a dash for any other word."""
    return MARKS.get(word, NOTHING)
