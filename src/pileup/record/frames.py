"""Frames in the record: one table file per place, one row for the frame, then one per operation and phase."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pileup.model.record import OUTCOMES, Frame, FrameRow
from pileup.record.tables import ROWS, Rows, TableReader

COUNTERS = (*OUTCOMES, "bytes", "calls")
LATER = ("timed_out", "repeated", "done", "moved")
"""Counters that frames of older records do not have."""
HEAD = ("time", "nanoseconds", "place", "case", "phase", "started", "missed", "in_flight", "clients", "cpu")
LATER_HEAD = ("measured_from", "measured_to")
STRINGS = ("late", "operation", "response", "service", "labels")
COLUMNS = np.dtype(
    [
        ("time", "<i8"),
        ("nanoseconds", "<i8"),
        ("place", "<u2"),
        ("pad", "<u2"),
        ("case", "<u4"),
        ("phase", "<u4"),
        ("started", "<u4"),
        ("missed", "<u8"),
        ("in_flight", "<u4"),
        ("clients", "<u4"),
        ("cpu", "<i8"),
        ("late", "<u4"),
        ("operation", "<u4"),
        ("iteration", "u1"),
        ("row_phase", "u1"),
        ("pad2", "<u2"),
        *((name, "<u8") for name in COUNTERS),
        ("response", "<u4"),
        ("service", "<u4"),
        *((name, "<u8") for name in LATER),
        *((name, "<i8") for name in LATER_HEAD),
        ("labels", "<u4"),
        ("pad3", "<u4"),
    ]
)
LIMITS = {
    name: (int(np.iinfo(COLUMNS[name]).min), int(np.iinfo(COLUMNS[name]).max))
    for name in (*HEAD, *LATER_HEAD, *COUNTERS, *LATER)
}
"""Smallest and largest number that each column takes."""
OLDEST = np.dtype(
    [(name, COLUMNS[name]) for name in COLUMNS.names or () if name not in {*LATER, *LATER_HEAD, "labels", "pad3"}]
)
"""What a table of frames has at least."""


def to_rows(frame: Frame) -> tuple[Rows, list[bytes]]:
    """Return the rows of a frame, and the strings that they name by position."""
    texts: list[bytes] = []

    def number(text: bytes) -> int:
        if text:
            texts.append(text)
        return len(texts) if text else 0

    rows = np.zeros(1 + len(frame.rows), COLUMNS)
    for name in (*HEAD, *LATER_HEAD):
        rows[name][0] = getattr(frame, name)
    for name in ("time", "place", "case"):
        rows[name][1:] = getattr(frame, name)
    rows["late"][0] = number(frame.late)
    for place, row in enumerate(frame.rows, 1):
        for name in (*COUNTERS, *LATER):
            rows[name][place] = getattr(row, name)
        rows["iteration"][place] = row.iteration
        rows["row_phase"][place] = row.phase
        rows["operation"][place] = number(row.operation.encode(errors="replace") or b"?")
        rows["response"][place], rows["service"][place] = number(row.response), number(row.service)
        rows["labels"][place] = number(row.labels.encode(errors="replace"))
    return rows, texts


def read(reader: TableReader, position: int = 0, until: int | None = None) -> Iterator[tuple[Frame, int]]:
    """Yield each frame of a table with the position behind it, from `position` on, up to `until`."""
    texts: dict[int, bytes] = {0: b""}
    for block in reader.blocks(position):
        if until is not None and block.end > until:
            return
        if block.kind != ROWS:
            texts.update(reader.strings(block))
            continue
        yield from ((frame, block.end) for frame in _frames(reader.rows(block), texts))
        texts = {0: b""}


def _frames(rows: Rows, texts: dict[int, bytes]) -> Iterator[Frame]:
    plain = [dict(zip(rows.dtype.names or (), row, strict=True)) for row in rows.tolist()]
    heads = [place for place, row in enumerate(plain) if row["operation"] == 0]
    for head, following in zip(heads, [*heads[1:], len(plain)], strict=True):
        inner = tuple(_row(row, texts) for row in plain[head + 1 : following])
        fields = {name: plain[head].get(name, 0) for name in (*HEAD, *LATER_HEAD)}
        yield Frame(**fields, late=texts.get(plain[head]["late"], b""), rows=inner)


def _row(row: dict[str, int], texts: dict[int, bytes]) -> FrameRow:
    return FrameRow(
        operation=texts.get(row["operation"], b"?").decode(errors="replace"),
        iteration=bool(row["iteration"]),
        phase=row["row_phase"],
        response=texts.get(row["response"], b""),
        service=texts.get(row["service"], b""),
        labels=texts.get(row.get("labels", 0), b"").decode(errors="replace"),
        **{name: row[name] for name in (*COUNTERS, *LATER) if name in row},
    )
