"""A suite as a tree of nodes with positions, whatever format it was written in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pileup.suite.problems import Position

NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(slots=True)
class Scalar:
    """A text; the schema gives it a type. Quoted texts are never taken for nothing."""

    text: str
    quoted: bool
    at: Position
    span: tuple[int, int] = (0, 0)
    """From where to where it is in the file, in characters; (0, 0) when not from the file."""
    variables: frozenset[str] = frozenset()
    """Names of the variables that the text was made from."""

    @property
    def empty(self) -> bool:
        """Whether it is null."""
        return not self.quoted and self.text in NULLS


@dataclass(slots=True)
class Sequence:
    """A list."""

    items: list[Node]
    at: Position


@dataclass(slots=True)
class Mapping:
    """Words and their values, in the order of the file."""

    entries: dict[str, Node]
    at: Position
    keys: dict[str, Position] = field(default_factory=dict)
    """The position of each word."""

    def put(self, key: str, at: Position, value: Node) -> None:
        """Add or replace an entry."""
        self.entries[key] = value
        self.keys[key] = at


Node = Scalar | Sequence | Mapping
Path = tuple[str | int, ...]


def copied(node: Mapping) -> Mapping:
    """Return a copy of a tree; positions are shared."""
    return Mapping({key: _copied(value) for key, value in node.entries.items()}, node.at, dict(node.keys))


def _copied(node: Node) -> Node:
    match node:
        case Scalar():
            return replace(node)
        case Sequence():
            return Sequence([_copied(item) for item in node.items], node.at)
        case Mapping():
            return copied(node)


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    """Yield every scalar below a node with its path."""
    match node:
        case Scalar():
            yield path, node
        case Sequence():
            for number, item in enumerate(node.items):
                yield from walk(item, (*path, number))
        case Mapping():
            for key, value in node.entries.items():
                yield from walk(value, (*path, key))


def child(node: Node | None, key: str | int) -> Node | None:
    """Return the entry or item of that name or number, None when there is none."""
    if isinstance(node, Mapping):
        return node.entries.get(str(key))
    if isinstance(node, Sequence) and isinstance(key, int) and 0 <= key < len(node.items):
        return node.items[key]
    return None


def where(node: Node, path: Path, key: bool = False) -> Position:
    """Return the position of what is at `path`, or of the nearest thing around it that there is.

    With `key` the position of the word, not of its value.
    """
    at = node.at
    for number, step in enumerate(path):
        if key and number == len(path) - 1 and isinstance(node, Mapping):
            return node.keys.get(str(step), at)
        below = child(node, step)
        if below is None:
            break
        node, at = below, below.at
    return at


def kind_of(node: Node | None) -> str:
    """Return what a node is, in words."""
    match node:
        case None:
            return "nothing"
        case Scalar():
            return "nothing" if node.empty else "text"
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
