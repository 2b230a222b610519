"""What a run cannot measure or do on a system that pileup did not start: reported, recorded, and used in verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

What = Literal["launch", "monitor", "fault", "setting", "test", "operation", "cooldown"]
PLURAL: dict[str, str] = {"monitor": "monitors", "fault": "faults", "setting": "settings", "test": "tests"}


@dataclass(frozen=True, slots=True)
class Uncovered:
    """One part of a suite that is not covered."""

    what: What
    name: str
    """Of a fault its name, or its place in the list, from 1; of a launch its target."""
    reason: str
    whole: bool = True
    """Whether nothing of it is covered; else what is there still counts, as partial coverage."""


def words(found: Iterable[Uncovered]) -> list[str]:
    """Return it as lines, those of one kind and one reason together."""
    grouped: dict[tuple[str, str, bool], list[str]] = {}
    for each in found:
        grouped.setdefault((each.what, each.reason, each.whole), []).append(each.name)
    return [_line(what, names, reason, whole) for (what, reason, whole), names in grouped.items()]


def _line(what: str, names: list[str], reason: str, whole: bool) -> str:
    if what == "launch":
        return f"Not used: `launch` of {', '.join(names)}: {reason}"
    called = what if len(names) == 1 else PLURAL.get(what, what)
    one = what if what == "cooldown" else f"{called} {', '.join(names)}"
    return f"{'Not covered' if whole else 'Covered in part'}: {one}: {reason}"
