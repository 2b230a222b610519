"""The layers of a storage protocol: the same test on one of them alone, which shows the cost of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pileup.plugin import Program, Step
from pileup.plugin.verbs import Moves, Verb

Layers = Literal["all", "control", "data", "session", "noop"]


def layered(program: Program, layers: Layers) -> Program:
    """Return the part of a program that lies in one layer; the operations keep their names and objects.

    `control` opens and closes, or creates an empty file, where the whole moves bytes; `data` moves the bytes of a file
    that stays open; `session` connects, logs in and leaves again; `noop` is pileup alone. Checksums belong to `all`.
    Raises ValueError for a test that moves no bytes and `data`.
    """
    steps = [step for step in program.steps if step.verb != "checksum"]
    if layers == "data" and not any(step.traits.moves.here for step in steps):
        raise ValueError("layer data of a test that moves no bytes; expected all, control, session or noop")
    match layers:
        case "all":
            return program
        case "control":
            return replace(program, steps=tuple(map(_control, steps)))
        case "data":
            return replace(program, steps=tuple(_data(step) for step in steps if step.traits.moves.here))
        case "session":
            return replace(program, steps=(_bare(steps[0], "connect"),))
        case "noop":
            return replace(program, steps=(_bare(steps[0], "noop"),))


def _control(step: Step) -> Step:
    """Return a step without its bytes."""
    match step.traits.moves:
        case Moves.IN:
            return _bare(step, "open")
        case Moves.OUT:
            return _bare(step, step.verb)
        case _:
            return step


def _data(step: Step) -> Step:
    return replace(step, keep=True, checksum="none")


def _bare(step: Step, verb: Verb) -> Step:
    return Step(step.operation, verb, step.keys, step.repeat)
