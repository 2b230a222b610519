"""From a tree to the immutable objects of `model.suite`: every word known, every value of its type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from pileup.model.criterion import CriterionSpec
from pileup.model.law import Law
from pileup.model.nearest import nearest
from pileup.model.problem_codes import ProblemCode
from pileup.model.report_spec import ReportSpec
from pileup.model.suite import NOT_YET, FaultSpec, MonitorSpec, Suite, TargetSpec, TestSpec
from pileup.suite.coupling import Groups
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.problem_texts import fields_of, model_in, report
from pileup.suite.problems import START, Position, Problems, near, shown

Spec = TypeVar("Spec", bound=BaseModel)
ALIKE = 0.75
"""How similar a word must be to count as a misspelt one that may be left out."""


@dataclass(frozen=True, slots=True)
class BoundPart(Generic[Spec]):
    """One part of the suite: its position and content. `left_out` are wrong words, not in `spec`."""

    node: Mapping
    spec: Spec
    left_out: frozenset[str] = frozenset()


@dataclass(slots=True)
class Draft:
    """What could be understood of a suite; `suite` only when every word was right."""

    tree: Mapping
    suite: Suite | None
    targets: dict[str, BoundPart[TargetSpec]] = field(default_factory=dict)
    tests: list[BoundPart[TestSpec]] = field(default_factory=list)
    monitors: list[BoundPart[MonitorSpec]] = field(default_factory=list)
    reports: list[BoundPart[ReportSpec]] = field(default_factory=list)
    criteria: list[BoundPart[CriterionSpec]] = field(default_factory=list)
    faults: list[BoundPart[FaultSpec]] = field(default_factory=list)
    together: Groups = ()
    """Axes of the scan that are varied together."""
    varied: frozenset[str] = frozenset()
    """Names of tests that differ by the variables of the scan; `options` for those of the suite."""

    def names(self, word: str) -> list[str]:
        """Return the names that the file gives under `targets` or `tests`, whether those are right or not."""
        node = self.tree.entries.get(word)
        if isinstance(node, Mapping):
            return list(node.entries)
        items = node.items if isinstance(node, Sequence) else []
        found = [item.entries.get("name") for item in items if isinstance(item, Mapping)]
        return [name.text for name in found if isinstance(name, Scalar)]


def bind(tree: Mapping, problems: Problems) -> Draft:
    """Return what the tree says; unknown and reserved words and wrong values become problems."""
    data = words_of_mapping(tree, Suite, problems)
    suite = None
    try:
        suite = Suite.model_validate(data)
    except ValidationError as problem:
        report(problem, tree, Suite, problems)
    draft = Draft(tree, suite)
    draft.targets = {str(name): part for name, part in _parts(tree, data, "targets", TargetSpec)}
    draft.tests = [part for _, part in _parts(tree, data, "tests", TestSpec)]
    draft.monitors = [part for _, part in _parts(tree, data, "monitors", MonitorSpec)]
    draft.reports = [part for _, part in _parts(tree, data, "reports", ReportSpec)]
    draft.criteria = [part for _, part in _parts(tree, data, "criteria", CriterionSpec)]
    draft.faults = [part for _, part in _parts(tree, data, "faults", FaultSpec)]
    return draft


def plain(node: Node) -> Any:
    """Return a tree as plain data: texts stay texts, so that the schema gives them their types."""
    match node:
        case Scalar():
            return None if node.empty else node.text
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {key: plain(value) for key, value in node.entries.items()}


def words_of_mapping(node: Mapping, model: type[BaseModel], problems: Problems) -> dict[str, Any]:
    """Return a mapping as plain data without the words that its model does not know or has only reserved."""
    fields = fields_of(model)
    data = {}
    for word, value in list(node.entries.items()):
        known = fields.get(word)
        if known is None and model.model_config.get("extra") == "allow":
            data[word] = plain(value)
        elif known is None:
            built = [name for name, each in fields.items() if not _reserved(each)]
            problems.add(
                node.keys[word], f"unknown word {shown(word)}", near(word, built), code=ProblemCode.UNKNOWN_KEY
            )
            meant = _meant(word, value, fields, node)
            if not meant:
                problems.incomplete(node.at)
            if meant:  # go on as if it had been written correctly, to find problems below it
                node.put(meant, node.keys[word], value)
                data[meant] = _below(value, fields[meant], problems)
        elif _reserved(known):
            problems.add(
                node.keys[word],
                f"`{word}` is reserved: not yet built",
                "the suite without it",
                _purpose(known),
                code=ProblemCode.RESERVED_KEY,
            )
        else:
            data[word] = _below(value, known, problems)
    return data


def _meant(word: str, value: Node, fields: dict[str, FieldInfo], node: Mapping) -> str:
    """Return the word that was probably meant: similar, not used yet, and of that shape; empty if there is none."""
    if len(node.entries) > 2 * len(fields):
        return ""  # no mapping with slips, and comparing takes time
    shapes: dict[Any, type] = {dict: Mapping, tuple: Sequence}
    absent = [
        name
        for name, each in fields.items()
        if name not in node.entries
        and not _reserved(each)
        and isinstance(value, shapes.get(get_origin(each.annotation), object))
    ]
    found = nearest(word, absent, 1)
    if not found or fields[found[0]].is_required():
        return "".join(found)
    return "".join(nearest(word, found, 1, ALIKE))


def _reserved(known: FieldInfo) -> bool:
    return isinstance(known.json_schema_extra, dict) and bool(known.json_schema_extra.get(NOT_YET))


def _purpose(known: FieldInfo) -> str:
    return (known.description or "").removeprefix("Not yet: ")


def _below(value: Node, known: FieldInfo, problems: Problems) -> Any:
    inner = model_in(known.annotation)
    if inner is None:
        return _number_of_format(value, known) or plain(value)

    def one(node: Node) -> Any:
        words = words_of_mapping(node, inner, problems) if isinstance(node, Mapping) else plain(node)
        slipped = inner is Law and words == {} and plain(node)
        return None if slipped else words  # a law with only unknown words is reported already

    return _each(value, known.annotation, one)


def _each(value: Node, annotation: Any, one: Callable[[Node], Any]) -> Any:
    """Apply `one` to the value, or to each of its parts where the word takes many."""
    origin = get_origin(annotation)
    if origin is dict:
        return {key: one(part) for key, part in value.entries.items()} if isinstance(value, Mapping) else plain(value)
    if origin is tuple:
        return [one(part) for part in value.items] if isinstance(value, Sequence) else plain(value)
    return one(value)


def _number_of_format(value: Node, known: FieldInfo) -> int | None:
    """Return the number that a word takes literally (`pileup: 1`): pydantic compares literals by type."""
    if get_origin(known.annotation) is not Literal or not isinstance(value, Scalar):
        return None
    return next(
        (each for each in get_args(known.annotation) if isinstance(each, int) and str(each) == value.text), None
    )


def _parts(
    tree: Mapping, data: dict[str, Any], word: str, model: type[Spec]
) -> Iterator[tuple[str | int, BoundPart[Spec]]]:
    """Yield the parts under a word that can be understood, with wrong words left out."""
    node, values = tree.entries.get(word), data.get(word)
    many = get_origin(Suite.model_fields[word].annotation)
    found: list[tuple[Any, Node]] = []
    if many is dict and isinstance(node, Mapping):
        found = list(node.entries.items())
    elif many is tuple and isinstance(node, Sequence):
        found = list(enumerate(node.items))
    for key, part in found:
        if isinstance(part, Mapping):
            understood = _understand(part, values[key], model) if values is not None else None
            if understood is not None:
                yield key, understood


def _understand(node: Mapping, values: dict[str, Any], model: type[Spec]) -> BoundPart[Spec] | None:
    unknown = frozenset(node.entries) - frozenset(values)
    try:
        return BoundPart(node, model.model_validate(values), unknown)
    except ValidationError as problem:
        wrong = frozenset(str(error["loc"][0]) for error in problem.errors() if error["loc"])
    left = {word: value for word, value in values.items() if word not in wrong}
    for also in (None, *left):  # what a rule over several words refuses is understood without one of them
        kept = {word: value for word, value in left.items() if word != also}
        with suppress(ValidationError):
            return BoundPart(node, model.model_validate(kept), unknown | wrong | ({also} if also else set()))
    return None


def tree_of(data: Any, at: Position = START) -> Node:
    """Return plain data as a tree whose parts all are at one place: for what is not from a file."""
    if isinstance(data, dict):
        return Mapping(
            {str(key): tree_of(value, at) for key, value in data.items()}, at, {str(key): at for key in data}
        )
    if isinstance(data, (list, tuple)):
        return Sequence([tree_of(value, at) for value in data], at)
    return Scalar("" if data is None else str(data), data is not None, at)
