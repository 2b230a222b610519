"""A target for Python tests that checks each change before it makes it."""

from __future__ import annotations

import functools

from pileup.plugin import Ambiguous, FileTarget, NotThere, Refused, ThereAlready
from pileup.run.safety.boundary import Inside, Names, shown


def guarded(target: FileTarget, inside: Inside, made: Names | None, private: bool = False) -> FileTarget:
    """Return the target with guards: it writes only `inside`, and deletes only what is in `made`.

    What it writes is added to `made`; None: what was made is not known here, and everything inside may be deleted.
    Files that this run may not have made are not overwritten, but on a `private` target, where all is. A change that is
    not allowed raises Refused.
    """
    cls, written = type(target), Names() if made is None else made

    @functools.wraps(cls.write)
    def write(self: FileTarget, path: str, data: bytes) -> None:
        _check(inside, path, "write")
        if private or written.has(path):
            written.add_name(path)
            cls.write(self, path, data)
            return
        try:
            cls.create(self, path, data)
        except ThereAlready as problem:
            raise Refused(
                f"{shown(path)} exists already; this run did not make it",
                "a name that does not exist",
                "pileup overwrites nothing else",
            ) from problem
        except Ambiguous:
            written.add_name(path)  # it may be there: then it is this run's
            raise
        written.add_name(path)

    @functools.wraps(cls.create)
    def create(self: FileTarget, path: str, data: bytes) -> None:
        _check(inside, path, "write")
        cls.create(self, path, data)
        written.add_name(path)

    @functools.wraps(cls.mkdir)
    def mkdir(self: FileTarget, path: str) -> None:
        _check(inside, path, "make")
        if private or _is_new(self, path):
            written.add_name(path)
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

    methods: dict[str, object] = {each.__name__: each for each in (write, create, mkdir, delete)}
    methods |= {"remove_tree": _remove_tree, "end_uploads": _end_uploads}
    methods["__doc__"] = cls.__doc__
    kind = type(cls.__name__, (cls,), methods)
    twin: FileTarget = object.__new__(kind)
    twin.__dict__.update(target.__dict__)
    return twin


def _remove_tree(target: FileTarget, path: str) -> None:
    raise Refused(f"{shown(path)} is not removed with all that is in it", "names, one by one", "delete() removes one")


def _end_uploads(target: FileTarget, path: str) -> int:
    raise Refused(
        f"uploads below {shown(path)} are not ended: some may be of others", "no such call", "the run does it"
    )


def _is_new(target: FileTarget, path: str) -> bool:
    """Whether a folder is not there yet: one that is there is not the run's to remove."""
    try:
        target.stat(path)
    except NotThere:
        return True
    return False


def _check(inside: Inside, path: str, what: str) -> None:
    if problem := inside.problem(path):
        raise Refused(
            f"pileup does not {what} this: {problem}", f"a path inside {inside.inside}", "`limits.inside` of the suite"
        )
