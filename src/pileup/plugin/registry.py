"""Finds plug-ins by entry points, built-in ones and others in the same way, or in a file named by the suite."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pileup.model.errors import PluginError, UnknownPluginError
from pileup.model.nearest import nearest
from pileup.plugin.charts import Chart
from pileup.plugin.exporter import Exporter
from pileup.plugin.monitor import Monitor
from pileup.plugin.options import FIELD, of_option, option_defaults
from pileup.plugin.outcomes import wrong_meanings
from pileup.plugin.report import Report
from pileup.plugin.signatures import wrong_methods
from pileup.plugin.target import Target
from pileup.plugin.test import Test
from pileup.plugin.userfile import load_class, user_mistake

__all__ = ["KINDS", "Found", "find_all", "load", "names", "user_mistake"]

KINDS: dict[str, type] = {
    "tests": Test,
    "targets": Target,
    "monitors": Monitor,
    "reports": Report,
    "charts": Chart,
    "exporters": Exporter,
}


@dataclass(frozen=True, slots=True)
class Found:
    """A registered plug-in. `cls` is None when it cannot be loaded; `reason` says why."""

    kind: str
    name: str
    package: str
    cls: type | None
    reason: str = ""


def names(kind: str) -> list[str]:
    """Return the registered names of a kind (a key of KINDS), sorted."""
    return sorted({entry.name for entry in _entries(kind)})


def find_all(kind: str) -> Iterator[Found]:
    """Yield every registered plug-in of a kind, also those that cannot be loaded here."""
    for entry in sorted(_entries(kind), key=lambda each: each.name):
        package = _name_of(entry.dist) if entry.dist else ""
        try:
            yield Found(kind, entry.name, package, _loaded(kind, entry))
        except PluginError as problem:
            yield Found(kind, entry.name, package, None, problem.what)


def load(kind: str, name: str, folder: Path = Path()) -> Any:
    """Return the plug-in class registered as `name`, or `./file.py:Class` relative to `folder`.

    Raises PluginError: unknown name (with near ones), unavailable (with the reason), or a mistake in the user's file.
    """
    if ".py:" in name:
        return load_class(KINDS[kind], name, folder)
    entry = next((each for each in _entries(kind) if each.name == name), None)
    if entry is None:
        raise _unknown(kind, name)
    return _loaded(kind, entry)


def _unknown(kind: str, name: str) -> PluginError:
    near = nearest(name, names(kind))
    expected = " or ".join(map(repr, near)) if near else f"a name from `pileup list {kind}`, or ./file.py:Class"
    if name.endswith(".py"):
        expected = f"{name}:NAME_OF_THE_CLASS"
    return UnknownPluginError(f"there is no {kind[:-1]} {name!r}", expected, near=tuple(near))


def _loaded(kind: str, entry: EntryPoint) -> type:
    """Import a registered class; any error in its package makes it unavailable, with the reason."""
    package = _name_of(entry.dist) if entry.dist else entry.value
    try:
        cls = entry.load()
    except (Exception, SystemExit) as problem:
        reason = f"{type(problem).__name__}: {problem}"
        hint = f"see the package {package}: is all it needs installed?"
        raise PluginError(f"{kind[:-1]} {entry.name!r} is unavailable: {reason}", hint=hint) from problem
    if not (isinstance(cls, type) and issubclass(cls, KINDS[kind])):
        wanted = f"a class that derives from pileup.plugin.{KINDS[kind].__name__}"
        raise PluginError(f"{kind[:-1]} {entry.name!r} of {package} is {entry.value}, which is none", wanted)
    told = f"{kind[:-1]} {entry.name!r} of {package}"
    for name in option_defaults(getattr(cls, "launch_settings", None)):
        raise PluginError(f"{told}: {of_option(name)}", FIELD)
    for wrong in wrong_methods(cls):
        raise PluginError(f"{told}: {wrong.what}", wrong.expected, wrong.hint or f"correct the package {package}")
    if meanings := wrong_meanings(cls):
        raise PluginError(f"{told}: {meanings[0]}", meanings[1], f"correct the package {package}")
    return cls


def _entries(kind: str) -> list[EntryPoint]:
    return _registered(tuple(sys.path))[kind]


@functools.cache
def _registered(_path: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    """Return what the packages on this path register; what all of them say is read once."""
    found = entry_points()
    return {kind: list(found.select(group=f"pileup.{kind}")) for kind in KINDS}


@functools.cache
def _name_of(package: Distribution) -> str:
    """Return the name of a package, for which all of its description is read."""
    return package.name
