"""What was worked out of the tables of a record and kept beside them, for who asks again: it holds for these alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pileup.model.manifest import Manifest
from pileup.record import files, sums

NAME = "dependence.json"
TABLES = ("operations", "frames")
"""Folders of the tables that it was made of."""
LARGEST = 64 << 20
"""Bytes of it."""


def of_tables(folder: Path, run: Manifest) -> str:
    """Return what the tables of a record are known by: checksums of what is converted, names and sizes of the rest."""
    found = hashlib.sha256(repr(sorted(sums.told(folder).items())).encode())
    for name in TABLES:
        sizes = sorted((path.name, path.stat().st_size) for path in (folder / name).iterdir())
        found.update(repr((name, sizes)).encode())
    found.update(repr(sorted(run.void)).encode())
    return found.hexdigest()


def read(folder: Path, run: Manifest) -> object | None:
    """Return what is kept of these tables; None where nothing is, or it is of others."""
    try:
        kept = json.loads(files.read(folder / NAME, LARGEST))
        return kept["found"] if kept["of"] == of_tables(folder, run) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write(folder: Path, run: Manifest, found: object) -> None:
    """Keep what was worked out of the tables as they are. Raises OSError."""
    files.replace(folder / NAME, json.dumps({"of": of_tables(folder, run), "found": found}).encode())
