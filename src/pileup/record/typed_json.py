"""Frozen types out of JSON, by their fields: what is not of its type is named with its place.

A field is the key of its name; one that is a word of Python has an underscore behind it. What is not there takes the
default of its field, and keys that no field has are skipped. Reading is written once for each form that a type may
take; what it makes of a type is kept.
"""

from __future__ import annotations

import reprlib
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pileup.model import check as checks
from pileup.model.check import Check, Unreadable
from pileup.model.errors import DamagedRecord
from pileup.model.manifest import TrialResult

Kind = TypeVar("Kind")
Read = Callable[[object, str], Any]
"""Makes a typed value of one of JSON; the second is where it is in the file, for messages."""
LARGEST = 2**63
"""Numbers and times of a record have 64 bits."""
SIMPLE = frozenset({str, int, float, bool, type(None)})
WORDS: dict[object, str] = {
    int: "a whole number of 64 bits",
    float: "a number",
    str: "a text",
    bool: "true or false",
    type(None): "null",
}


class _WrongError(Exception):
    """A value is not what it should be: where it is, what it is, and what was expected."""

    def __init__(self, where: str, found: object, expected: str) -> None:
        super().__init__(where)
        self.where, self.found, self.expected = where, found, expected


@dataclass(frozen=True, slots=True)
class _Key:
    """One key of an object of JSON."""

    name: str
    attribute: str
    read: Read
    nullable: bool
    needed: bool


def read(kind: type[Kind], value: object, path: object = "run.json") -> Kind:
    """Return an object of a type. Raises DamagedRecord when it is not one; `path` is for the message."""
    try:
        found: Kind = _object(kind)(value, "")
    except _WrongError as wrong:
        name = wrong.where.removeprefix(".").partition(".")[0].partition("[")[0]
        inside = "" if wrong.where == f".{name}" else f": {wrong.where[1:]} is {reprlib.repr(wrong.found)}"
        raise DamagedRecord(f"{path}: {name!r} is wrong{inside}", wrong.expected) from None
    return found


def read_known(kind: type[Kind], value: Mapping[str, object]) -> Kind:
    """Return an object of a type without the words that are of other types; the needed ones must be there.

    Where the type has fields `given` and `wrong` they name the words of both kinds.
    """
    given, wrong = {}, set()
    plain: Any = kind
    for key in _keys(plain):
        if value.get(key.name) is None and not (key.nullable and key.name in value):
            continue
        try:
            given[key.attribute] = key.read(value[key.name], f".{key.name}")
        except _WrongError:
            wrong.add(key.name)
    names: Mapping[str, object] = {"given": frozenset(given), "wrong": frozenset(wrong)}
    return kind(**{**given, **{name: names[name] for name in names if name in _attributes(plain)}})


def _attributes(kind: Any) -> set[str]:
    return {key.attribute for key in _keys(kind)}


@cache
def _keys(kind: Any) -> tuple[_Key, ...]:
    hints = get_type_hints(kind)
    return tuple(_key(each, hints[each.name]) for each in fields(kind))


def _key(found: Field[Any], hint: Any) -> _Key:
    fallback = found.default if found.default is not MISSING else MISSING
    if found.default_factory is not MISSING:
        fallback = found.default_factory()
    nullable = type(None) in (hint, *get_args(hint))
    return _Key(found.name.rstrip("_"), found.name, _reader(hint), nullable, fallback is MISSING)


