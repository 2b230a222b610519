"""Text in XML: where it is in the file, how lines are folded, which characters and names may be in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from pileup.suite.problems import Position

SPACE = " \t\n\r"
NAME = re.compile(r"(?!xml)[A-Za-z_][A-Za-z0-9._-]*\Z", re.IGNORECASE)
"""Names that are written as elements and attributes; all of them are XML names."""
FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML 1.0 document can hold, not even as a reference: all others take long to compile."""

_ATTRIBUTE = re.compile(rb"""\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")
_TAG = re.compile(rb"<[^\s/>]+")
_END = re.compile(rb"\s*/?>")
_LINE = re.compile(rb"\n")
_INNER = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that begin no character."""
BLOCK = 256
"""Bytes that are looked through for one place."""


class Attribute(NamedTuple):
    """The position of an attribute, in bytes: its name, and its value without the quotes."""

    name: str
    at: int
    start: int
    end: int


def attributes_at(data: bytes, index: int) -> tuple[list[Attribute], int]:
    """Return the attributes of the start tag at a byte index, and the index after the tag; the tag is well-formed.

    Of a tag that is not, as many as can be read.
    """
    tag = _TAG.match(data, index)
    place = tag.end() if tag else index
    found = []
    while match := _ATTRIBUTE.match(data, place):
        found.append(Attribute(match[1].decode(), match.start(1), match.start(2) + 1, match.end(2) - 1))
        place = match.end()
    end = _END.match(data, place)
    return found, end.end() if end else place


class Places:
    """Byte indices of UTF-8 to positions, each by itself."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._lines = [0, *(match.end() for match in _LINE.finditer(data))]
        self._plain = data.isascii()
        begins = range(0, 0 if self._plain else len(data), BLOCK)
        self._characters = [0, *accumulate(_characters(data[begin : begin + BLOCK]) for begin in begins)]
        """How many characters come before each block, where a character can be more than one byte."""

    def position(self, index: int) -> Position:
        """Return line and column, in characters from 1."""
        line = bisect_right(self._lines, index)
        begin = self._lines[line - 1]
        before = index - begin if self._plain else self.character(index) - self.character(begin)
        return Position(0, line, before + 1)

    def character(self, index: int) -> int:
        """Return the number of characters before."""
        if self._plain:
            return index
        block = index // BLOCK
        return self._characters[block] + _characters(self._data[block * BLOCK : index])


def _characters(data: bytes) -> int:
    """Return how many characters of UTF-8 begin in some bytes."""
    return len(data.translate(None, _INNER))


def fold(text: str) -> str:
    """Return text as YAML folds a plain one: lines trimmed and joined by a space, empty lines as line breaks."""
    text = text.strip(SPACE)
    if "\n" not in text:
        return text
    found: list[str] = []
    breaks = 0
    for line in text.split("\n"):
        word = line.strip(SPACE)
        if not word:
            breaks += 1
            continue
        if found:
            found.append("\n" * breaks or " ")
        found.append(word)
        breaks = 0
    return "".join(found)


def escape(text: str) -> str:
    """Return text as it is between tags."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")
    return _references(text, "\r")


def quote(text: str) -> str:
    """Return text as the quoted value of an attribute."""
    sign = "'" if '"' in text and "'" not in text else '"'
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    if sign == '"':
        text = text.replace('"', "&quot;")
    return sign + _references(text, "\t\n\r") + sign


def _references(text: str, spaces: str) -> str:
    """Write characters that a reader would change or an editor would hide as references."""
    return re.sub(f"[{spaces}\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"&#{ord(match[0])};", text)
