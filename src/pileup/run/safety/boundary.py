"""Where a run may write and delete on a target: paths in normal form, and the names that it has made."""

from __future__ import annotations

import os
import posixpath
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pileup.model.plan import Plan
from pileup.model.program import Keys, Program, Step
from pileup.model.verbs import Makes
from pileup.plugin import Target

DECODINGS = 8
"""How often a name may be percent-encoded over and over; more is refused."""
MOST_NAMES = 200_000
"""Most names that are compared one by one."""
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Inside:
    """A folder of a target outside of which nothing is changed. `inside` "" or "/" is the whole target."""

    url: str
    inside: str
    local: bool
    """Whether the target is a folder of this machine, where symbolic links can be followed."""

    def problem(self, name: str) -> str:
        """Return why nothing may be changed at a name relative to the target, empty when it may."""
        return self.problem_at(self._whole(name), name)

    def problem_at(self, path: str, name: str = "") -> str:
        """Return why nothing may be changed at a whole path of the target's system, empty when it may."""
        if self.free:
            return ""
        told = shown(name or path)
        for text in _decodings(path):
            if text is None or "\0" in text or ".." in text.replace("\\", "/").split("/"):
                return f"{told} may lead out of {self.inside}"
            if not _below(text, self.inside):
                return f"{told} is {text}, outside {self.inside}"
        if self.local and not _below(os.path.realpath(path), os.path.realpath(self.inside)):
            return f"{told} leads out of {self.inside} by a symbolic link"
        return ""

    def problem_of_step(self, step: Step) -> str:
        """Return why a step may not be done, empty when it may. Folders on the way to the place may be made."""
        if step.traits.makes is Makes.FOLDER and step.keys.names:
            names = tuple(name for name in step.keys.names if not self._on_the_way(name))
            return self.problem_of(Keys(names=names)) if names else ""
        places = [urlsplit(value).path for name, value in step.headers if name.lower() == "destination"]
        problem = self.problem_of(step.keys) or next(filter(None, map(self.problem_at, places)), "")
        return problem or (self.problem_of(step.made) if step.made not in (None, step.keys) else "")

    @property
    def free(self) -> bool:
        """Whether there is no limit."""
        return self.inside.strip("/") == ""

    def _on_the_way(self, name: str) -> bool:
        whole = self._whole(name)
        return ".." not in whole and "%" not in whole and _below(self.inside, whole)

    def problem_of(self, keys: Keys) -> str:
        """Return why one of these names may not be changed, empty when all may."""
        if keys.names:
            return next(filter(None, map(self.problem, _all(keys))), "")
        return self.problem(keys.name(0)) or self._problem_of_links(keys)

    def _problem_of_links(self, keys: Keys) -> str:
        """Numbered names differ in digits alone: only one that is a link can lead elsewhere."""
        if not self.local or self.free:
            return ""
        folder, _, begin = keys.prefix.rpartition("/")
        try:
            with os.scandir(self._whole(folder)) as found:
                links = [each.name for each in found if each.is_symlink()]
        except OSError:  # not there yet: nothing in it is a link
            return ""
        begins = (begin, "d") if keys.folders else (begin,)
        return next(filter(None, (self.problem(f"{folder}/{name}") for name in links if name.startswith(begins))), "")

    def _whole(self, name: str) -> str:
        return f"{_base(self.url)}/{name.lstrip('/')}"


def inside_of(plan: Plan, name: str, target: Target) -> Inside:
    """Return where on a target something may be changed. The limit does not apply to a folder that pileup makes for the
    run.
    """
    spec = plan.suite.targets[name]
    private = spec.url is None and spec.launch is None
    limit = "" if private else plan.suite.limits.inside or ""
    client = target.client()
    return Inside(target.url, limit, client is not None and client.protocol == "posix")


def _base(url: str) -> str:
    if "://" not in url:
        return str(Path(url).expanduser().absolute())
    return unquote(urlsplit(url).path).rstrip("/")