@cache
def _reader(hint: Any) -> Read:
    """Return what reads a type."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is None:
        return _plain(hint)
    if origin in (Union, types.UnionType):
        return _either(inside)
    if origin is Literal:
        return _one_of({each: each for each in inside})
    if origin is frozenset:
        return _nothing
    if origin is tuple:
        return _list(inside[0]) if inside[1:] == (...,) else _row(inside)
    return _mapping(inside[1])


def _plain(kind: type) -> Read:
    if kind is object:
        return _anything
    if kind is Check:
        return _check
    if is_dataclass(kind):
        return _object(kind)
    return _one_of({each.value: each for each in kind}) if issubclass(kind, Enum) else _simple(kind)


def _nothing(value: object, where: str) -> object:
    """Of what is not part of the JSON."""
    raise _WrongError(where, value, "nothing")


def _anything(value: object, where: str) -> object:
    return value


def _simple(kind: type) -> Read:
    kinds = (int, float) if kind is float else (kind,)

    def simple(value: object, where: str) -> object:
        if type(value) in kinds and (type(value) is not int or -LARGEST <= value < LARGEST):
            return value
        raise _WrongError(where, value, WORDS[kind])

    return simple


def _one_of(known: Mapping[str, object]) -> Read:
    def one_of(value: object, where: str) -> object:
        if isinstance(value, str) and value in known:
            return known[value]
        raise _WrongError(where, value, f"one of {', '.join(known)}")

    return one_of


def _check(value: object, where: str) -> object:
    if not isinstance(value, str):
        raise _WrongError(where, value, "a check")
    try:
        return checks.parse(value)
    except ValueError as mistake:
        return Unreadable(value, str(mistake))


def _either(kinds: tuple[Any, ...]) -> Read:
    readers = [_reader(kind) for kind in kinds if kind not in (Unreadable, type(None))]
    nullable = type(None) in kinds

    def either(value: object, where: str) -> object:
        if value is None and nullable:
            return None
        for reader in readers[:-1]:
            try:
                return reader(value, where)
            except _WrongError:
                continue
        return readers[-1](value, where)

    return either


def _list(kind: Any) -> Read:
    reader, needed, what = _reader(kind), _needed(kind), _list_words(kind)

    def each(value: object, where: str) -> object:
        if not isinstance(value, list) or any(needed and not _has(_of_older(kind, part), needed) for part in value):
            raise _WrongError(where, value, what)
        return tuple(reader(part, f"{where}[{number}]") for number, part in enumerate(value))

    return each


def _needed(kind: Any) -> tuple[str, ...]:
    """Return the keys that no object of a type may lack."""
    if not is_dataclass(kind) or kind is Check:
        return ()
    without = (each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING)
    return tuple(each.name.rstrip("_") for each in without)


def _has(part: object, needed: tuple[str, ...]) -> bool:
    return isinstance(part, dict) and part.keys() >= set(needed)


def _list_words(kind: Any) -> str:
    if not is_dataclass(kind):
        return "a list"
    needed = " and ".join(_needed(kind))
    return f"a list of objects{f' with {needed}' if needed else ''}"


def _row(kinds: tuple[Any, ...]) -> Read:
    readers = [_reader(kind) for kind in kinds]

    def row(value: object, where: str) -> object:
        if not isinstance(value, list) or len(value) != len(readers):
            raise _WrongError(where, value, f"a list of {len(readers)}")
        return tuple(reader(part, where) for reader, part in zip(readers, value, strict=True))

    return row


def _mapping(kind: Any) -> Read:
    reader = _reader(kind)

    def mapping(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise _WrongError(where, value, "an object")
        return {name: reader(part, f"{where}.{name}") for name, part in value.items()}

    return mapping


def _object(kind: type) -> Read:
    def read_object(value: object, where: str) -> object:
        if not isinstance(value, dict):
            raise _WrongError(where, value, "an object")
        told, given = _of_older(kind, value), {}
        for key in _keys(kind):  # not before: a type may have itself inside
            if key.name not in told:
                if key.needed:
                    raise _WrongError(f"{where}.{key.name}", None, "a value")
                continue
            part = told[key.name]
            if part is not None or key.nullable or key.needed:
                given[key.attribute] = key.read(part, f"{where}.{key.name}")
        return kind(**given)

    return read_object


def _of_older(kind: Any, value: Any) -> Any:
    """Return an object by the keys of today: trials had one `value` once."""
    if kind is TrialResult and isinstance(value, dict) and "values" not in value and "value" in value:
        return {**value, "values": [value["value"]]}
    return value
