"""Checks that pileup can call the methods of a plug-in, when it is loaded and not only in a run."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType
from typing import Any, NamedTuple

from pileup.plugin.test import Test

AWAITED = ("begin_run", "setup", "run", "teardown", "end_run")
"""Methods of a test that may be async."""


class WrongMethod(NamedTuple):
    """What is wrong with a method, in three parts."""

    line: int
    """Where it begins in its file; 0: not known."""
    what: str
    expected: str
    hint: str = ""


def wrong_methods(cls: type) -> Iterator[WrongMethod]:
    """Yield the methods of a plug-in whose arguments do not match, or that would not be awaited."""
    for name, base in _methods(cls).items():
        mine: Any = getattr(cls, name)
        theirs = getattr(base, name)
        if mine is theirs or getattr(mine, "__func__", mine) is getattr(theirs, "__func__", theirs):
            continue
        found = _wrong(cls, base, name)
        if found:
            yield WrongMethod(_line(mine), *found)
    if issubclass(cls, Test):
        yield from _of_two_kinds(cls)


def _methods(cls: type) -> dict[str, type]:
    """Return the public methods that a plug-in may define, each with the base class that declares it."""
    bases = [base for base in cls.__mro__ if "_framework" in vars(base)]
    return {
        name: base
        for base in reversed(bases)
        for name, value in vars(base).items()
        if not name.startswith("_") and isinstance(value, FunctionType | classmethod | staticmethod)
    }


def _wrong(cls: type, base: type, name: str) -> tuple[str, str, str] | None:
    told, mine, theirs = f"{cls.__name__}.{name}", getattr(cls, name), getattr(base, name)
    given = _parameters(theirs)
    wanted = f"`def {name}({', '.join(given)})`"
    if isinstance(inspect.getattr_static(base, name), classmethod):
        wanted = f"`@classmethod def {name}({', '.join(('cls', *given))})`"
    elif isinstance(inspect.getattr_static(cls, name), staticmethod | classmethod):
        given = given[1:]
    if not callable(mine):
        return f"{told} is {mine!r:.50}, in the place of a method", "another name for it", f"{wanted} is pileup's"
    if not _takes(mine, given):
        return f"{told}({', '.join(_parameters(mine))}) cannot be called as pileup does", wanted, ""
    yields = str(theirs.__annotations__.get("return", "")).startswith("AsyncIterator")
    if (inspect.isasyncgenfunction(mine) and not yields) or (name in AWAITED and inspect.isgeneratorfunction(mine)):
        return f"{told} has a `yield`, so that nothing of it would be done", f"{wanted} without", ""
    if inspect.iscoroutinefunction(mine) and name not in AWAITED:
        return f"{told} is async, and nobody awaits it", f"a plain {wanted}", ""
    return None


def _of_two_kinds(cls: type[Test]) -> Iterator[WrongMethod]:
    """An async `setup` needs the event loop that only an async `run` has."""
    run: Any = cls.run
    if inspect.iscoroutinefunction(run) or cls.native():
        return
    for name in ("setup", "teardown"):
        method = getattr(cls, name)
        if inspect.iscoroutinefunction(method):
            what = f"{cls.__name__}.{name} is async and {cls.__name__}.run is not"
            yield WrongMethod(_line(method), what, f"an `async def run` too, or a plain `def {name}`")


def _parameters(method: Any) -> list[str]:
    """Return the names of the positional arguments of a method."""
    try:
        found = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return []
    places = [each for each in found if each.kind is not each.KEYWORD_ONLY]
    return [f"*{each.name}" if each.kind is each.VAR_POSITIONAL else each.name for each in places]


def _takes(mine: Any, given: list[str]) -> bool:
    """Whether a method can be called with this number of positional arguments."""
    try:
        inspect.signature(mine).bind(*given)
    except TypeError:
        return False
    except ValueError:  # compiled code has no signature
        return True
    return True


def _line(method: Any) -> int:
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)
    return getattr(code, "co_firstlineno", 0)
