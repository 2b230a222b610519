"""Sets that a run leaves on purpose in a folder of the suite's: what says what they are, and using them again."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from pileup.model.errors import TargetError, VerdictException
from pileup.model.program import Keys, Program, Step
from pileup.model.units import format_size
from pileup.plugin import FileTarget, Target, ThereAlready
from pileup.run.safety.boundary import shown
from pileup.run.safety.own_folders import MARKER
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
    if step.verb != "list" or step.expect.entries is None:
        return step
    try:
        found = sum(each.name.startswith((MARKER, MANIFEST)) for each in target.list(step.keys.name(0)))
    except VerdictException:
        return step  # met again by the listing
    return replace(step, expect=replace(step.expect, entries=step.expect.entries + found))


def left_alone(names: list[str]) -> str:
    """Return in words that these are not removed, empty for none."""
    if not names:
        return ""
    return f"{len(names)} left alone, for it is not known that this run has made them: {shown(min(names))}"


def describe(target: FileTarget, makes: list[Made]) -> str:
    """Write beside a set that is whole what it is; return what went wrong."""
    sets = [made for made in makes if made.verb == "write" and made.content is not None and not made.keys.names]
    if len({made.keys.prefix for made in sets}) != 1 or len(makes) != len(sets):
        return ""
    made = sets[-1]
    try:
        if whole(target, made.keys, made.content):
            target.create(_manifest(made.keys), json.dumps(_about(made)).encode())
    except ThereAlready:
        return ""
    except (VerdictException, TargetError) as problem:
        return f"what says what the set is could not be written: {problem}"
    return ""


def found_again(target: FileTarget, made: Made) -> str:
    """Return that a set with its description is there, whole and the same; empty where there is none.

    Raises TargetError for one that is another, or not whole any more.
    """
    try:
        known = read_small(target, _manifest(made.keys))
        told, wanted = _read(known or b""), _about(made)
        if told.keys() != wanted.keys():  # nothing that a run has left
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
                f"the set in {place} is not whole any more",
                _words(wanted),
                f"remove what is left of it, and {_manifest(made.keys)}",
            )
    except VerdictException as problem:
        raise TargetError(str(problem), "a folder that can be looked at") from problem
    return f"the set in {place} is there, whole and the same: {_words(told)}; nothing was written"


def _manifest(keys: Keys) -> str:
    folder, _, begin = keys.prefix.strip("/").rpartition("/")
    return f"{folder}/{MANIFEST}-{begin}".lstrip("/")


def _about(made: Made) -> dict[str, Any]:
    content = asdict(made.content) if made.content is not None else {}
    sizes = [list(each) for each in content.get("sizes", ())]
    return {"files": made.keys.count, "folders": made.keys.folders, **content, "sizes": sizes}


def _read(known: bytes) -> dict[str, Any]:
    try:
        told = json.loads(known)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _words(told: dict[str, Any]) -> str:
    """Return a description in words."""
    try:
        size = "of drawn sizes" if told["sizes"] else f"of {format_size(int(told['size']))}"
        return f"{int(told['files'])} files {size}, seed {int(told['seed'])}, entropy {float(told['entropy'])}"
    except (KeyError, TypeError, ValueError):
        return "something else"
