"""YAML to a tree, from the event stream of libyaml's parser: composing in C overflows its stack on deep input.

Limits: size of the file, depth, nodes with aliases written out. No tags, no merge keys, no second document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from pileup.model.problem_codes import ProblemCode
from pileup.suite.formats.size_limits import DEEPEST, MOST_NODES, UnreadableError, decode
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.problems import Position, Problems, shown


@dataclass(slots=True)
class _Open:
    """A collection that is still being read, with the key that waits for its value."""

    node: Mapping | Sequence
    anchor: str | None
    key: str | None = None
    key_at: Position | None = None
    ignore: bool = False
    """Whether the next value goes nowhere, because its key is wrong."""


def read_yaml(data: bytes, problems: Problems, origin: str = "", rank: int = 0) -> Node | None:
    """Return the tree of one YAML document, or None when it cannot be read; problems say why.

    `origin` and `rank` give the position of text that is not from the file (see Position).
    """
    try:
        text = decode(data, problems, origin, rank)
        return _Reader(problems, origin, rank).read(text)
    except UnreadableError:
        return None


class _Reader:
    """Builds the tree from events with a stack of its own."""

    def __init__(self, problems: Problems, origin: str, rank: int) -> None:
        self._problems = problems
        self._origin = origin
        self._rank = rank
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._root: Node | None = None
        self._nodes = 0
        self._documents = 0

    def read(self, text: str) -> Node | None:
        try:
            for event in yaml.parse(text, Loader=yaml.CSafeLoader):
                self._take(event)
        except yaml.MarkedYAMLError as problem:
            self._not_yaml(problem, text)
        except yaml.YAMLError as problem:
            self._fail(Position(self._rank, 1, 1, self._origin), f"this is not YAML: {problem}", "a suite in YAML")
        return self._root

    def _not_yaml(self, problem: yaml.MarkedYAMLError, text: str) -> None:
        at = self._at(problem.problem_mark)
        lines = text.splitlines()
        line = lines[at.line - 1] if at.line <= len(lines) else ""
        if line[: at.column].strip(" \t") == "" and "\t" in line[: at.column + 1]:
            self._fail(at, "a tab in the indentation", "spaces")
        before, here = line[max(0, at.column - 2) : at.column - 1], line[at.column - 1 : at.column]
        if here in ("[", "{") and before not in ("", " ", "\t", ",", "[", "{", ":"):
            said, wanted = (
                f"`{here}` in a text without quotes",
                'quotes around it, like "max(copy.response[place=n2]) < 1 s"',
            )
            self._fail(at, said, wanted, "YAML needs them within { } and [ ]")
        if before == '"' and here.isalnum():
            self._fail(
                at, 'a `"` within a text in double quotes', "single quotes around it", "or leave the inner ones out"
            )
        said = ": ".join(part for part in (problem.context, problem.problem) if part)
        self._fail(at, f"this is not YAML: {said}", "a suite in YAML", "check this line and the one before")

    def _fail(self, at: Position, what: str, expected: str = "", hint: str = "") -> None:
        self._problems.add(at, what, expected, hint)
        raise UnreadableError

    def _at(self, mark: Any) -> Position:
        if mark is None:
            return Position(self._rank, 1, 1, self._origin)
        return Position(self._rank, mark.line + 1, mark.column + 1, self._origin)

    def _take(self, event: Any) -> None:
        at = self._at(event.start_mark)
        match event:
            case yaml.DocumentStartEvent():
                self._begin_document(at)
            case yaml.ScalarEvent():
                self._put(self._scalar(event, at), event.anchor)
            case yaml.AliasEvent():
                self._put_alias(str(event.anchor), at)
            case yaml.MappingStartEvent():
                self._open(Mapping({}, at), event)
            case yaml.SequenceStartEvent():
                self._open(Sequence([], at), event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                closed = self._stack.pop()
                self._put(closed.node, closed.anchor)

    def _scalar(self, event: Any, at: Position) -> Scalar:
        self._check_tag(event.tag, at)
        span = (event.start_mark.index, event.end_mark.index) if self._rank == 0 else (0, 0)
        return Scalar(event.value, event.style not in ("", None), at, span)

    def _begin_document(self, at: Position) -> None:
        self._documents += 1
        if self._documents > 1:
            self._fail(at, "a second document in the file", "one document", "remove the line `---` and what follows")

    def _check_tag(self, tag: str | None, at: Position) -> None:
        if tag is not None:
            self._problems.add(
                at, f"the tag {shown(tag)}", "values without YAML tags", "the suite's schema knows the types"
            )

    def _count(self, at: Position, number: int, height: int) -> None:
        self._nodes += number
        if self._nodes > MOST_NODES:
            self._fail(at, f"more than {MOST_NODES} values, those of aliases counted each time", "a smaller suite")
        if len(self._stack) + height > DEEPEST:
            self._fail(at, f"nested deeper than {DEEPEST} levels", "a flatter suite")

    def _open(self, node: Mapping | Sequence, event: Any) -> None:
        anchor = event.anchor
        self._check_tag(event.tag, node.at)
        self._count(node.at, 1, 1)
        if self._stack and isinstance(self._stack[-1].node, Mapping) and self._stack[-1].key is None:
            self._fail(node.at, "a list or mapping as a key", "a word")
        if anchor:
            self._anchors.pop(anchor, None)
        self._stack.append(_Open(node, anchor))

    def _put_alias(self, anchor: str, at: Position) -> None:
        node = self._anchors.get(anchor)
        if node is None:
            inside = any(each.anchor == anchor for each in self._stack)
            found = f"alias *{anchor} is inside its own anchor" if inside else f"alias *{anchor} has no anchor"
            self._fail(
                at, found, f"an anchor &{anchor} before, and outside" if inside else f"an anchor &{anchor} before"
            )
        else:
            number, height = _measure(node)
            self._count(at, number, height)
            self._nodes -= isinstance(node, Scalar)  # `_put` counts texts itself
            self._put(_copy(node), None)

    def _put(self, node: Node, anchor: str | None) -> None:
        if isinstance(node, Scalar):
            self._count(node.at, 1, 0)
        if anchor:
            self._anchors[anchor] = node
        if not self._stack:
            self._root = node
            return
        top = self._stack[-1]
        if isinstance(top.node, Sequence):
            top.node.items.append(node)
        elif top.key is None:
            self._put_key(top, node)
        else:
            if not top.ignore and top.key_at is not None:
                top.node.put(top.key, top.key_at, node)
            top.key, top.ignore = None, False

    def _put_key(self, top: _Open, node: Node) -> None:
        if not isinstance(node, Scalar) or not isinstance(top.node, Mapping):
            self._fail(node.at, "a list or mapping as a key", "a word")
            return
        top.key, top.key_at = node.text, node.at
        if node.text == "<<" and not node.quoted:
            top.ignore = True
            self._problems.add(
                node.at, "the merge key `<<`", "the words themselves", "merge keys are not part of a suite"
            )
        elif node.text in top.node.entries:
            top.ignore = True
            first = top.node.keys[node.text].line
            self._problems.add(
                node.at,
                f"{shown(node.text)} is given twice",
                "each word once",
                f"first in line {first}",
                code=ProblemCode.DUPLICATE_KEY,
            )


def _measure(node: Node) -> tuple[int, int]:
    """Return the number of nodes and the height of a tree."""
    match node:
        case Scalar():
            return 1, 0
        case Sequence():
            below = [_measure(item) for item in node.items]
        case Mapping():
            below = [_measure(item) for item in node.entries.values()]
    return 1 + sum(number for number, _ in below), 1 + max((height for _, height in below), default=0)


def _copy(node: Node) -> Node:
    match node:
        case Scalar():
            return Scalar(node.text, node.quoted, node.at, node.span)
        case Sequence():
            return Sequence([_copy(item) for item in node.items], node.at)
        case Mapping():
            return Mapping({key: _copy(item) for key, item in node.entries.items()}, node.at, dict(node.keys))
