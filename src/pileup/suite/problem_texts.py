"""Pydantic's errors in pileup's three parts, with their position in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from pileup.model.hidden import HIDDEN
from pileup.model.problem_codes import ProblemCode
from pileup.model.quantities import NegativeError
from pileup.model.suite_part import Name
from pileup.model.units import DIMENSIONS, format_quantity
from pileup.suite.formats.tree import Mapping, Node, Path, Scalar, Sequence, child, kind_of, where
from pileup.suite.problems import Position, Problems, near, parts, shown
from pileup.suite.secrets import by_name, is_secret

KINDS = {
    "string_type": "text",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list, e.g. [a, b]",
    "list_type": "a list, e.g. [a, b]",
    "set_type": "a list, e.g. [a, b]",
    "frozen_set_type": "a list, e.g. [a, b]",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number that fits in 64 bits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
BOUNDS = {
    "greater_than": ("gt", "more than "),
    "greater_than_equal": ("ge", "at least "),
    "less_than": ("lt", "less than "),
    "less_than_equal": ("le", "at most "),
}
OF_TYPE = {
    **dict.fromkeys(KINDS, ProblemCode.WRONG_TYPE),
    **dict.fromkeys(
        (*BOUNDS, "too_short", "too_long", "string_too_short", "string_too_long"), ProblemCode.OUT_OF_RANGE
    ),
    "missing": ProblemCode.MISSING_KEY,
    "extra_forbidden": ProblemCode.UNKNOWN_KEY,
}
QUANTITY = ProblemCode.WRONG_QUANTITY
NAME_PATTERN = next(each.pattern for each in get_args(Name) if hasattr(each, "pattern"))
NAME_RULE = "a name: letters, digits, _ and -, beginning with a letter or _, at most 64"
AXIS_RULE = "a variable, or names joined by dots, e.g. se.threads, copy.buffer or copy.load.clients"


def report(
    problem: ValidationError,
    node: Node,
    model: type[BaseModel] | None,
    problems: Problems,
    missing_at: Position | None = None,
) -> None:
    """Add every error of a validation of `node` to the problems; `missing_at` is where missing words are reported."""
    for error in problem.errors(include_url=False, include_input=False):
        path = _existing(node, error["loc"])
        if _follows_from_another(error, node, path, problems):
            continue
        key = error["loc"][-1:] == ("[key]",) or error["type"] == "extra_forbidden"
        at = (
            missing_at if missing_at is not None and error["type"] == "missing" and not path else where(node, path, key)
        )
        problems.add(at, *translate(error, _value(node, path), model, path), code=code_of(error, model))


def code_of(error: Any, model: type[BaseModel] | None) -> ProblemCode:
    """Return the code of one of pydantic's errors: by its type, and by the declaration of the word that it is about."""
    kind, loc = error["type"], error["loc"]
    if kind in OF_TYPE:
        return OF_TYPE[kind]
    if loc[-1:] == ("[key]",) or error.get("ctx", {}).get("pattern") == NAME_PATTERN:
        return ProblemCode.BAD_NAME
    field = field_at(model, loc)
    if kind in ("value_error", "assertion_error") and field is not None and dimension_of(field.annotation, field):
        return ProblemCode.OUT_OF_RANGE if isinstance(error["ctx"]["error"], NegativeError) else QUANTITY
    return ProblemCode.WRONG_VALUE


def first_words(problem: ValidationError) -> str:
    """Return the first error of a validation as `what; expected this`, for what is at no place of a file."""
    error: Any = problem.errors(include_url=False, include_input=False)[0]
    what, expected = translate({"ctx": {}, **error}, None, None)
    return f"{what}; expected {expected}" if expected else what


def _existing(node: Node, loc: Path) -> Path:
    """Return the part of an error's location that leads to something in the file."""
    found: list[str | int] = []
    current: Node | None = node
    for step in loc:
        below = child(current, step)
        if below is not None:
            found.append(step)
            current = below
    return tuple(found)


def _value(node: Node, path: Path) -> Node | None:
    current: Node | None = node
    for step in path:
        current = child(current, step)
    return current


def _follows_from_another(error: Any, node: Node, path: Path, problems: Problems) -> bool:
    """Whether pydantic only counts items short because they were wrong themselves, or misses a word that was."""
    value = _value(node, path)
    if error["type"] == "value_error" and isinstance(value, Mapping):
        near_it = (value, *(each for each in value.entries.values() if isinstance(each, Mapping)))
        return any(problems.is_incomplete(each.at) for each in near_it)
    return (
        error["type"] == "too_short"
        and isinstance(value, Sequence)
        and len(value.items) > error["ctx"]["actual_length"]
    )


