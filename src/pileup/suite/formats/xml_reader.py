"""XML to the same tree as YAML, from the events of expat. docs/suite-file.md has the rules.

Limits: size of the file, depth, number of values. No document type, so no entities but XML's own five and nothing
from outside; no namespaces, no processing instructions, no encoding but UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from xml.parsers import expat

from pileup.model.problem_codes import ProblemCode
from pileup.suite.formats.shapes import ANY, ENTRY, ITEM, SUITE, Shape
from pileup.suite.formats.size_limits import DEEPEST, MOST_NODES, UnreadableError, decode
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.formats.xml_problems import EXAMPLE, ROOT, explain, second_of_two
from pileup.suite.formats.xml_text import SPACE, Attribute, Places, attributes_at, fold
from pileup.suite.problems import Position, Problems, near, shown

IS, SPACES, NAME = "is", "xml:space", "name"
KINDS = ("nothing", "text", "list", "mapping")
BUFFER = 1 << 20


Put = Callable[[bool, Node], None]
"""Gives a value to the element around it; the flag says whether an element of a list's word is the whole list."""


@dataclass(slots=True)
class _Element:
    """An element that is still being read."""

    name: str
    at: Position
    shape: Shape
    put: Put
    content: int
    """Byte index after its start tag."""
    node: Mapping
    items: Sequence
    mode: str = ""
    """What was found in it: "mapping", "list", or nothing yet."""
    kind: str = ""
    """What `is` says."""
    exact: bool = False
    """Whether spaces and line breaks in its text count."""
    pieces: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether an element of a list's word is the list itself, not one item of it."""
        return self.mode == "list" or bool(self.kind)

    @property
    def inner(self) -> Shape:
        """What the words in it belong to: of one item of a list's word, the item."""
        return self.shape.words


def read_xml(data: bytes, problems: Problems) -> Node | None:
    """Return the tree of one XML document, or None when it cannot be read; problems say why."""
    try:
        text = decode(data, problems)
        return _Reader(text.encode(), problems).read()
    except UnreadableError:
        return None


