"""A target for Python tests that checks each change before it makes it."""

from __future__ import annotations

import functools
from typing import Any

from pileup.plugin import FileTarget, Refused
from pileup.run.rails import Inside, Names, shown


def guarded(target: FileTarget, inside: Inside, made: Names | None) -> FileTarget:
    """Return a target of the same kind, options and connections that writes `inside` alone and deletes what is `made`.

    What it writes joins `made`; None: what was made is not known here, all that is inside may be deleted. A change
    that is not allowed raises Refused, and nothing is sent.
    """
    cls = type(target)

    @functools.wraps(cls.write)
    def write(self: FileTarget, path: str, data: bytes) -> None:
        _check(inside, path, "write")
        _note(made, path)
        cls.write(self, path, data)

    @functools.wraps(cls.mkdir)
    def mkdir(self: FileTarget, path: str) -> None:
        _check(inside, path, "make")
        _note(made, path)
        cls.mkdir(self, path)

    @functools.wraps(cls.delete)
    def delete(self: FileTarget, path: str) -> None:
        _check(inside, path, "delete")
        if made is not None and not made.has(path):
            raise Refused(
                f"{shown(path)} is not deleted: this run has not made it",
                "a name that a test of this run has written",
                "pileup deletes nothing else",
            )
        cls.delete(self, path)

    methods: dict[str, Any] = {"write": write, "mkdir": mkdir, "delete": delete, "__doc__": cls.__doc__}
    kind = type(cls.__name__, (cls,), methods)
    twin: FileTarget = object.__new__(kind)
    twin.__dict__.update(target.__dict__)
    return twin


def _note(made: Names | None, path: str) -> None:
    if made is not None:
        made.add_name(path)


def _check(inside: Inside, path: str, what: str) -> None:
    if problem := inside.problem(path):
        raise Refused(
            f"pileup does not {what} that: {problem}", f"a path inside {inside.inside}", "`limits.inside` of the suite"
        )
