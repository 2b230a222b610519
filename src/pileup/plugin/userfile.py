"""Loads a plug-in from a user's file, and shows mistakes in it with the user's line."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from pileup.model.errors import PluginError
from pileup.plugin import asserts
from pileup.plugin.options import FIELD, declared, of_option, option_defaults, options_model
from pileup.plugin.outcomes import wrong_meanings
from pileup.plugin.signatures import wrong_methods
from pileup.plugin.test import Test

MEND = "fix the file and run again"

_IMPORTING = threading.RLock()
"""Held while a user's file runs for the first time: a second thread must not see half of it."""


class NoClassError(PluginError):
    """A file has no class of this name, or one of another kind; `offered` are its classes of the right kind."""

    def __init__(self, what: str, expected: str, offered: Sequence[str] = ()) -> None:
        super().__init__(what, expected)
        self.offered = tuple(offered)


def load_class(base: type, name: str, folder: Path) -> type:
    """Return the class that `./file.py:Class` names, relative to `folder`; it derives from `base`.

    Raises PluginError: no such file or class, or a mistake in it, with file and line.
    """
    file_name, _, class_name = name.rpartition(":")
    path = (folder / file_name).resolve()
    if not path.is_file():
        raise PluginError(f"there is no file {path}", "a Python file beside the suite", f"{name!r} names it")
    module = _import_file(path)
    cls = getattr(module, class_name, None)
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise _none(module, base, class_name, path)
    _inspect(cls, base, path)
    return cls


def _none(module: ModuleType, base: type, name: str, path: Path) -> NoClassError:
    found = getattr(module, name, None)
    bases = [each for each in getattr(found, "__mro__", ()) if "_framework" in vars(each)]
    if bases:
        told = f"{name!r} in {path.name} is {_with_article(bases[-1])}"
        return NoClassError(told, _with_article(base))
    own = _offered(module, base)
    expected = f"one of {', '.join(own)}" if own else f"a class that derives from pileup.plugin.{base.__name__}"
    return NoClassError(f"{path.name} has no {base.__name__} class {name!r}", expected, own)


def _with_article(base: type) -> str:
    return f"{'an' if base.__name__[0] in 'AEIOU' else 'a'} {base.__name__}"


def _offered(module: ModuleType, base: type) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]


def _import_file(path: Path) -> ModuleType:
    module_name = f"pileup_user_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    with _IMPORTING:
        if module_name in sys.modules:
            return sys.modules[module_name]
        return _run_file(module_name, path)


def _run_file(module_name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(module_name, path, loader=_Loader(module_name, str(path)))
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} cannot be read as Python", "a .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[module_name]
        raise PluginError(user_mistake(problem, path), hint=MEND) from problem
    return module


class _Loader(SourceFileLoader):
    """Compiles the user's file so that its asserts keep their values."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile it without a cache."""
        return asserts.keeping(self.get_data(self.path), self.path)


def _inspect(cls: type, base: type, path: Path) -> None:
    """Find mistakes that Python itself would report only during a run."""
    try:
        names = list(declared(cls))
        faults = _wrong_defaults(cls)
    except Exception as problem:  # an annotation that names nothing, or no type
        message = f"{type(problem).__name__}: {str(problem).splitlines()[0]}"
        raise PluginError(_at(cls, path, message), "options annotated with types that are imported", MEND) from problem
    for name in names:
        if name in _taken(base):
            what = f"option {name!r} has the name of something that every {base.__name__} has"
            raise PluginError(_at(cls, path, what, name), "another name", MEND)
    for name, message in faults:
        raise PluginError(_at(cls, path, f"the default of option {name!r} is wrong: {message}", name), hint=MEND)
    settings: Any = getattr(cls, "launch_settings", None)
    for name in option_defaults(settings):
        raise PluginError(_at(settings, path, of_option(name), name), FIELD, MEND)
    for wrong in wrong_methods(cls):
        told = f"{path.name}:{wrong.line}: {wrong.what}" if wrong.line else _at(cls, path, wrong.what)
        raise PluginError(told, wrong.expected, wrong.hint or MEND)
    if meanings := wrong_meanings(cls):
        raise PluginError(_at(cls, path, meanings[0]), meanings[1], MEND)
    for name in _missing(cls, base):
        raise PluginError(_at(cls, path, f"{cls.__name__} has no {name}"), f"`def {name}(self, ...)` in it", MEND)


def _taken(base: type) -> set[str]:
    return {name for name in (*dir(base), *inspect.get_annotations(base)) if not name.startswith("_")}


def _wrong_defaults(cls: type) -> list[tuple[str, str]]:
    """Return options whose default is not of their type or out of bounds, with what is wrong."""
    from pydantic import ValidationError  # noqa: PLC0415  kept out of start-up: see cli

    try:
        options_model(cls)()
    except ValidationError as problem:
        return [(str(each["loc"][0]), each["msg"]) for each in problem.errors() if each["type"] != "missing"]
    return []


def _missing(cls: type, base: type) -> list[str]:
    """Return the required methods that a class lacks."""
    if base is Test:
        return [] if cls.run is not Test.run or cls.program is not Test.program else ["run"]  # type: ignore[attr-defined]
    return [name for name in dir(cls) if getattr(getattr(cls, name), "__isabstractmethod__", False)]


def _at(cls: type, path: Path, message: str, option: str = "") -> str:
    """Prepend file and line: that of the option, or that of the class."""
    try:
        lines, line = inspect.getsourcelines(cls)
    except OSError:
        return f"{path.name}: {message}"
    offset = next((number for number, text in enumerate(lines) if option and re.match(rf"\s+{option}\s*:", text)), 0)
    return f"{path.name}:{line + offset}: {message}"


def user_mistake(problem: BaseException, path: Path) -> str:
    """Return a mistake in the user's file as `file:line: Kind: message`, with the line itself."""
    if isinstance(problem, SyntaxError):
        where = Path(problem.filename).name if problem.filename else path.name
        line = f":{problem.lineno}" if problem.lineno else ""
        return f"{where}{line}: {type(problem).__name__}: {problem.msg}"
    number, trace = 0, problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            number = trace.tb_lineno
        trace = trace.tb_next
    where = f"{path.name}:{number}" if number else path.name
    lines = path.read_text(errors="replace").splitlines()
    source = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"{where}: {type(problem).__name__}: {problem}" + (f"  in `{source}`" if source else "")
