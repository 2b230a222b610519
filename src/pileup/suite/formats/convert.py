"""Converts a suite file to the other format: the document with its variables, not the resulting plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from pileup.model.errors import PileupError, Problem, SuiteError
from pileup.suite.formats.reading import is_xml, read_tree
from pileup.suite.formats.size_limits import LARGEST
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.formats.xml_writer import write_xml
from pileup.suite.formats.yaml_writer import write_yaml
from pileup.suite.problems import Problems, TooManyProblemsError

Format = Literal["yaml", "xml"]


@dataclass(frozen=True, slots=True)
class Converted:
    """A suite in another format, and which parts of the file it lacks."""

    text: str
    lost: tuple[str, ...]


def other_format(data: bytes, suffix: str) -> Format:
    """Return the format that a file is not in."""
    return "yaml" if is_xml(data, suffix) else "xml"


def convert(data: bytes, suffix: str, source: str, to: Format) -> Converted:
    """Return a suite file in a format. Its content is not checked: `pileup validate` does that.

    `source` names the file in messages. Raises SuiteError when the file cannot be read, or the format cannot hold it.
    """
    problems = Problems(source)
    try:
        tree = read_tree(data, suffix, problems)
        text = "" if tree is None or problems else write_xml(tree, problems) if to == "xml" else write_yaml(tree)
    except TooManyProblemsError:
        tree = None
    if problems or tree is None:
        raise problems.error()
    _read_back(text, to, tree, source)
    return Converted(text, tuple(_lost(data.decode("utf-8-sig"), is_xml(data, suffix))))


def same(one: Node, other: Node) -> bool:
    """Whether two trees are equal, except for positions and the order of words."""
    match one, other:
        case Scalar(), Scalar():
            return (one.empty and other.empty) or (not one.empty and not other.empty and one.text == other.text)
        case Sequence(), Sequence():
            alike = len(one.items) == len(other.items)
            return alike and all(same(*both) for both in zip(one.items, other.items, strict=True))
        case Mapping(), Mapping():
            alike = one.entries.keys() == other.entries.keys()
            return alike and all(same(node, other.entries[word]) for word, node in one.entries.items())
        case _:
            return False


def _read_back(text: str, to: Format, tree: Mapping, source: str) -> None:
    """Make sure that nothing was lost on the way."""
    problems = Problems(source)
    data = text.encode()
    if len(data) > LARGEST:
        told = f"the suite has {len(data)} bytes as {to.upper()}"
        raise SuiteError((Problem(source, told, f"at most {LARGEST // 1024 // 1024} MiB"),))
    back = read_tree(data, f".{to}", problems)
    if problems:
        first = problems.error().problems[0]
        told = f"as {to.upper()} the suite has a problem: {first.what}"
        raise SuiteError((Problem(source, told, first.expected, "keep it in its format"),))
    if back is None or not same(tree, back):
        raise PileupError("the suite changed on the way", "the same suite", "please report it with the file")


def _lost(text: str, xml: bool) -> list[str]:
    """Return in words what the other format does not support."""
    if xml:
        marked = re.sub(r"<!\[CDATA\[.*?\]\]>", "", text, flags=re.DOTALL)
        return ["comments"] if "<!--" in marked else []
    events: list[Any] = list(yaml.parse(text, Loader=yaml.CSafeLoader))
    outside, place = "", 0
    for each in events:
        if isinstance(each, yaml.ScalarEvent) and each.start_mark and each.end_mark:
            outside += text[place : each.start_mark.index]
            place = max(place, each.end_mark.index)
    found = ["comments"] if "#" in outside + text[place:] else []
    aliases = any(isinstance(each, yaml.AliasEvent) for each in events)
    return found + (["anchors (what they stand for is written out)"] if aliases else [])