class _Reader:
    """Builds the tree from events with a stack of its own."""

    def __init__(self, data: bytes, problems: Problems) -> None:
        self._data = data
        self._problems = problems
        self._places = Places(data)
        self._stack: list[_Element] = []
        self._root: Node | None = None
        self._nodes = 0
        self._parser = expat.ParserCreate("UTF-8")

    def read(self) -> Node | None:
        parser = self._parser
        parser.buffer_text, parser.buffer_size = True, BUFFER
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.ProcessingInstructionHandler = self._instruction
        try:
            parser.Parse(self._data, True)
        except expat.ExpatError as problem:
            self._not_xml(problem)
        return self._root

    def _not_xml(self, problem: expat.ExpatError) -> None:
        index, said = max(0, self._parser.ErrorByteIndex), expat.ErrorString(problem.code)
        twice = second_of_two(self._data, index) if said == expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE else None
        if twice:
            told = f"first in line {self._places.position(twice[0].at).line}"
            at = self._places.position(twice[1].at)
            self._fail(at, f"{shown(twice[1].name)} is given twice", "each word once", told)
        top = self._stack[-1] if self._stack else None
        inside = f"<{top.name}> of line {top.at.line}" if top else ""
        self._fail(self._places.position(index), *explain(said, self._data, index, inside, top.name if top else ""))

    def _fail(self, at: Position, what: str, expected: str = "", hint: str = "") -> None:
        self._problems.add(at, what, expected, hint)
        raise UnreadableError

    def _here(self) -> Position:
        return self._places.position(self._parser.CurrentByteIndex)

    def _declaration(self, version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            told = f"the encoding {shown(encoding)} is declared"
            self._problems.add(self._here(), told, 'encoding="UTF-8"', "save the file as UTF-8")
        if version != "1.0":
            self._problems.add(self._here(), f"XML {shown(version)}", 'version="1.0"')

    def _doctype(self, *_: object) -> None:
        told = "a document type, which could bring entities and other files"
        begin = self._data.rfind(b"<!DOCTYPE", 0, self._parser.CurrentByteIndex + 9)
        self._fail(self._places.position(max(0, begin)), told, f"the element <{ROOT}> at once", "remove <!DOCTYPE …>")

    def _instruction(self, target: str, _data: str) -> None:
        told = f"the processing instruction {shown(target)}"
        self._problems.add(self._here(), told, "elements and attributes", f"remove <?{target} …?>")

    def _count(self, at: Position, number: int) -> None:
        self._nodes += number
        if self._nodes > MOST_NODES:
            self._fail(at, f"more than {MOST_NODES} values", "a smaller suite")
        if len(self._stack) > DEEPEST:
            self._fail(at, f"nested deeper than {DEEPEST} levels", "a flatter suite")

    def _start(self, name: str, values: dict[str, str]) -> None:
        at = self._places.position(self._parser.CurrentByteIndex)
        self._count(at, 1 + len(values))
        found, content = attributes_at(self._data, self._parser.CurrentByteIndex)
        given = [each for each in found if self._plain(each)]
        element = self._element(name, at, content, given, values) if self._stack else self._first(name, at, content)
        self._stack.append(element)
        given.sort(key=lambda each: each.name not in (IS, SPACES))
        for each in given:
            self._attribute(element, each, values[each.name])

    def _plain(self, each: Attribute) -> bool:
        """Whether an attribute is none of namespaces, which are a problem."""
        if each.name != SPACES and (":" in each.name or each.name == "xmlns"):
            at = self._places.position(each.at)
            self._problems.add(at, f"{shown(each.name)} is of a namespace", "words of the suite without a prefix")
            return False
        return True

    def _first(self, name: str, at: Position, content: int) -> _Element:
        if name != ROOT:
            self._fail(at, f"the file holds <{name[:60]}>", f'<{ROOT} pileup="1" …>', EXAMPLE)
        return _Element(name, at, SUITE, self._finish, content, Mapping({}, at), Sequence([], at))

    def _finish(self, _: bool, node: Node) -> None:
        self._root = node

    def _element(
        self, name: str, at: Position, content: int, given: list[Attribute], values: dict[str, str]
    ) -> _Element:
        """Return an element with the way in which it belongs to the one around it."""
        around = self._stack[-1]
        shape: Shape = ANY
        put: Put = self._nowhere
        if ":" in name:
            self._problems.add(at, f"the element {shown(name)} has a prefix", "names without namespaces")
        elif self._is_item(around, name):
            self._turn(around, "list", at)
            shape, put = around.shape.item, self._item
        elif NAME in values and name in (around.inner.element, ENTRY):
            self._turn(around, "mapping", at)
            shape = around.inner.part(values[NAME])
            put = self._entry(around.node, shape, given, values)
        else:
            self._turn(around, "mapping", at)
            shape, put = self._word(around, name, given, values, at)
        return _Element(name, at, shape, put, content, Mapping({}, at), Sequence([], at))

    def _is_item(self, around: _Element, name: str) -> bool:
        shape = around.shape
        if around.kind == "list" and name not in (ITEM, shape.element):
            self._fail(self._here(), f"<{name[:60]}> in a list", f"<{ITEM}>")
        if around.kind in ("list", "mapping"):
            return around.kind == "list"
        if shape.kind == "list":
            return name in (ITEM, shape.element) and not around.node.entries
        return shape.kind == "any" and name == ITEM

    def _turn(self, element: _Element, mode: str, at: Position) -> None:
        """Note what an element holds; one thing only."""
        if element.mode not in ("", mode):
            told = f"<{element.name}> holds words and a list"
            self._fail(at, told, f"either, and a list as <{ITEM}>…</{ITEM}> alone")
        if element.kind in KINDS[:2]:
            self._fail(at, f"<{element.name}> is {element.kind}, and holds something", "an element with nothing in it")
        if not element.mode and "".join(element.pieces).strip(SPACE):
            element.mode = mode
            self._beside(element, "".join(element.pieces))
        element.mode = mode

    def _word(
        self, around: _Element, name: str, given: list[Attribute], values: dict[str, str], at: Position
    ) -> tuple[Shape, Put]:
        """Return the shape and the way of an element that is a word, or one part of a word in the plural."""
        shape = around.inner
        plural = shape.plural(name)
        if plural is None:
            part = shape.part(name)
            return part, self._value(around.node, name, part, at)
        whole = shape.part(plural)
        if whole.kind == "list":
            return whole.item, lambda _, node: self._append(around.node, plural, node, at)
        if NAME not in values:
            self._problems.add(at, f"<{name}> has no name", f'<{name} {NAME}="…">')
            return ANY, self._nowhere
        found = around.node.entries.get(plural)
        if found is None:
            found = Mapping({}, at)
            around.node.put(plural, at, found)
        if not isinstance(found, Mapping):
            self._told_twice(around.node, plural, at)
            return ANY, self._nowhere
        part = whole.part(values[NAME])
        return part, self._entry(found, part, given, values)

    def _entry(self, mapping: Mapping, shape: Shape, given: list[Attribute], values: dict[str, str]) -> Put:
        """Return the way of an element whose word is in its attribute `name`, which is taken from `given`."""
        each = next(each for each in given if each.name == NAME)
        given.remove(each)
        at = self._places.position(each.start)
        return self._value(mapping, values[NAME], shape, at)

    def _value(self, mapping: Mapping, word: str, shape: Shape, at: Position) -> Put:
        def put(whole: bool, node: Node) -> None:
            if shape.kind == "list" and not whole:
                self._append(mapping, word, node, at)
            elif shape.free and isinstance(node, Mapping) and isinstance(mapping.entries.get(word), Mapping):
                self._merge(mapping, word, node)
            else:
                self._enter(mapping, word, node, at)

        return put

    def _item(self, _: bool, node: Node) -> None:
        self._stack[-1].items.items.append(node)

    def _nowhere(self, _: bool, node: Node) -> None:
        """Take a value that belongs nowhere; that is reported."""

    def _enter(self, mapping: Mapping, word: str, node: Node, at: Position) -> None:
        if word in mapping.entries:
            self._told_twice(mapping, word, at)
        else:
            mapping.put(word, at, node)

    def _merge(self, mapping: Mapping, word: str, more: Mapping) -> None:
        """Add names to those that are there: `<option name="a">…</option> <options b="1"/>` is one mapping."""
        found = mapping.entries[word]
        for key, node in more.entries.items():
            if isinstance(found, Mapping):
                self._enter(found, key, node, more.keys[key])

    def _append(self, mapping: Mapping, word: str, node: Node, at: Position) -> None:
        found = mapping.entries.get(word)
        if found is None:
            mapping.put(word, at, Sequence([node], at))
        elif isinstance(found, Sequence):
            found.items.append(node)
        else:
            self._told_twice(mapping, word, at)

    def _told_twice(self, mapping: Mapping, word: str, at: Position) -> None:
        told = f"{shown(word)} is given twice"
        first = f"first in line {mapping.keys[word].line}"
        self._problems.add(at, told, "each word once", first, code=ProblemCode.DUPLICATE_KEY)

    def _attribute(self, element: _Element, each: Attribute, value: str) -> None:
        at = self._places.position(each.at)
        if each.name == IS:
            if value not in KINDS:
                self._problems.add(at, f'{IS}="{value[:60]}"', near(value, KINDS))
            else:
                element.kind = value
            return
        if each.name == SPACES:
            element.exact = value == "preserve"
            if value not in ("preserve", "default"):
                self._problems.add(at, f'{SPACES}="{value[:60]}"', "preserve or default")
            return
        if element.kind == "list":
            self._fail(at, f"<{element.name}> is a list and has the attribute {shown(each.name)}", "items alone")
        self._turn(element, "mapping", at)
        value_at = self._places.position(each.start)
        span = self._places.character(each.start), self._places.character(each.end)
        node = Scalar(value, True, value_at, span)
        if element.inner.part(each.name).kind == "list":
            self._append(element.node, each.name, node, at)
        else:
            self._enter(element.node, each.name, node, at)

    def _text(self, text: str) -> None:
        element = self._stack[-1]
        if not element.mode:
            element.pieces.append(text)
        elif text.strip(SPACE):
            self._beside(element, text)

    def _beside(self, element: _Element, text: str) -> None:
        told = f"<{element.name}> holds text beside {'items' if element.mode == 'list' else 'words'}"
        begin = text.strip(SPACE).split("\n")[0].encode()
        found = self._data.rfind(begin, element.content, self._parser.CurrentByteIndex)
        self._fail(
            self._places.position(max(element.content, found)), f"{told}: {shown(text.strip(SPACE))}", "either of them"
        )

    def _end(self, _name: str) -> None:
        element = self._stack[-1]
        node = self._value_of(element)
        self._stack.pop()
        element.put(element.whole, node)

    def _value_of(self, element: _Element) -> Node:
        written = "".join(element.pieces)
        text = written if element.exact else fold(written)
        kind = element.kind or element.mode
        if kind in ("list", "mapping", "nothing") and written.strip(SPACE):
            self._beside(element, written)
        if kind == "list":
            return element.items
        if kind == "mapping" or (not text and not kind and element.inner.kind == "mapping"):
            return element.node
        if not text and kind != "text":
            return Scalar("", False, element.at)
        return self._scalar(element, text, written.lstrip(SPACE)[:1])

    def _scalar(self, element: _Element, text: str, first: str) -> Scalar:
        """Return text with its place: where its first character is, as far as that is written literally."""
        end = self._parser.CurrentByteIndex
        begin = self._places.character(element.content)
        found = self._data.find(first.encode(), element.content, end)
        at = self._places.position(max(found, element.content))
        return Scalar(text, True, at, (begin, self._places.character(end)))
