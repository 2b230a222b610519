"""Data that `begin_run` of a test passes to all its clients: plain and read-only, to text and back."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from pileup.model.units import format_size

LARGEST = 1 << 20
"""Bytes of the data as JSON."""
EXPECTED = "a mapping of texts to texts, numbers, lists and mappings (what JSON can hold)"
HINT = "connections and other objects of Python belong into `setup`, which every client calls"


class SharedData(dict[str, Any]):
    """A mapping that cannot be changed: it is the same for all clients of a place. `dict(...)` is one of your own."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("self.shared cannot be changed: it is what begin_run() returned, the same at all places")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse

    def __missing__(self, key: object) -> NoReturn:
        """Say what there is."""
        there = ", ".join(map(repr, self)) or "nothing"
        raise KeyError(f"begin_run() returned no {key!r}; it returned {there}")

    def __reduce__(self) -> tuple[type, tuple[object]]:
        """Be copied as a mapping that may be changed."""
        return dict, (dict(self),)


def to_text(value: object) -> str:
    """Return what `begin_run` returned as text; nothing is an empty mapping.

    Raises ValueError, "what; expected what", for what is not a mapping of plain data, or too large.
    """
    if value is None:
        return "{}"
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__}; expected {EXPECTED}")
    if wrong := _wrong(value, "", 0):
        raise ValueError(f"{wrong}; expected {EXPECTED}; {HINT}")
    text = json.dumps(value, allow_nan=False, ensure_ascii=True)
    if len(text) > LARGEST:
        raise ValueError(f"{format_size(len(text))} of data; expected at most {format_size(LARGEST)} as JSON")
    return text


def from_text(text: str) -> SharedData:
    """Return the data that a text of `to_text` holds; a list in it is a tuple."""
    found: SharedData = _frozen(json.loads(text or "{}"))
    return found


def _wrong(value: object, where: str, depth: int) -> str:
    """Return what of a value is not plain data, with its place; empty when all is."""
    if depth > 50:
        return f"{where or 'a mapping'} is nested too deep"
    if isinstance(value, dict):
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            return f"{where or 'the mapping'} has the key {odd!r:.60}"
        found = (_wrong(each, f"{where}[{key!r:.60}]", depth + 1) for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        found = (_wrong(each, f"{where}[{number}]", depth + 1) for number, each in enumerate(value))
    elif isinstance(value, float) and not abs(value) < float("inf"):
        return f"{where} is {value}"
    else:
        plain = value is None or isinstance(value, (str, int, float))
        return "" if plain else f"{where} is a {type(value).__name__}"
    return next(filter(None, found), "")


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return SharedData({key: _frozen(each) for key, each in value.items()})
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
