"""Plug-ins in files of a suite that are not imported: placeholder classes for use where nothing may be executed."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from pileup.model.record import Sample
from pileup.plugin import ClientSpec, Monitor, Op, PluginError, Report, Target, Test
from pileup.plugin.registry import find_all
from pileup.plugin.test import needs_of
from pileup.suite.formats.tree import Mapping, Node, Sequence

if TYPE_CHECKING:
    from pileup.plugin import RunResults

_words: ContextVar[frozenset[str] | None] = ContextVar("words of the suite that is read", default=None)


@contextmanager
def without_import(tree: Mapping) -> Iterator[None]:
    """Import no file of the suite of a tree: placeholders for its plug-ins accept any option."""
    token = _words.set(frozenset(_keys(tree)))
    try:
        yield
    finally:
        _words.reset(token)


def stand_in(kind: str, name: str) -> type | None:
    """Return the placeholder for a plug-in in a file of the suite, None if it may be imported. Raises PluginError."""
    words = _words.get()
    if words is None or ".py:" not in name:
        return None
    if not name.rpartition(":")[2].isidentifier():
        raise PluginError(f"{name!r} names no class", "./file.py:Class")
    base = STAND_INS[kind]
    taken = {*dir(base), *(name for each in base.__mro__ for name in inspect.get_annotations(each))}
    options = words - taken
    body: dict[str, Any] = dict.fromkeys(options) | {"__annotations__": dict.fromkeys(options, Any)}
    body |= {"name": name} if kind != "targets" else {"kind": name, "provides": _all_that_is_needed()}
    return type(base.__name__, (base,), body)


def _all_that_is_needed() -> frozenset[str]:
    needs = (what for found in find_all("tests") if found.cls is not None for what in needs_of(found.cls).values())
    return frozenset({"any", *needs})


def _keys(node: Node) -> Iterator[str]:
    """Yield every word below a node that can be an option, in axes of a scan too."""
    match node:
        case Mapping():
            for key, value in node.entries.items():
                yield from (part for part in key.split(".") if part.isidentifier() and not part.startswith("_"))
                yield from _keys(value)
        case Sequence():
            for item in node.items:
                yield from _keys(item)


class UnreadTest(Test):
    """A test that has not been read."""

    _framework = True
    needs = ""

    def run(self, op: Op) -> None:
        """Never run."""
        raise NotImplementedError


class UnreadTarget(Target):
    """A kind of target that has not been read."""

    _framework = True

    def client(self) -> ClientSpec:
        """Never asked."""
        raise NotImplementedError


class UnreadMonitor(Monitor):
    """A monitor that has not been read."""

    _framework = True

    def sample(self) -> Iterator[Sample]:
        """Never sampled."""
        raise NotImplementedError


class UnreadReport(Report):
    """A report that has not been read."""

    _framework = True

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Never written."""
        raise NotImplementedError


STAND_INS: dict[str, type] = {
    "tests": UnreadTest,
    "targets": UnreadTarget,
    "monitors": UnreadMonitor,
    "reports": UnreadReport,
}
