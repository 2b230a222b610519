"""Finds plug-ins by entry points, ours and everybody's alike, or in a file named by the suite."""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pileup.model.errors import PluginError
from pileup.plugin.monitor import Monitor
from pileup.plugin.report import Report
from pileup.plugin.target import Target
from pileup.plugin.test import Test

KINDS: dict[str, type] = {"tests": Test, "targets": Target, "monitors": Monitor, "reports": Report}


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
    return sorted(entry.name for entry in _entries(kind))


def find_all(kind: str) -> Iterator[Found]:
    """Yield every registered plug-in of a kind, also those that cannot be loaded here."""
    for entry in sorted(_entries(kind), key=lambda each: each.name):
        package = entry.dist.name if entry.dist else ""
        try:
            yield Found(kind, entry.name, package, entry.load())
        except Exception as problem:
            yield Found(kind, entry.name, package, None, f"{type(problem).__name__}: {problem}")


def load(kind: str, name: str, folder: Path = Path()) -> Any:
    """Return the plug-in class registered as `name`, or `./file.py:Class` relative to `folder`.

    Raises PluginError: unknown name (with near ones), unavailable (with the reason), or a mistake in the user's file.
    """
    if ".py:" in name:
        return _load_file(kind, name, folder)
    entry = next((each for each in _entries(kind) if each.name == name), None)
    if entry is None:
        near = difflib.get_close_matches(name, names(kind), 3)
        expected = f"one of {', '.join(near)}" if near else f"a name from `pileup list {kind}`, or ./file.py:Class"
        raise PluginError(f"there is no {kind[:-1]} {name!r}", expected)
    try:
        return entry.load()
    except ImportError as problem:
        raise PluginError(f"{kind[:-1]} {name!r} is unavailable: {problem}", hint="install what it needs") from problem


def _entries(kind: str) -> Iterator[EntryPoint]:
    yield from entry_points(group=f"pileup.{kind}")


def _load_file(kind: str, name: str, folder: Path) -> type:
    file_name, _, class_name = name.rpartition(":")
    path = (folder / file_name).resolve()
    if not path.is_file():
        raise PluginError(f"there is no file {path}", "a Python file beside the suite", f"{name!r} names it")
    module = _import_file(path)
    cls = getattr(module, class_name, None)
    if not (isinstance(cls, type) and issubclass(cls, KINDS[kind])):
        offered = [key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, KINDS[kind])]
        own = [key for key in offered if getattr(module, key).__module__ == module.__name__]
        raise PluginError(f"{path.name} has no {kind[:-1]} class {class_name!r}", f"one of {own}" if own else f"a class that derives from pileup.plugin.{KINDS[kind].__name__}")
    return cls


def _import_file(path: Path) -> Any:
    module_name = f"pileup_user_{path.stem}_{abs(hash(str(path))):x}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} cannot be read as Python", "a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        del sys.modules[module_name]
        raise PluginError(user_mistake(problem, path), hint="mend the file and run again") from problem
    return module


def user_mistake(problem: BaseException, path: Path) -> str:
    """Return a mistake in the user's file as `file:line: Kind: message`, with the line itself."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{Path(problem.filename).name}:{problem.lineno}: {type(problem).__name__}: {problem.msg}"
    line, trace = 0, problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f"{path.name}:{line}" if line else path.name
    source = path.read_text().splitlines()[line - 1].strip() if line else ""
    return f"{where}: {type(problem).__name__}: {problem}" + (f"  in `{source}`" if source else "")
