"""Checksums of the Parquet files of a run folder and of what tests left, in a file that `sha256sum -c` reads too.

Parquet as DuckDB writes it has none of its own: a flipped bit may give another value and no error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pileup.model.errors import DamagedRecord
from pileup.record import files

NAME = "SHA256SUMS"
LARGEST = 16 << 20
"""Bytes of it."""


def add(parquet: Path) -> None:
    """Note the checksum of a Parquet file, which is in a folder of the run folder. Raises OSError."""
    run = parquet.parents[1]
    _write(run, told(run) | {parquet.relative_to(run).as_posix(): of(parquet)})


def add_all(run: Path, found: Iterable[Path]) -> None:
    """Note the checksums of files in a run folder that are not noted yet. Raises OSError."""
    known = told(run)
    fresh = {name: of(path) for path in found if (name := path.relative_to(run).as_posix()) not in known}
    if fresh:
        _write(run, known | fresh)


def _write(run: Path, known: dict[str, str]) -> None:
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(known.items()))
    files.replace(run / NAME, lines.encode(), part=run / f"{NAME}.part")


def told(run: Path) -> dict[str, str]:
    """Return path inside the run folder -> checksum, of lines that have both; nothing of a record without the file."""
    try:
        lines = files.read(run / NAME, LARGEST).decode(errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    except ValueError as problem:
        raise DamagedRecord(f"{run / NAME} cannot be read: {problem}", "checksums as pileup writes them") from problem
    pairs = [line.split("  ", 1) for line in lines]
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2}


def of(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
