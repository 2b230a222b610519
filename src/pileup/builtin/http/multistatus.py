"""Reads the answer of a WebDAV server to PROPFIND (RFC 4918, section 13) as it comes; only entries are kept."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit
from xml.parsers import expat

from pileup.plugin import Entry, Failed

PROPFIND = (
    b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/>'
    b"<D:getcontentlength/></D:prop></D:propfind>"
)
"""Body of the question: what is a folder, and how large are the others."""
LARGEST = 64 << 20
"""Bytes of an answer."""
MOST = 1_000_000
"""Entries of an answer."""
DEEPEST = 64
LONGEST = 64 << 10
"""Characters of a name or a size."""
SEPARATOR = " "
RESPONSE, HREF, COLLECTION, LENGTH = (
    f"DAV:{SEPARATOR}{word}" for word in ("response", "href", "collection", "getcontentlength")
)
NAMED = 3
"""Depth of the href that names a response."""


def parse_entries(pieces: Iterable[bytes], asked: str) -> list[Entry]:
    """Return what was asked for first, then what is in it; `asked` is its percent-encoded path.

    Raises Failed for an answer that is not a multistatus, declares a document type, is too large, or does not speak of
    what was asked.
    """
    reader = _Reader(_plain(asked))
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LARGEST:
            raise Failed(f"the answer to PROPFIND is larger than {LARGEST} bytes")
        reader.feed(piece)
    return reader.finish()


class _Reader:
    """Takes the answer piece by piece. The parser decodes it first, so that no encoding hides a document type."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self._itself: Entry | None = None
        self._entries: list[Entry] = []
        self._open: list[str] = []
        self._new_response()
        parser = self._parser = expat.ParserCreate(namespace_separator=SEPARATOR)
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def feed(self, piece: bytes, last: bool = False) -> None:
        """Take the next piece. Raises Failed."""
        try:
            self._parser.Parse(piece, last)
        except expat.ExpatError as problem:
            raise Failed(f"the answer to PROPFIND is not XML: {problem}") from problem

    def finish(self) -> list[Entry]:
        """Return what was asked for, and what is in it. Raises Failed."""
        self.feed(b"", last=True)
        if self._itself is None:
            raise Failed(f"the answer to PROPFIND does not speak of {self._wanted!r}", "it among the responses")
        return [self._itself, *self._entries]

    def _new_response(self) -> None:
        self._href: list[str] = []
        self._length: list[str] = []
        self._kept = 0
        self._folder = False

    def _doctype(self, *_: object) -> None:
        raise Failed("the answer to PROPFIND declares a document type", "plain XML")

    def _start(self, name: str, _: object) -> None:
        if len(self._open) == DEEPEST:
            raise Failed(f"the answer to PROPFIND is nested more than {DEEPEST} deep", "a listing")
        self._open.append(name)
        if name == RESPONSE and len(self._open) == 2:
            self._new_response()
        self._folder |= name == COLLECTION

    def _text(self, text: str) -> None:
        name = self._open[-1] if self._open else ""
        if name == LENGTH:
            self._keep(self._length, text)
        elif name == HREF and len(self._open) == NAMED:
            self._keep(self._href, text)

    def _keep(self, parts: list[str], text: str) -> None:
        self._kept += len(text)
        if self._kept > LONGEST:
            raise Failed(f"a name in the answer to PROPFIND is longer than {LONGEST} characters", "a listing")
        parts.append(text)

    def _end(self, name: str) -> None:
        self._open.pop()
        if name != RESPONSE or len(self._open) != 1:
            return
        path, size = _plain("".join(self._href)), "".join(self._length).strip()
        known = not self._folder and size.isascii() and size.isdigit() and len(size) < 20
        entry = Entry(path.rpartition("/")[2], int(size) if known else 0, self._folder)
        if path == self._wanted:
            self._itself = entry
            return
        self._entries.append(entry)
        if len(self._entries) > MOST:
            raise Failed(f"the answer to PROPFIND has more than {MOST} entries", "a folder with fewer")


def _plain(reference: str) -> str:
    """Return the path of a href, decoded, without a slash at its end."""
    try:
        return unquote(urlsplit(reference.strip()).path).rstrip("/")
    except ValueError as problem:
        raise Failed(f"the answer to PROPFIND names {reference.strip()[:100]!r}: {problem}", "a path") from problem
