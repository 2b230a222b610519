"""The programs of a native test whose options differ between places: checked as one, run separately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pileup.model.program import Program, Step


def joined(programs: Sequence[Program]) -> Program:
    """Return a program with the steps of all, place by place: what is checked before a load, and made ready for it."""
    return replace(programs[0], steps=tuple(step for each in programs for step in each.steps))


def split(program: Program, programs: Sequence[Program]) -> tuple[Program, ...]:
    """Return the program of each place out of a joined one whose steps may have changed; `programs` were joined."""
    found, begin = [], 0
    for each in programs:
        found.append(replace(each, steps=program.steps[begin : begin + len(each.steps)]))
        begin += len(each.steps)
    return tuple(found)


def united(programs: Iterable[Program | None]) -> Program | None:
    """Return a program that does each step of all once; None where there is none."""
    there = [each for each in programs if each is not None]
    if len(there) == 1:
        return there[0]
    steps: dict[Step, None] = dict.fromkeys(step for each in there for step in each.steps)
    return replace(there[0], steps=tuple(steps)) if there else None
