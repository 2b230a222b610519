"""What is on a target under the names of a set, and which of it this run has made there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pileup._core._native import Steps
from pileup.model.errors import Failed, RecordError, TargetError, VerdictException
from pileup.model.journal import JournalEntry
from pileup.model.program import Content, Keys, Program, Step
from pileup.model.units import counted
from pileup.model.verbs import Makes, Moves
from pileup.plugin import FileTarget, NotThere
from pileup.record import RunFolder
from pileup.run.safety.boundary import Names, shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_ASKED = 10_000
"""Most names asked for one by one, if a server lists no folders."""
COMPARED_WITHIN = 60.0
"""Seconds that comparing content may take in one clean-up; what is left then stays."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a step makes: under which names, and with what content (None: a folder, or an empty file)."""

    operation: str
    makes: Makes
    keys: Keys
    content: Content | None
    source: Keys
    """The keys that the record has: of what got another name those before."""

    @property
    def renamed(self) -> bool:
        """Whether it was there before, under another name."""
        return self.source != self.keys

    @property
    def written(self) -> bool:
        """Whether its content was written with it."""
        return self.makes is Makes.FILE and not self.renamed


def made_by(steps: Iterable[Step]) -> list[Made]:
    """Return what steps make, but for the folders above: those may be there."""
    found = []
    for step in steps:
        keys, makes = step.made, step.traits.makes
        if keys is None or (makes is Makes.FOLDER and keys.names):
            continue
        content = step.content if step.traits.moves is Moves.OUT else None
        found.append(Made(step.operation, makes, keys, content, step.keys))
    return found


