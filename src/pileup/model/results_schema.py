"""The JSON Schema of results.json, made from the types of the results and the texts below their fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pileup.model import figures
from pileup.model.manifest import Manifest
from pileup.model.results import RunResults
from pileup.model.results_json import FORMAT

Schema = dict[str, object]
SIMPLE: dict[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": ["number", "null"]},  # what is not finite is null
    NoneType: {"type": "null"},
}
RUN: Schema = {"type": "object", "description": "run.json, as docs/record.md has it."}
HEAD = "results.json: what `pileup report --to json` and `pileup show --json` write."
UNITS = "Times in nanoseconds since the epoch, durations in nanoseconds, rates per second, sizes in bytes."


def results_schema() -> Schema:
    """Return the schema. It allows what a later release adds: more fields never change the number of the format."""
    known: dict[str, Schema] = {}
    number: Schema = {"const": FORMAT, "description": "Version of this format."}
    properties, about = _properties(RunResults, known)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"pileup-results-{FORMAT}.json",
        "title": "Results of a run of pileup",
        "description": f"{about} {HEAD} {UNITS}",
        "type": "object",
        "properties": {"format": number, **properties},
        "required": ["format", *properties],
        "$defs": dict(sorted(known.items())),
    }


def _of(kind: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a type; those of dataclasses are put into `known`."""
    if kind in SIMPLE:
        return dict(SIMPLE[kind])
    if kind is Manifest:
        return dict(RUN)
    if is_dataclass(kind) and isinstance(kind, type):
        name = kind.__name__
        if name not in known:
            known[name] = {}  # it may hold itself
            known[name] = _object(kind, known)
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    return _of_several(kind, known)


def _of_several(kind: Any, known: dict[str, Schema]) -> Schema:
    """Return the schema of a union, a list, a mapping or words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _any_of([_of(each, known) for each in inner])
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(inner[1], known)}
    if origin in (tuple, list):
        if inner[-1] is Ellipsis or origin is list:
            return {"type": "array", "items": _of(inner[0], known)}
        return {"type": "array", "prefixItems": [_of(each, known) for each in inner], "minItems": len(inner)}
    raise TypeError(f"{kind} has no form in JSON")


def _any_of(parts: list[Schema]) -> Schema:
    """Return one of several; simple types together are one."""
    if all(set(part) == {"type"} for part in parts):
        names: dict[object, None] = {}
        for part in parts:
            kinds = part["type"]
            names |= dict.fromkeys(kinds if isinstance(kinds, list) else [kinds])
        return {"type": list(names) if len(names) > 1 else next(iter(names))}
    return {"anyOf": parts}


def _object(kind: type, known: dict[str, Schema]) -> Schema:
    properties, about = _properties(kind, known)
    return {"type": "object", **_description(about), "properties": properties, "required": list(properties)}


def _properties(kind: type, known: dict[str, Schema]) -> tuple[dict[str, Schema], str]:
    """Return the schema of each field of a dataclass, and what the class is."""
    hints, texts = get_type_hints(kind, localns=vars(figures)), _texts(kind)
    names = [field.name for field in fields(kind)]
    found = {name: _of(hints[name], known) | _description(texts.get(name, "")) for name in names}
    return found, " ".join((kind.__doc__ or "").split())


def _description(text: str) -> Schema:
    return {"description": text} if text else {}


@cache
def _texts(kind: type) -> dict[str, str]:
    """Return field -> the text below it in the source."""
    body = getattr(ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0], "body", [])
    found = {}
    for field, below in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and (text := _text_of(below)):
            found[field.target.id] = " ".join(text.split())
    return found


def _text_of(node: ast.stmt) -> str:
    constant = node.value if isinstance(node, ast.Expr) else None
    return constant.value if isinstance(constant, ast.Constant) and isinstance(constant.value, str) else ""
