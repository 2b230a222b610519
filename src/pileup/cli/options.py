"""Options of plug-ins in words: type with unit, default, bounds."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel, SecretStr

from pileup.model.law import Law
from pileup.model.units import DIMENSIONS, format_quantity
from pileup.model.words import law_words
from pileup.plugin.options import REQUIRED, Option, declared
from pileup.suite.problem_texts import dimension_of, fields_of

PLAIN = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    list: "list",
    dict: "mapping",
    SecretStr: "text, kept secret",
    Any: "anything",
}
LAW_WORDS = "time, fixed or drawn"
COLLECTIONS = {list: "list of", tuple: "list of", set: "list of", frozenset: "list of", dict: "mapping of names to"}
SIGNS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def option_rows(cls: type) -> list[tuple[str, str, str, str, str]]:
    """Return (name, type, default, bounds, help) for each option of a plug-in."""
    return [
        (name, type_words(hint), _default(hint, option), _bounds(hint, option), option.help)
        for name, (hint, option) in declared(cls).items()
    ]


def field_rows(model: type[BaseModel]) -> list[tuple[str, str, str, str, str]]:
    """Return the same for the fields of a model: settings of a server that pileup starts."""
    rows = []
    for name, field in fields_of(model).items():
        hint: Any = typing.Annotated[(field.annotation, field)]  # the field has what pydantic took from the annotation
        default = REQUIRED if field.is_required() else field.get_default(call_default_factory=True)
        known = [(sign, getattr(each, sign, None)) for each in field.metadata for sign in SIGNS]
        bounds: dict[str, Any] = {sign: bound for sign, bound in known if bound is not None}
        option = Option(default, field.description or "", **bounds)
        rows.append((name, type_words(hint), _default(hint, option), _bounds(hint, option), option.help))
    return rows


def type_words(hint: Any) -> str:
    """Return a type as users write it: `time, e.g. 30 s`, `one of a, b`, `list of text`."""
    dimension = _own_dimension(hint)
    if dimension:
        return f"{dimension}, e.g. {DIMENSIONS[dimension].example}"
    arguments = [each for each in typing.get_args(hint) if each not in (type(None), Ellipsis)]
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return type_words(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_words(each) for each in arguments)
    if origin is tuple and Ellipsis not in typing.get_args(hint):
        return f"[{', '.join(type_words(each).partition(', e.g.')[0] for each in arguments)}]"
    if origin in COLLECTIONS:
        return f"{COLLECTIONS[origin]} {type_words(arguments[-1])}"
    return _one_type(hint, arguments)


def _own_dimension(hint: Any) -> str | None:
    """Return the dimension of a quantity itself, not of what a list or a mapping holds."""
    for each in getattr(hint, "__metadata__", ()):
        extra = getattr(each, "json_schema_extra", None)
        if isinstance(extra, dict) and extra.get("x-dimension") in DIMENSIONS:
            return str(extra["x-dimension"])
    return None


def _one_type(hint: Any, arguments: list[Any]) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return ("one of " if len(arguments) > 1 else "") + ", ".join(str(each) for each in arguments)
    if hint is Law:
        return LAW_WORDS
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return str(getattr(hint, "TYPE_WORDS", "")) or "mapping of " + ", ".join(fields_of(hint))
    return PLAIN.get(hint, getattr(hint, "__name__", str(hint)))


def _default(hint: Any, option: Option) -> str:
    value = option.default
    if value is REQUIRED:
        return "required"
    if value is None or value in ((), [], {}) or (isinstance(value, BaseModel) and not value.model_fields_set):
        return "none"
    if isinstance(value, Law):
        return law_words(value)
    dimension = dimension_of(hint)
    if dimension and isinstance(value, (int, float)):
        return format_quantity(value, dimension)
    if isinstance(value, bool):
        return str(value).lower()
    return '""' if value == "" else str(value)


def _bounds(hint: Any, option: Option) -> str:
    dimension = dimension_of(hint)
    found = []
    for word, sign in SIGNS.items():
        bound = getattr(option, word)
        if bound is not None:
            found.append(f"{sign} {format_quantity(bound, dimension or 'count')}")
    if option.pattern:
        found.append(f"matches {option.pattern}")
    return ", ".join(found)
