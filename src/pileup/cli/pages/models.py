"""Sections about a pydantic model and all models inside it: each word with its type, default, bounds and meaning."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from pileup.cli.options import LAW_WORDS, field_rows
from pileup.cli.pages.page import HEAD, Block, Heading, Words, anchor, without_empty_columns
from pileup.model.law import Law
from pileup.model.suite import NOT_YET
from pileup.suite.problem_texts import fields_of

SEQUENCES = (tuple, list, set, frozenset)


def sections(model: type[BaseModel], title: str, said: bool = False) -> Iterator[Block]:
    """Yield heading and table of a model and of every model inside it, each once, in the order in which they are met.

    `said`: whether the docstring of the first model is included.
    """
    titles = {model: title, **_titles(model)}
    for number, (each, heading) in enumerate(titles.items()):
        yield Heading(heading)
        if number or said:
            yield Words(inspect.getdoc(each) or "")
        yield without_empty_columns(HEAD, [_row(each, row, titles) for row in field_rows(each)])


def _titles(model: type[BaseModel]) -> dict[type[BaseModel], str]:
    """Return the models inside a model, with the places where they are: `tests[].load`."""
    places: dict[type[BaseModel], list[str]] = {}
    pending = [(model, "")]
    for current, path in pending:
        for word, field in fields_of(current).items():
            for inner, shape in models_in(field.annotation):
                known = inner in places
                places.setdefault(inner, []).append(f"{path}{word}{shape}")
                if not known and inner is not model:
                    pending.append((inner, f"{path}{word}{shape}."))
    return {inner: ", ".join(f"`{path}`" for path in found[:3]) for inner, found in places.items()}


def models_in(annotation: Any, shape: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the models that a type holds, with `[]` for a list of them and `.NAME` for a mapping of names to them."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation is not Law:  # a quantity, described on the page of units
            yield annotation, shape
    elif origin is typing.Annotated:
        yield from models_in(arguments[0], shape)
    elif origin in (typing.Union, types.UnionType):
        for each in arguments:
            yield from models_in(each, shape)
    elif origin in SEQUENCES:
        yield from models_in(arguments[0], shape + "[]")
    elif origin is dict:
        yield from models_in(arguments[1], shape + ".NAME")


def _row(
    model: type[BaseModel], row: tuple[str, str, str, str, str], titles: dict[type[BaseModel], str]
) -> tuple[str, ...]:
    """Return the row of a word: reserved ones marked, those that hold a model with a link to its section."""
    word, kind, default, bounds, meaning = row
    field = fields_of(model)[word]
    extra = field.json_schema_extra
    if isinstance(extra, dict) and extra.get(NOT_YET):
        return f"`{word}`", "reserved", "", "", meaning
    links = [(_shape(shape), titles[inner]) for inner, shape in models_in(field.annotation)]
    if links:
        kind = " or ".join(f"{before}[{_plain(title)}](#{anchor(title)})" for before, title in links)
    return f"`{word}`", linked(kind), default, bounds, meaning


def linked(kind: str) -> str:
    """Return the words of a type, with a link where the page of units says more."""
    return kind.replace(LAW_WORDS, f"[{LAW_WORDS}](units#times-that-are-drawn)")


def _shape(shape: str) -> str:
    """Say how a model is held: alone, in a list, under names."""
    words = {"": "", "[]": "list of ", ".NAME": "mapping of names to "}
    return words.get(shape, "")


def _plain(title: str) -> str:
    """Return the first place of a title, without the marks of code."""
    return title.split(",", maxsplit=1)[0].replace("`", "")
