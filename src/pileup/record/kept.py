"""A cache of what was computed from the tables of a record; valid only for the same tables."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pileup.model.manifest import Manifest
from pileup.record import files, sums

NAME = "dependence.json"
TABLES = ("operations", "frames")
"""Folders of the tables that it was computed from."""
LARGEST = 64 << 20
"""Bytes of it."""


def of_tables(folder: Path, run: Manifest) -> str:
    """Return what identifies the tables of a record: checksums of converted ones, names and sizes of the rest."""
    found = hashlib.sha256(repr(sorted(sums.told(folder).items())).encode())
    for name in TABLES:
        sizes = sorted((path.name, path.stat().st_size) for path in (folder / name).iterdir())
        found.update(repr((name, sizes)).encode())
    found.update(repr(sorted(run.void)).encode())
    return found.hexdigest()


def read(folder: Path, run: Manifest) -> object | None:
    """Return the cache for these tables; None if there is none, or it is of other tables."""
    try:
        kept = json.loads(files.read(folder / NAME, LARGEST))
        return kept["found"] if kept["of"] == of_tables(folder, run) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def write(folder: Path, run: Manifest, found: object) -> None:
    """Write the cache for the current tables. Raises OSError."""
    files.replace(folder / NAME, json.dumps({"of": of_tables(folder, run), "found": found}).encode())