def place_inside(url: str, inside: str) -> str:
    """Return the way from a url down to `inside`, relative; empty where that is the url or above it."""
    base = posixpath.normpath(_base(url) or "/")
    limit = posixpath.normpath("/" + inside.strip("/"))
    if not url or limit == base or not _below(limit, base):
        return ""
    return limit[len(base.rstrip("/")) :].strip("/")


def _decodings(text: str) -> Iterator[str | None]:
    """Yield a path as written, decoded, decoded again…; None when that does not end."""
    for _ in range(DECODINGS):
        yield text
        if (decoded := unquote(text)) == text:
            return
        text = decoded
    yield None


def _below(path: str, folder: str) -> bool:
    plain, limit = (posixpath.normpath("/" + each.lstrip("/")) for each in (path, folder))
    return plain == limit or plain.startswith(limit.rstrip("/") + "/")


def shown(name: str) -> str:
    """Return a name for a message."""
    return repr(name if len(name) <= SHOWN else name[:SHOWN] + "…")


Pattern = tuple[str, int, str, int]
"""Prefix, digits, suffix and folders of a set of numbered names."""


@dataclass(slots=True)
class Names:
    """Names on one target, of sets as they are in programs and single ones. From any thread."""

    _sets: dict[Pattern, int] = field(default_factory=dict)
    """All of a set but its count -> largest count."""
    _single: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, keys: Keys) -> None:
        """Take names in."""
        with self._lock:
            if keys.names:
                self._single.update(map(_plain, _all(keys)))
            else:
                self._sets[_pattern(keys)] = max(self._sets.get(_pattern(keys), 0), keys.count)

    def add_name(self, name: str) -> None:
        """Take one name in."""
        with self._lock:
            self._single.add(_plain(name))

    def missing(self, keys: Keys) -> str | None:
        """Return one of these names that is not among them; None when all are."""
        with self._lock:
            if not keys.names and keys.count <= self._sets.get(_pattern(keys), 0):
                return None
            for name in _all(keys):
                if not self._has(_plain(name)):
                    return name
        return None if len(keys.names) or keys.count <= MOST_NAMES else keys.name(keys.count - 1)

    def has(self, name: str) -> bool:
        """Whether a name is among them."""
        with self._lock:
            return self._has(_plain(name))

    def _has(self, name: str) -> bool:
        if name in self._single:
            return True
        return any(_member(name, pattern, count) for pattern, count in self._sets.items())


def _pattern(keys: Keys) -> Pattern:
    return _slashes(keys.prefix), keys.width, keys.suffix.rstrip("/"), keys.folders


def _all(keys: Keys) -> Iterable[str]:
    """Yield the names, at most `MOST_NAMES` of numbered ones."""
    return (keys.name(number) for number in range(len(keys.names) or min(keys.count, MOST_NAMES)))


def _member(name: str, pattern: Pattern, count: int) -> bool:
    """Whether a name is that of an object of the set: its digits say of which."""
    prefix, width, suffix, folders = pattern
    begin, last = prefix.rpartition("/")[2], name.rpartition("/")[2]
    digits = last[len(begin) : len(last) - len(suffix)]
    if not (last.startswith(begin) and digits.isascii() and digits.isdigit()):
        return False
    return int(digits) < count and Keys(prefix, count, width, suffix=suffix, folders=folders).name(int(digits)) == name


def _plain(name: str) -> str:
    """Return a name as it counts: slashes around it mean nothing, doubled ones neither."""
    return _slashes(name).rstrip("/")


def _slashes(text: str) -> str:
    return re.sub("/+", "/", text).lstrip("/")


def changing(programs: Iterable[Program | None]) -> list[Step]:
    """Return the steps that change something on their own target."""
    return [step for program in programs if program is not None for step in program.steps if step.changes_here]
