"""JSON Schema of the suite file, for editors: words, types, units, descriptions; reserved words marked."""

from __future__ import annotations

from typing import Any

from pileup.model.distance import EachWay
from pileup.model.law import Law
from pileup.model.loads.replay import Replay
from pileup.model.suite import NOT_YET, Environment, Places, Suite
from pileup.model.units import DIMENSIONS

VARIABLE = {"type": "string", "pattern": r"\$"}
SCALARS = ["string", "number", "boolean"]
HEAD = ("title", "description", "default")
SHORT: dict[str, list[str]] = {
    f"#/$defs/{part.__name__}": examples
    for part, examples in (
        (Law, ["5 s"]),
        (EachWay, ["20 ms"]),
        (Environment, ["setup.sh"]),
        (Places, ["processes:4"]),
        (Replay, ["trace.parquet"]),
    )
}
"""Parts that have a short form -> what it looks like."""


def suite_schema() -> dict[str, Any]:
    """Return the schema (JSON Schema 2020-12).

    YAML guesses types where pileup takes them from the schema, so a text may be a number or a boolean here.
    Where a number is wanted, a text with a $variable is right too.
    """
    schema = _change(Suite.model_json_schema(by_alias=True))
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "pileup suite"}
    return {**schema, **head}


def _change(node: Any) -> Any:
    if isinstance(node, list):
        return [_change(each) for each in node]
    if not isinstance(node, dict):
        return node
    if node.get(NOT_YET):
        return {"description": node["description"], "title": node.get("title", ""), NOT_YET: True, "not": {}}
    changed = {key: _change(value) for key, value in node.items()}
    if changed.get("$ref") in SHORT:
        ref = changed.pop("$ref")
        return {"anyOf": [{"$ref": ref}, {"type": ["string", "number"], "examples": SHORT[ref]}], **changed}
    return _typed(changed)


def _typed(node: dict[str, Any]) -> dict[str, Any]:
    kind = node.get("type")
    if "x-dimension" in node:
        return _quantity(node)
    if kind == "string" and "enum" not in node:
        return {**node, "type": SCALARS, **_with_variable(node)}
    if "enum" in node or kind in ("integer", "number", "boolean"):
        head = {key: node.pop(key) for key in HEAD if key in node}
        return {**head, "anyOf": [node, VARIABLE]}
    return node


def _with_variable(node: dict[str, Any]) -> dict[str, Any]:
    return {"pattern": rf"{node['pattern']}|\$"} if "pattern" in node else {}


def _quantity(node: dict[str, Any]) -> dict[str, Any]:
    """Leave out the bounds of a number with a unit: they are in base units and mean nothing for the text."""
    dimension = DIMENSIONS[node["x-dimension"]]
    units = [unit for unit in dimension.units if unit]
    bounds = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
    return {key: value for key, value in node.items() if key not in bounds} | {"x-units": units}
