"""Several checks that must hold together: `p90(q) < 1 s and fraction(q.refused) < 1 %`."""

from __future__ import annotations

import re
from dataclasses import replace

from pileup.model import check as checks
from pileup.model.check import Check

AND = "and"
NEVER = "never"
"""`fail_when` of a load that fails only when it cannot be pressed."""
_JOINT = re.compile(r"\s+and(?=\s|$)|^\s*and(?=\s)")
"""The word between two checks; what looks like it inside brackets is a name or the value of a label."""


def parse(text: str) -> tuple[Check, ...]:
    """Read checks joined by `and`, in the order in which they are written.

    Raises ValueError with the column in the whole text, what was found and what was expected.
    """
    return tuple(_part(text, begin, end) for begin, end in _spans(text))


def _part(text: str, begin: int, end: int) -> Check:
    # spaces in the place of what comes before: a mistake is reported with its column in the whole text
    found = checks.parse(" " * begin + text[begin:end].rstrip())
    return replace(found, text=found.text.strip())


def _spans(text: str) -> list[tuple[int, int]]:
    """Return (begin, end) of each check in the text."""
    found, begin = [], 0
    for joint in _JOINT.finditer(text):
        if not _inside(text[begin : joint.start()]):
            found.append((begin, joint.start()))
            begin = joint.end()
    return [*found, (begin, len(text))]


def _inside(text: str) -> bool:
    """Return whether the text ends inside the brackets of a selector; labels, in [ ], may hold other brackets."""
    unlabelled = re.sub(r"\[[^\]]*(\]|$)", "", text)
    return unlabelled.count("(") > unlabelled.count(")")