def making(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps that make something, as the journal keeps them."""
    return tuple(step for step in steps if step.made is not None)


def existing(target: FileTarget, keys: Keys) -> dict[str, int]:
    """Return what is there under these names: name -> size in bytes. Raises TargetError where that cannot be found out.

    Folders are listed; names are asked for one by one where the server has no listings.
    """
    names = Names()
    names.add(keys)
    try:
        found = {name: size for name, size in _listed(target, keys) if names.has(name)}
    except NotThere:
        return {}
    except VerdictException as problem:
        number = len(keys.names) or keys.count
        if number > MOST_ASKED:
            raise TargetError(
                f"the folder of {shown(keys.name(0))} cannot be listed: {problem}",
                f"a listing, or at most {MOST_ASKED} names",
                "existing names must be known before anything is written",
            ) from problem
        found = dict(_asked(target, keys, number))
    return found


def _listed(target: FileTarget, keys: Keys) -> Iterator[tuple[str, int]]:
    for folder in _folders(target, keys):
        try:
            entries = target.list(folder)
        except NotThere:
            continue
        yield from ((f"{folder}/{each.name}".lstrip("/"), each.size) for each in entries)


def _folders(target: FileTarget, keys: Keys) -> list[str]:
    """Return the folders of the names; inner ones only if they exist."""
    if keys.names:
        return sorted({name.strip("/").rpartition("/")[0] for name in keys.names})
    above = keys.prefix.strip("/").rpartition("/")[0] if "/" in keys.prefix.strip("/") else ""
    if keys.prefix.endswith("/"):
        above = keys.prefix.strip("/")
    if not keys.folders:
        return [above]
    inner = Names()
    inner.add(Keys(f"{above}/d" if above else "d", keys.folders, 6))
    there = [f"{above}/{each.name}".lstrip("/") for each in target.list(above) if each.folder]
    return [name for name in there if inner.has(name)]


def _asked(target: FileTarget, keys: Keys, number: int) -> Iterator[tuple[str, int]]:
    for k in range(number):
        name = keys.name(k).strip("/")
        try:
            yield name, target.stat(name).size
        except NotThere:
            continue


def acknowledged(folder: RunFolder, target: str) -> set[str]:
    """Return the names on a target that this run has made and not removed, by its record. If its rows cannot be read,
    no name is known.
    """
    made: dict[str, int] = {}
    entries = [each for each in folder.journal_entries() if _opens(each, target)]
    try:
        with folder.operations().connect() as connection:
            for entry in entries:
                for each in made_by(entry.made):
                    last = _last(connection, each.operation, entry.case)
                    if each.renamed:
                        last = _renamed(last, each)
                    made.update({name: max(end, made.get(name, 0)) for name, end in last.items()})
            removed = _last(connection, "delete", None) if made else {}
    except RecordError:
        return set()
    return {name for name, end in made.items() if removed.get(name, 0) <= end}


def _last(connection: DuckDBPyConnection, operation: str, case: str | None) -> dict[str, int]:
    """Return the names that an operation passed on, each with when it did last, ns since the epoch."""
    where, given = "operation = ? AND outcome = 'passed' AND side = 'client'", [operation]
    if case is not None:
        where, given = where + ' AND "case" = ?', [operation, case]
    asked = f'SELECT key, max("end") FROM operations WHERE {where} GROUP BY key'  # noqa: S608
    return {str(key).strip("/"): int(end) for key, end in connection.execute(asked, given).fetchall()}


def _opens(entry: JournalEntry, target: str) -> bool:
    return (entry.what, entry.state, entry.target) == ("objects", "made", target)


def _renamed(last: dict[str, int], made: Made) -> dict[str, int]:
    """Return the new names of what was renamed."""
    before, after = made.source.suffix, made.keys.suffix
    return {key.removesuffix(before) + after: end for key, end in last.items() if key.endswith(before)}


@dataclass(frozen=True, slots=True)
class Ours:
    """Which names are this run's, and which may not be."""

    names: list[str]
    """Files."""
    folders: list[str]
    """Folders, the innermost first: they go when the files are gone."""
    others: list[str]


def ours(folder: RunFolder, target: FileTarget, entry: JournalEntry, *, later: bool = False) -> Ours:
    """Return what is there of what a journal's entry says that was to be made and removed.

    A file is this run's if the record says so and it still has the size that was written; if its write was under way,
    only if it has the run's content. `later`, after the run has ended, somebody else may have written a file of that
    size under the name: then its first bytes are compared, too. Raises TargetError.
    """
    known = acknowledged(folder, entry.target)
    written = _written(folder, entry.target)
    removed = Names()
    for step in entry.remove.steps if entry.remove else ():
        removed.add(step.keys)
    mine: dict[str, bool] = {}
    others: list[str] = []
    until = time.monotonic() + COMPARED_WITHIN
    for made in made_by(entry.made):
        for name, size in existing(target, made.keys).items():
            if not removed.has(name):  # of another test, which removes it
                continue
            carries = name in known and _is_as_written(target, written, name, size, look=later)
            carries = carries or (time.monotonic() < until and _carries(target, made, name, size))
            if carries:
                mine[name] = made.makes is Makes.FOLDER
            else:
                others.append(name)
    folders = sorted((name for name, folder in mine.items() if folder), key=lambda name: -name.count("/"))
    files = [name for name, folder in mine.items() if not folder]
    return Ours(files, folders, sorted({name for name in others if name not in mine}))


def _written(folder: RunFolder, target: str) -> list[Made]:
    """Return all that the run was to write on a target: cases may write the same names one after another."""
    entries = (each for each in folder.journal_entries() if _opens(each, target))
    return [made for entry in entries for made in made_by(entry.made) if made.written]


def _is_as_written(target: FileTarget, written: list[Made], name: str, size: int, *, look: bool) -> bool:
    """Whether an object that this run has made has the size of one of its writes; with `look` its first bytes too.

    An empty one has nothing to lose, and a write that was broken off may leave it.
    """
    if size == 0 or all(_number(made.keys, name) is None for made in written):
        return True
    for made in written:
        number = _number(made.keys, name)
        if number is None:
            continue
        expected = made.content.size_of(number) if made.content is not None else 0
        if size != expected:
            continue
        if not look or made.content is None or size == 0:
            return True
        with suppress(VerdictException):
            if _first_is(target, name, replace(made.content, size=expected, sizes=()), number):
                return True
    return False


def _first_is(target: FileTarget, name: str, content: Content, number: int) -> bool:
    """Whether an object begins with the known content, by the first piece that comes. Raises VerdictException."""
    steps = Steps(json.dumps(Program((Step("read", "read", content=content),)).to_native()), 1)
    first = next(iter(target.read(name)), b"")
    return bool(first) and steps.first_wrong(0, number, 0, first) is None


def remove_folders(target: FileTarget, folders: list[str]) -> str:
    """Remove folders that are empty, the innermost first; return what went wrong."""
    problems = []
    for name in folders:
        try:
            target.delete(name)
        except NotThere:
            continue
        except VerdictException as problem:
            problems.append(str(problem))
    return f"{counted(len(problems), 'folder')} could not be removed: {problems[0]}" if problems else ""


def _carries(target: FileTarget, made: Made, name: str, size: int) -> bool:
    """Whether an object is as this run would have made it: its content, or the begin of it; an empty folder."""
    try:
        if made.makes is Makes.FOLDER:
            return not target.list(name)
        number = _number(made.keys, name)
        if made.renamed or number is None:
            return False
        expected = made.content.size_of(number) if made.content is not None else 0
        if made.content is None or expected == 0:
            return size == 0
        return 0 < size <= expected and _begins_as(target, name, replace(made.content, size=expected, sizes=()), number)
    except VerdictException:
        return False


def _begins_as(target: FileTarget, name: str, content: Content, number: int) -> bool:
    """Whether an object holds the known content, or the begin of it. Raises VerdictException."""
    steps = Steps(json.dumps(Program((Step("read", "read", content=content),)).to_native()), 1)
    at = 0
    for piece in target.read(name):
        if steps.first_wrong(0, number, at, piece) is not None:
            return False
        at += len(piece)
    return at > 0


def _number(keys: Keys, name: str) -> int | None:
    """Return the number of the object of that name."""
    if keys.names:
        return next((k for k in range(len(keys.names)) if keys.name(k).strip("/") == name), None)
    digits = name[: len(name) - len(keys.suffix)][-max(keys.width, 1) :] if keys.suffix else name[-keys.width :]
    if not digits.isdigit():
        return None
    for width in range(keys.width, keys.width + 4):  # numbers that have outgrown their width
        part = name.removesuffix(keys.suffix)[-width:]
        if part.isdigit() and keys.name(int(part)).strip("/") == name:
            return int(part)
    return None


def whole(target: FileTarget, keys: Keys, content: Content | None) -> bool:
    """Whether all of a set is there, each object of its size."""
    there = existing(target, keys)
    number = len(keys.names) or keys.count
    if len(there) != number:
        return False
    sizes = (content.size_of(k) if content is not None else 0 for k in range(number))
    return all(there.get(keys.name(k).strip("/")) == size for k, size in zip(range(number), sizes, strict=True))


def is_missing(target: FileTarget, path: str) -> bool:
    """Whether nothing is at a path. Raises VerdictException where that is not known."""
    try:
        target.stat(path)
    except NotThere:
        return True
    return False


def read_small(target: FileTarget, path: str, most: int = 1 << 16) -> bytes | None:
    """Return what a small file holds, at most so many bytes; None when there is none. Raises VerdictException."""
    found = b""
    try:
        for piece in target.read(path):
            found += piece
            if len(found) >= most:
                break
    except NotThere:
        return None
    except Failed:
        if is_missing(target, path):
            return None
        raise
    return found[:most]
