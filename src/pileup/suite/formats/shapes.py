"""The shape of a word's value by the schema: a mapping, a list, or undefined.

XML has neither lists nor mappings of its own. Where the schema knows a word, its shape shows how an element is meant.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pileup.model.loads.load import SHAPES
from pileup.model.suite import Suite
from pileup.suite.problem_texts import fields_of

SINGULARS = {
    "targets": "target",
    "tests": "test",
    "monitors": "monitor",
    "reports": "report",
    "criteria": "criterion",
    "faults": "fault",
    "labels": "label",
    "variables": "variable",
    "options": "option",
    "settings": "setting",
    "scan": "axis",
} | {shape.word: shape.element for shape in SHAPES if shape.element}
"""Word -> element for one part of what it holds, in XML."""
PLURALS = {element: word for word, element in SINGULARS.items()}
ENTRY = "entry"
"""Element for a word of any mapping that is not an XML name."""
ITEM = "value"
"""Element for an item of any list."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a value: "mapping" of a model's words or of free ones, "list" of any length, "any" otherwise."""

    kind: Literal["mapping", "list", "any"]
    word: str = ""
    model: type[BaseModel] | None = None
    inside: Any = Any
    """Annotation of what a free mapping or a list holds."""

    @property
    def element(self) -> str:
        """Name of the element for one part of it; the general one where there is no other."""
        return SINGULARS.get(self.word, ENTRY if self.kind == "mapping" else ITEM)

    @property
    def singular(self) -> bool:
        """Whether its parts have an element of their own."""
        return self.word in SINGULARS

    @property
    def free(self) -> bool:
        """Whether it is a mapping of names that the file chooses."""
        return self.kind == "mapping" and self.model is None

    def part(self, word: str) -> Shape:
        """Return the shape of the value of a word in it."""
        field = _fields(self.model).get(word)
        if field is not None:
            annotation: Any = field.annotation
            return shape_of(annotation, word)
        return shape_of(self.inside) if self.free else ANY

    @property
    def item(self) -> Shape:
        """The shape of the items of a list."""
        return shape_of(self.inside) if self.kind == "list" else ANY

    @property
    def words(self) -> Shape:
        """The shape of a mapping in its place: of a list that of its items, where these are not lists too."""
        if self.kind != "list":
            return self
        return self.item if self.item.kind != "list" else ANY

    def ordered(self, words: Iterable[str]) -> list[str]:
        """Return words of a mapping in the order of the schema, those that it does not know last."""
        known = list(_fields(self.model))
        return sorted(words, key=lambda word: known.index(word) if word in known else len(known))

    def plural(self, element: str) -> str | None:
        """Return the word of which `element` is one part, None when there is none, or the element is itself a word."""
        fields = _fields(self.model)
        word = PLURALS.get(element, "")
        return word if element not in fields and word in fields and self.part(word) != ANY else None


@cache
def _fields(model: type[BaseModel] | None) -> dict[str, FieldInfo]:
    return fields_of(model)


ANY = Shape("any")
SUITE = Shape("mapping", "", Suite)


@cache
def shape_of(annotation: Hashable, word: str = "") -> Shape:
    """Return the shape that a type says; of a union the first that says one."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_of(arguments[0], word)
    if origin in (Union, types.UnionType):
        return next((found for each in arguments if (found := shape_of(each, word)) != ANY), ANY)
    if origin is dict:
        return Shape("mapping", word, None, arguments[1])
    if origin is tuple and arguments[-1] is Ellipsis:
        return Shape("list", word, None, arguments[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return Shape("mapping", word, annotation)
    return ANY
