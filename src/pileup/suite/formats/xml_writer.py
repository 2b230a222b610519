"""A tree to XML that reads back to the same tree; docs/suite-file.md has the rules."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pileup.model.suite import TOGETHER
from pileup.suite.formats.shapes import ENTRY, ITEM, SUITE, Shape
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.formats.xml_text import FORBIDDEN, NAME, escape, fold, quote
from pileup.suite.problems import Position, Problems

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
WIDTH = 120
LONGEST = 60
"""Characters of a text that is written as an attribute."""
STEP = "  "
SENTENCES = ("says", "about")
"""Words that are sentences: text of an element however short."""
STRAIGHT = ("targets", "settings")
"""Words whose named parts are beside the other words, without an element around them."""
EXACT = ' xml:space="preserve"'

Entry = tuple[str, Position, Node]


def write_xml(tree: Mapping, problems: Problems) -> str:
    """Return a suite as XML. What no XML document can hold becomes a problem."""
    return HEAD + _Writer(problems).suite(tree)


class _Writer:
    """Writes elements; `faults` take what cannot be written."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def suite(self, tree: Mapping) -> str:
        attributes, below = self._split(tree, SUITE)
        parts: list[str] = []
        before = ""
        for word, at, node in below:
            part = SUITE.part(word)
            block = word if part.kind == "list" or word in STRAIGHT else ""
            parts.append("\n" if parts and (block or before) else "")
            parts.extend(self._word(SUITE, word, at, node, 1))
            before = block
        return self._tag("suite", attributes, 0) + ">\n" + "".join(parts) + "</suite>\n"

    def _split(
        self, node: Mapping, shape: Shape, taken: tuple[str, ...] = ()
    ) -> tuple[list[tuple[str, str]], list[Entry]]:
        """Return what of a mapping is written as attributes, and what as elements.

        Variables keep their order, which matters, and attributes come before all elements.
        """
        attributes: list[tuple[str, str]] = []
        below: list[Entry] = []
        for word in shape.ordered(node.entries):
            value, at = node.entries[word], node.keys[word]
            text = None if shape.word == "variables" and below else self._attribute(shape, word, value)
            if text is None or word in taken:
                below.append((word, at, value))
            else:
                attributes.append((word, self._checked(text, value.at)))
        return attributes, below

    def _attribute(self, shape: Shape, word: str, value: Node) -> str | None:
        """Return the text of a word that may be an attribute."""
        if not NAME.match(word) or word == "is":
            return None
        if shape.part(word).kind == "list":
            if shape.free:
                return None
            single = isinstance(value, Sequence) and len(value.items) == 1
            value = value.items[0] if single and isinstance(value, Sequence) else Mapping({}, value.at)
        if not isinstance(value, Scalar) or value.empty or (shape.model and word in SENTENCES):
            return None
        return value.text if len(value.text) <= LONGEST and "\n" not in value.text else None

    def _checked(self, text: str, at: Position) -> str:
        bad = FORBIDDEN.search(text)
        if bad:
            told = f"the character U+{ord(bad.group()):04X}, which XML cannot hold"
            self._problems.add(at, told, "printable text", "keep this suite in YAML")
            return ""
        return text

    def _word(self, shape: Shape, word: str, at: Position, node: Node, depth: int) -> Iterator[str]:
        """Yield the elements that say one word."""
        part = shape.part(word)
        if shape.model and isinstance(node, Sequence) and node.items and self._repeats(node, part):
            name = part.element if part.singular else word
            for item in node.items:
                yield self._element(name, [], item, part.item, depth)
        elif word in STRAIGHT and part.free and isinstance(node, Mapping) and node.entries:
            for key, item in node.entries.items():
                yield self._named(part, key, node.keys[key], item, depth)
        elif self._is_name(shape, word) and (shape.word != "scan" or word == TOGETHER):
            yield self._element(word, [], node, part, depth)
        else:
            yield self._named(shape, word, at, node, depth)

    def _repeats(self, node: Sequence, part: Shape) -> bool:
        """Whether a list may be its element repeated: no item needs to say what it is."""
        if part.kind != "list":
            return False
        items = [self._kind(item, part.item) for item in node.items]
        lists = any(isinstance(item, Sequence) for item in node.items)
        return not any(items) and not lists

    def _is_name(self, shape: Shape, word: str) -> bool:
        """Whether an element of that name is this word and nothing else."""
        if not NAME.match(word) or word in (ENTRY, ITEM) or shape.plural(word) is not None:
            return False
        return not (shape.free and word == shape.element)

    def _named(self, shape: Shape, word: str, at: Position, node: Node, depth: int) -> str:
        name = shape.element if shape.kind == "mapping" else ENTRY
        return self._element(name, [("name", self._checked(word, at))], node, shape.part(word), depth)

    def _element(self, name: str, attributes: list[tuple[str, str]], node: Node, shape: Shape, depth: int) -> str:
        """Return an element with what is in it. `attributes` are those that it needs besides."""
        kind = self._kind(node, shape)
        head = [*attributes, ("is", kind)] if kind else attributes
        pad = STEP * depth
        if isinstance(node, Scalar):
            return pad + self._scalar(name, head, node, depth)
        if isinstance(node, Sequence):
            item = shape.item
            inside = [self._element(ITEM, [], each, item, depth + 1) for each in node.items]
            return self._closed(name, head, inside, depth)
        inner = shape.words
        own, below = self._split(node, inner, tuple(word for word, _ in attributes))
        inside = [text for word, at, value in below for text in self._word(inner, word, at, value, depth + 1)]
        return self._closed(name, [*head, *own], inside, depth)

    def _kind(self, node: Node, shape: Shape) -> str:
        """Return what `is` must say, empty when the element shows it."""
        inner = shape.words
        listed = shape.kind == "list"
        match node:
            case Scalar() if node.empty:
                return "nothing" if listed or inner.kind == "mapping" else ""
            case Scalar():
                return "text" if listed or not node.text else ""
            case Sequence():
                shown = shape.kind in ("list", "any") and node.items
                return "" if shown else "list"
            case Mapping():
                return "mapping" if listed or (not node.entries and inner.kind != "mapping") else ""

    def _scalar(self, name: str, attributes: list[tuple[str, str]], node: Scalar, depth: int) -> str:
        text = "" if node.empty else self._checked(node.text, node.at)
        exact = EXACT if fold(text) != text else ""
        head = self._tag(name, attributes, depth) + exact
        lines = textwrap.wrap(text, WIDTH - len(STEP) * (depth + 1), break_long_words=False, break_on_hyphens=False)
        if len(text) > WIDTH and not exact and fold("\n".join(lines)) == text:
            pad = "\n" + STEP * (depth + 1)
            return f"{head}>{pad}{pad.join(map(escape, lines))}\n{STEP * depth}</{name}>\n"
        return f"{head}>{escape(text)}</{name}>\n" if text else f"{head}/>\n"

    def _closed(self, name: str, attributes: list[tuple[str, str]], inside: list[str], depth: int) -> str:
        pad = STEP * depth
        head = pad + self._tag(name, attributes, depth)
        if not inside:
            return head + "/>\n"
        short = f"{head}>{''.join(text.strip() for text in inside)}</{name}>\n"
        plain = all(text.count("<") == 2 and text.count("\n") == 1 for text in inside)
        if plain and len(short) <= WIDTH and len(inside) <= 8 and inside[0].lstrip().startswith(f"<{ITEM}>"):
            return short
        return f"{head}>\n{''.join(inside)}{pad}</{name}>\n"

    def _tag(self, name: str, attributes: list[tuple[str, str]], depth: int) -> str:
        """Return a start tag without its end, over several lines when it is long."""
        text = f"<{name}"
        column = len(STEP) * depth + len(text)
        for word, value in attributes:
            part = f"{word}={quote(value)}"
            if column + 1 + len(part) > WIDTH - 2:
                indent = len(STEP) * depth + len(name) + 2
                text += "\n" + " " * indent + part
                column = indent + len(part)
            else:
                text += " " + part
                column += 1 + len(part)
        return text
