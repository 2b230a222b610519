"""The names nearest to one that is wrong: of commands, options, suites, plug-ins and keys alike."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

LIKENESS, SWAPPED = 0.6, 0.9
"""Share of two words that must agree (`difflib`: twice the letters in common by all of both) to be taken for a slip;
and that of two words of the same letters in another order."""
BEHIND = 0.1
"""How far behind the best match another may be."""
COMPARED = 200
"""Names that a wrong one is compared with, at most."""
LONGEST = 100
"""Letters of the wrong word that are compared."""


def nearest(word: str, known: Iterable[str], most: int = 3, likeness: float = LIKENESS) -> list[str]:
    """Return the known names that `word` is probably a slip of, the nearest first; none where it is like no other.

    Dashes before an option are no letters: `--clients` is not like `--fleet`.
    """
    names = likely(word, [name for name in known if name])
    bare = word.lstrip("-").lower()[:LONGEST]
    matcher = SequenceMatcher()
    matcher.set_seq2(bare)
    found = []
    for name in names:
        other = name.lstrip("-").lower()
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= likeness and matcher.quick_ratio() >= likeness:
            swapped = SWAPPED if other != bare and sorted(other) == sorted(bare) else 0.0
            found.append((max(matcher.ratio(), swapped), name))
    best = max((share for share, _ in found), default=0.0)
    kept = sorted((-share, name) for share, name in found if share >= max(likeness, best - BEHIND))
    return [name for _, name in kept[:most]]


def likely(word: str, names: list[str]) -> list[str]:
    """Return the names worth comparing: all when few, else some that begin or end alike; comparing takes time."""
    if len(names) <= COMPARED:
        return names
    alike = [
        name for name in names if abs(len(name) - len(word)) <= 3 and (name[:2] == word[:2] or name[-2:] == word[-2:])
    ]
    return alike[:COMPARED]
