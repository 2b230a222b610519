"""Reads the answer of a WebDAV server to PROPFIND (RFC 4918, section 13)."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from pileup.plugin import Entry, Failed

DAV = "{DAV:}"
PROPFIND = (
    b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/>'
    b"<D:getcontentlength/></D:prop></D:propfind>"
)
"""Body of the question: what is a folder, and how large are the others."""


def parse_entries(body: bytes, asked: str) -> list[Entry]:
    """Return what was asked for first, then what is in it; `asked` is its percent-encoded path.

    Raises Failed for an answer that is no multistatus, declares a document type, or does not speak of what was asked.
    """
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise Failed("the answer to PROPFIND declares a document type", "plain XML")
    try:
        root = ElementTree.fromstring(body)  # noqa: S314  no document type, so no entities; bounded by the caller
    except ElementTree.ParseError as problem:
        raise Failed(f"the answer to PROPFIND is no XML: {problem}") from problem
    itself, entries = None, []
    wanted = _plain(asked)
    for response in root.iterfind(f"{DAV}response"):
        path = _plain(response.findtext(f"{DAV}href", ""))
        entry = _entry(path, response)
        if path == wanted:
            itself = entry
        else:
            entries.append(entry)
    if itself is None:
        raise Failed(f"the answer to PROPFIND does not speak of {wanted!r}", "it among the responses")
    return [itself, *entries]


def _plain(reference: str) -> str:
    """Return the path of a href, decoded, without a slash at its end."""
    return unquote(urlsplit(reference.strip()).path).rstrip("/")


def _entry(path: str, response: ElementTree.Element) -> Entry:
    folder = response.find(f".//{DAV}resourcetype/{DAV}collection") is not None
    size = response.findtext(f".//{DAV}getcontentlength") or "0"
    return Entry(path.rpartition("/")[2], 0 if folder or not size.strip().isdigit() else int(size), folder)
