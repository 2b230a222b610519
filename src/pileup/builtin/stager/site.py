"""What clients know of the nodes and of the library that pileup has launched."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from pileup.plugin import TargetError

WORDS = ("nodes", "folder", "transfers", "events", "rules", "files", "size")


@dataclass(frozen=True, slots=True)
class Site:
    """The nodes and their library, as the launcher has written them down."""

    nodes: tuple[str, ...]
    """HOST:PORT of the XRootD of each."""
    folder: str
    """What they export."""
    transfers: Path
    """Log of the copy commands of all nodes."""
    events: Path
    """Events of the library."""
    rules: str
    """Rules of the library (crates/pileup-tape), by which files lie on cartridges."""
    files: int
    """Files on tape."""
    size: int
    """Bytes of each."""


def site_of(url: str) -> Site:
    """Read what a launched url leads to. Raises TargetError."""
    named = parse_qs(urlsplit(url).query).get("site", [""])[0]
    try:
        found = json.loads(Path(named).read_text())
        nodes, folder, transfers, events, rules, files, size = (found[word] for word in WORDS)
    except (OSError, ValueError, KeyError) as problem:
        raise TargetError(f"{url} leads to no nodes: {problem}", "nodes that pileup has launched") from problem
    return Site(tuple(nodes), folder, Path(transfers), Path(events), rules, files, size)
