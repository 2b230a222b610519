"""Text in XML: where it stands in the file, how lines are folded, which characters and names may stand in it."""

from __future__ import annotations

import re
from typing import NamedTuple

from pileup.suite.faults import Position

SPACE = " \t\n\r"
NAME = re.compile(r"(?!xml)[A-Za-z_][A-Za-z0-9._-]*\Z", re.IGNORECASE)
"""Names that are written as elements and attributes; all of them are XML names."""
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can hold, not even as a reference."""

_ATTRIBUTE = re.compile(rb"""\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")
_TAG = re.compile(rb"<[^\s/>]+")
_END = re.compile(rb"\s*/?>")


class Attribute(NamedTuple):
    """Where an attribute stands, in bytes: its name, and its value without the quotes."""

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
    """Byte indices to positions. Indices grow, or go back as far as the last mark: each byte is read few times."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._plain = data.isascii()
        self._now = self._mark = (0, 1, 0, 0)
        """Byte, line, characters in the line, characters in the file: all before the index."""

    def mark(self, index: int) -> Position:
        """Return the position of an index that those asked for later are not before."""
        found = self.position(index)
        self._mark = self._now
        return found

    def position(self, index: int) -> Position:
        """Return line and column, in characters from 1."""
        self._go(index)
        return Position(0, self._now[1], self._now[2] + 1)

    def character(self, index: int) -> int:
        """Return the number of characters before."""
        self._go(index)
        return self._now[3]

    def _go(self, index: int) -> None:
        now = self._now
        if index < now[0]:
            now = self._mark if index >= self._mark[0] else (0, 1, 0, 0)
        byte, line, column, character = now
        part = self._data[byte:index]
        number = len(part) if self._plain else len(part.decode("utf-8", "replace"))
        end = part.rfind(b"\n")
        if end >= 0:
            line += part.count(b"\n")
            column = number - (end + 1 if self._plain else len(part[: end + 1].decode("utf-8", "replace")))
        else:
            column += number
        self._now = (byte + len(part), line, column, character + number)


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
    """Return text as it stands between tags."""
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
    """Write what a reader would change, or an editor hide, as character references."""
    return re.sub(f"[{spaces}\x7f-\x9f\u2028\u2029\ufeff]", lambda match: f"&#{ord(match[0])};", text)
