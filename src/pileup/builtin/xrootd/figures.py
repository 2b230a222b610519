"""What an XRootD server counts: its statistics document, read into figures."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

from pileup.plugin import PluginError

LARGEST = 1 << 20
"""Bytes of a document that is read."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """One document. `server` names the process that counts: another one counts from 0."""

    server: str
    figures: dict[str, int]
    """Every integer by the way to it, e.g. "xrootd.ops.open", "link.in"."""


def read_statistics(document: bytes) -> Statistics:
    """Read a document as the XRootD monitoring reference has it ("summary data"). Raises PluginError."""
    if len(document) > LARGEST or b"<!DOCTYPE" in document or b"<!ENTITY" in document:
        raise PluginError("the statistics are too long or declare a document type", "plain XML of XRootD")
    try:
        root = ElementTree.fromstring(document)  # noqa: S314  no document type, so no entities; bounded
    except ElementTree.ParseError as problem:
        raise PluginError(f"the statistics are not XML: {problem}", "those of an XRootD server") from problem
    found: dict[str, int] = {}
    waiting = [(root, "")]
    while waiting:
        node, way = waiting.pop()
        text = (node.text or "").strip()
        if not len(node) and text.isascii() and text.removeprefix("-").isdigit():
            found[way] = int(text)
        waiting += [(child, f"{way}.{child.get('id') or child.tag}".lstrip(".")) for child in node]
    if "xrootd.num" not in found and "link.num" not in found:
        raise PluginError("the statistics have neither links nor operations", "those of an XRootD server")
    return Statistics(f"{root.get('src')} {root.get('pid')} {root.get('tos')}", found)