def translate(error: Any, value: Node | None, model: type[BaseModel] | None, path: Path = ()) -> tuple[str, str]:
    """Return what was found and what was expected; `path` is what of the error's location is in the file."""
    loc, kind, context = error["loc"], error["type"], error.get("ctx", {})
    named = path if isinstance(value, Scalar) else loc  # `size: 1 MiB` stands for `size: {fixed: 1 MiB}`
    word = next((str(step) for step in reversed(named) if isinstance(step, str) and step != "[key]"), "")
    fields = [field_at(model, loc[:length]) for length in range(1, len(loc) + 1)]
    typed = any(field is not None and is_secret(field.annotation) for field in fields)
    found = HIDDEN if typed or by_name(word) else found_words(value)
    field = field_at(model, loc)
    if kind == "missing":
        return _missing(loc, field)
    if kind == "extra_forbidden":
        known = words_of(model_at(model, loc[:-1]))
        return f"unknown word {shown(word)}", near(word, known) if model else "a word from `pileup describe`"
    if kind in ("value_error", "assertion_error"):
        what, expected = parts(str(context["error"]))
        if isinstance(context["error"], NegativeError):
            expected = _least(field, loc) or expected
        by_word = word and not isinstance(loc[-1], int)  # an item of a list is reported by its place
        return (f"`{word}`: {what}" if by_word else what), expected
    if loc[-1:] == ("[key]",):
        own = context.get("pattern") == NAME_PATTERN
        return (f"{shown(word)} is not a name", NAME_RULE) if own else (f"{shown(word)} names nothing", AXIS_RULE)
    expected = _expected(error, value, field)
    found = "empty" if kind == "too_short" and not context["actual_length"] else found
    return (f"`{word}` is {found}" if word else f"{found} was given"), expected


def _missing(loc: Path, field: FieldInfo | None) -> tuple[str, str]:
    if loc and isinstance(loc[-1], int):
        return f"item {loc[-1] + 1} is missing", f"at least {loc[-1] + 1} items"
    return f"the word `{loc[-1] if loc else ''}` is missing", (field.description or "") if field else ""


def found_words(value: Node | None) -> str:
    """Return what is in the file, as messages show it."""
    if isinstance(value, Scalar) and not value.empty:
        return shown(value.text)
    return kind_of(value)


def _expected(error: Any, value: Node | None, field: FieldInfo | None) -> str:
    kind, context, loc = error["type"], error.get("ctx", {}), error["loc"]
    text = kind.startswith("string")
    match kind:
        case _ if kind in KINDS:
            expected = KINDS[kind]
        case _ if kind in BOUNDS:
            bound, words = BOUNDS[kind]
            expected = words + _bound(context[bound], field, loc)
        case "literal_error":
            expected = _choice(context["expected"], value)
        case "string_pattern_mismatch":
            own = context["pattern"] == NAME_PATTERN
            expected = NAME_RULE if own else f"text that matches {context['pattern']}"
        case "too_short" | "string_too_short":
            expected = f"at least {context['min_length']} {'character' if text else 'item'}(s)"
        case "too_long" | "string_too_long":
            expected = f"at most {context['max_length']} {'characters' if text else 'items'}"
        case _:
            expected = error["msg"].removeprefix("Input should be ").removeprefix("Value should be ")
    return expected


def _least(field: FieldInfo | None, loc: Path) -> str:
    """Return the lower bound of a word, empty where it has none but 0 itself."""
    if field is None or isinstance(loc[-1], int):
        return ""
    for each in field.metadata:
        for kind in ("greater_than", "greater_than_equal"):
            name, words = BOUNDS[kind]
            bound = getattr(each, name, None)
            if bound is not None and (bound or name == "gt"):
                return words + _bound(bound, field, loc)
    return ""


def _choice(expected: str, value: Node | None) -> str:
    names = re.findall(r"'([^']*)'", expected)
    return near(value.text, names) if isinstance(value, Scalar) and names else expected


def _bound(value: float, field: FieldInfo | None, loc: Path) -> str:
    """Return a bound with the unit of its word, or of its item in a list of several."""
    annotation = field.annotation if field else None
    if isinstance(loc[-1], int):
        lists = [each for each in (annotation, *get_args(annotation)) if get_origin(each) is tuple]
        annotation, field = (get_args(lists[0])[loc[-1]] if lists else annotation), None
    dimension = dimension_of(annotation, field) if value else None
    whole = int(value) if float(value).is_integer() else value
    return format_quantity(value, dimension) if dimension else f"{whole:,}"


def dimension_of(annotation: Any, field: FieldInfo | None = None) -> str | None:
    """Return the dimension that a field's type carries (a key of DIMENSIONS), None when it is not a quantity."""
    for each in (field, *getattr(annotation, "__metadata__", ())):
        extra = getattr(each, "json_schema_extra", None)
        if isinstance(extra, dict) and extra.get("x-dimension") in DIMENSIONS:
            return str(extra["x-dimension"])
    return next((found for part in get_args(annotation) if (found := dimension_of(part))), None)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model inside an annotation such as `tuple[TestSpec, ...]` or `Law | None`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := model_in(part))), None)


def fields_of(model: type[BaseModel] | None) -> dict[str, FieldInfo]:
    """Return the fields of a model by the words of the file."""
    return {field.alias or name: field for name, field in model.model_fields.items()} if model else {}


def words_of(model: type[BaseModel] | None) -> Iterable[str]:
    """Return the words that may be in a mapping of that model."""
    return fields_of(model)


def model_at(model: type[BaseModel] | None, loc: Path) -> type[BaseModel] | None:
    """Return the model of the mapping at a location."""
    for step in loc:
        field = fields_of(model).get(str(step))
        if field is not None:
            model = model_in(field.annotation)
    return model


def field_at(model: type[BaseModel] | None, loc: Path) -> FieldInfo | None:
    """Return the declaration of the last word of a location that has one."""
    found = None
    for step in loc:
        field = fields_of(model).get(str(step))
        if field is not None:
            found, model = field, model_in(field.annotation)
    return found
