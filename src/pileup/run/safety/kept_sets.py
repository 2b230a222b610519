"""Sets that a run leaves on purpose in a folder of the suite: their description, and how they are reused."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from pileup.model.errors import RecordError, TargetError, VerdictException
from pileup.model.program import Keys, Program, Step
from pileup.model.units import format_size
from pileup.plugin import FileTarget, Target, ThereAlready
from pileup.record.typed_json import read
from pileup.run.safety.boundary import shown
from pileup.run.safety.marker import MARKER
from pileup.run.safety.set_contents import Made, read_small, whole

MANIFEST = ".pileup-set"
"""A file beside a set: what its names and contents are."""


def deleting(names: list[str]) -> Program:
    """Return the deleting of these names, one by one."""
    return Program((Step("delete", "delete", Keys(names=tuple(names)), repeat=len(names), missing_ok=True),))


def counting(target: Target | None, program: Program) -> Program:
    """Return a program whose listings expect what pileup itself has put into a folder of the suite's, too."""
    if not isinstance(target, FileTarget) or not any(step.expect.entries is not None for step in program.steps):
        return program
    return replace(program, steps=tuple(_with_own_files(target, step) for step in program.steps))


def _with_own_files(target: FileTarget, step: Step) -> Step:
    if step.expect.entries is None:
        return step
    try:
        found = sum(each.name.startswith((MARKER, MANIFEST)) for each in target.list(step.keys.name(0)))
    except VerdictException:
        return step  # the listing will fail, too
    return replace(step, expect=replace(step.expect, entries=step.expect.entries + found))


def left_alone(names: list[str]) -> str:
    """Return in words that these are not removed, empty for none."""
    if not names:
        return ""
    return f"{len(names)} not removed, because this run may not have made them: {shown(min(names))}"


def describe(target: FileTarget, makes: list[Made]) -> str:
    """Write the description of a complete set next to it; return what went wrong."""
    sets = [made for made in makes if made.written and made.content is not None and not made.keys.names]
    if len({made.keys.prefix for made in sets}) != 1 or len(makes) != len(sets):
        return ""
    made = sets[-1]
    try:
        if whole(target, made.keys, made.content):
            target.create(_manifest(made.keys), json.dumps(asdict(_about(made))).encode())
    except ThereAlready:
        return ""
    except (VerdictException, TargetError) as problem:
        return f"the description of the set could not be written: {problem}"
    return ""


@dataclass(frozen=True, slots=True)
class SetDescription:
    """A set: how many files in how many folders, and of what content (None: of none). Sizes in bytes."""

    files: int
    folders: int
    seed: int | None = None
    size: int | None = None
    sizes: tuple[tuple[int, int], ...] = ()
    entropy: float | None = None


def found_again(target: FileTarget, made: Made) -> str:
    """Return that a set with its description is there, whole and the same; empty where there is none.

    Raises TargetError for one that is another, or not whole any more.
    """
    try:
        known = read_small(target, _manifest(made.keys))
        told, wanted = _read(known or b""), _about(made)
        if told is None:
            return ""
        place = "/" + _manifest(made.keys).rpartition("/")[0]
        if told != wanted:
            raise TargetError(
                f"the set in {place} is another: {_words(told)}",
                _words(wanted),
                "the same seed and options, another folder, or remove that set",
            )
        if not whole(target, made.keys, made.content):
            raise TargetError(
                f"the set in {place} is no longer complete",
                _words(wanted),
                f"remove what is left of it, and {_manifest(made.keys)}",
            )
    except VerdictException as problem:
        raise TargetError(str(problem), "a folder that can be listed") from problem
    return f"the set in {place} is already there, complete and identical: {_words(told)}; nothing was written"


def _manifest(keys: Keys) -> str:
    folder, _, begin = keys.prefix.strip("/").rpartition("/")
    return f"{folder}/{MANIFEST}-{begin}".lstrip("/")


def _about(made: Made) -> SetDescription:
    keys, content = made.keys, made.content
    if content is None:
        return SetDescription(keys.count, keys.folders)
    return SetDescription(keys.count, keys.folders, content.seed, content.size, content.sizes, content.entropy)


def _read(known: bytes) -> SetDescription | None:
    """Return what a file says of a set; None when it is not what a run has left."""
    try:
        return read(SetDescription, json.loads(known))
    except (ValueError, RecordError):
        return None


def _words(told: SetDescription) -> str:
    """Return a description in words."""
    if told.size is None:
        return "something else"
    size = "of drawn sizes" if told.sizes else f"of {format_size(told.size)}"
    return f"{told.files} files {size}, seed {told.seed}, entropy {told.entropy}"
