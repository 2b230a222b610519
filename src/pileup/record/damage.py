"""Finds what cannot be read in a run folder: incomplete tables, damaged blocks, Parquet files and lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pileup.model.errors import DamagedRecord, RecordError
from pileup.record import artefacts, files, journal, origin, sums
from pileup.record.folder import RunFolder
from pileup.record.operations import connect, quoted, readable
from pileup.record.tables import BLOCK_MAGIC, TableReader

TABLES = ("operations", "served", "frames", "samples", "audit")
LINES = ("journal.jsonl", "events/events.jsonl", "notes.jsonl")
READ_AT_ONCE = 1 << 20
LOOKED_THROUGH = 64
"""How often reading is tried after damage, to find out whether more follows."""
MOST = 20
"""Wrong lines of a file that are reported one by one."""


def damage(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield (path inside the folder, what is wrong) for everything that cannot be read whole."""
    for name in TABLES:
        for path in sorted((folder.path / name).glob("*")):
            told = _of_file(path)
            if told:
                yield str(path.relative_to(folder.path)), told
    yield from _of_sums(folder.path)
    try:
        for name in origin.foreign(folder.path, folder.nonce):
            yield name, "it is a table of another run"
    except DamagedRecord:
        pass  # reported above
    for name in LINES:
        path = folder.path / name
        if path.exists():
            yield from ((name, told) for told in _of_lines(path))


def _of_file(path: Path) -> str:
    try:
        if path.suffix == ".parquet":
            return _of_parquet(path)
        if path.suffix == ".table":
            return _of_table(path)
    except (RecordError, OSError) as problem:
        return str(problem)
    return f"{path.name} does not belong here: a conversion was interrupted, or it was added later"


def _of_parquet(path: Path) -> str:
    """Read every value once; what is wrong is raised."""
    with readable(path), connect() as connection:
        connection.execute(f"SELECT bit_xor(hash(t)) FROM read_parquet({quoted(path)}) t")  # noqa: S608  our own path
    return ""


def _of_sums(run: Path) -> Iterator[tuple[str, str]]:
    """Yield the Parquet files that are not what was written, or are gone; a record may have no checksums."""
    for name, digest in sums.told(run).items():
        path = run / name
        known = path.suffix == ".parquet" or artefacts.FOLDER in Path(name).parts[2:3]
        if ".." in path.parts or not path.is_relative_to(run) or not known:
            yield sums.NAME, f"{name!r} names no Parquet file of this record"
        elif not path.exists():
            yield name, f"the file is not there; {sums.NAME} has its checksum"
        elif sums.of(path) != digest:
            yield name, f"its checksum is not that of {sums.NAME}: the file was damaged or changed after it was written"


def _of_table(path: Path) -> str:
    reader = TableReader(path)
    if not reader.begin:
        return "its header is incomplete: nothing of it can be read"
    end, size = reader.end(), path.stat().st_size
    if end == size:
        return ""
    following = _blocks_after(path, end + 1)
    if following:
        return f"the block at byte {end} is damaged: its checksum is wrong, {size - end} bytes from there are not read"
    return f"the last {size - end} bytes are an incomplete block"


def _blocks_after(path: Path, begin: int) -> bool:
    """Whether a block seems to begin at or behind a position."""
    with path.open("rb") as file:
        file.seek(begin)
        kept = b""
        for _ in range(LOOKED_THROUGH):
            if not (part := file.read(READ_AT_ONCE)):
                break
            if BLOCK_MAGIC in kept + part:
                return True
            kept = part[-len(BLOCK_MAGIC) :]
    return False


def _of_lines(path: Path) -> Iterator[str]:
    wrong = 0
    for number, line in enumerate(journal.lines(path), 1):
        if told := _of_line(line, path.name):
            wrong += 1
            if wrong <= MOST:
                yield f"line {number} {told}"
    if wrong > MOST:
        yield f"{wrong - MOST} more lines are wrong"
    if path.stat().st_size > files.LARGEST_LINES:
        yield f"it is longer than {files.LARGEST_LINES >> 30} GiB: the rest is not read"


def _of_line(line: bytes, name: str) -> str:
    if journal.parsed(line) is None:
        return "is incomplete or not a JSON object"
    return "" if name == "notes.jsonl" or journal.whole(line) else "has no number or no time as pileup gives them"
