"""A tree to YAML that reads back to the same tree, in the order of the schema's words."""

from __future__ import annotations

import io
import re
from typing import Any

import yaml

from pileup.suite.formats.shapes import SUITE, Shape
from pileup.suite.formats.tree import NULLS, Mapping, Node, Scalar, Sequence

WIDTH = 120
BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks that only an escape brings back as they are."""
MAPPING, LIST, TEXT = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:str"


def write_yaml(tree: Mapping) -> str:
    """Return a suite as YAML."""
    text = io.StringIO()
    dumper = _Dumper(text, width=WIDTH, allow_unicode=True, indent=2)
    dumper.open()
    dumper.serialize(_suite(tree))
    dumper.close()
    return text.getvalue()


class _Dumper(yaml.SafeDumper):
    """Indents lists below their word, and takes every scalar for text: the schema gives types, not YAML's guesses."""

    def resolve(self, kind: Any, _value: Any, _implicit: Any) -> str:
        """Return the tag that needs not be written."""
        return {yaml.MappingNode: MAPPING, yaml.SequenceNode: LIST}.get(kind, TEXT)

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent by one step, lists too."""
        super().increase_indent(flow, False)


def _suite(tree: Mapping) -> Any:
    """Return the suite as a node: its lists have one item per line, however short."""
    pairs = [
        (_key(word), _node(node, part, 2, part.kind == "list" or word == "targets"))
        for word in SUITE.ordered(tree.entries)
        for node, part in [(tree.entries[word], SUITE.part(word))]
    ]
    return yaml.MappingNode(MAPPING, pairs, flow_style=False)


def _node(node: Node, shape: Shape, column: int, block: bool) -> Any:
    """Return a node of PyYAML; one that fits in its line is written in flow style unless `block` says otherwise."""
    if isinstance(node, Scalar):
        return _scalar(node)
    flow = not block and len(flow_text(node)) + column <= WIDTH
    if isinstance(node, Sequence):
        item = shape.item
        return yaml.SequenceNode(LIST, [_node(each, item, column + 2, False) for each in node.items], flow_style=flow)
    inner = shape.item if shape.kind == "list" else shape
    pairs = [
        (_key(word), _node(node.entries[word], inner.part(word), column + 4 + len(word), False))
        for word in inner.ordered(node.entries)
    ]
    return yaml.MappingNode(MAPPING, pairs, flow_style=flow)


def flow_text(node: Node) -> str:
    """Return about what a node is in flow style."""
    match node:
        case Scalar():
            return node.text if "\n" not in node.text else " " * WIDTH
        case Sequence():
            return "[" + ", ".join(map(flow_text, node.items)) + "]"
        case Mapping():
            return "{" + ", ".join(f"{key}: {flow_text(value)}" for key, value in node.entries.items()) + "}"


def _scalar(node: Scalar) -> Any:
    text = "~" if node.empty else node.text
    return yaml.ScalarNode(TEXT, text, style=None if node.empty else _style(text))


def _style(text: str) -> str | None:
    """Return the style that suits a text; PyYAML quotes where that would not read back."""
    if BREAKS.search(text):
        return '"'
    if "\n" in text:
        return "|"
    if len(text) > WIDTH and text == " ".join(text.split()):
        return ">"
    return "'" if text in NULLS else None


def _key(word: str) -> Any:
    return yaml.ScalarNode(TEXT, word, style="'" if word in ("<<", *NULLS) else _style(word))
