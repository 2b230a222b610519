"""A press with its recorder, and a reader of the record that needs numpy alone."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pileup._core._native import Press, Recorder

LOAD = {
    "case": 3,
    "target": 1,
    "place": 2,
    "shard": 0,
    "shards": 1,
    "seed": 2004,
    "start": 0,
    "kind": "once",
    "times": None,
    "clients": None,
    "rate": None,
    "arrivals": "constant",
    "ramp": 0,
    "warm_up": 0,
    "for": None,
    "think": None,
    "phase": None,
    "timeout": 10 * 10**9,
    "pacing": "normal",
    "workers": 1,
    "name": "copy",
    "errors_in_a_row": None,
    "operations": None,
    "segments": None,
    "endless": False,
}


def load(**changes: Any) -> str:
    """Return a load as the engine takes it; `for_` stands for `for`."""
    unknown = {name.rstrip("_") for name in changes} - set(LOAD)
    assert not unknown
    return json.dumps(LOAD | {name.rstrip("_"): value for name, value in changes.items()})


class Table:
    """What is in a table file: `rows` (numpy), `texts` by number, `length` of what is whole."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        size = struct.unpack_from("<I", data, 8)[0]
        assert data[:8] == b"PILEUP1\n"
        self.header = json.loads(data[12 : 12 + size])
        self.texts = {0: ""}
        self.length = 12 + size
        parts = []
        while (block := self._block(data)) is not None:
            kind, count, payload = block
            if kind == 1:
                parts.append(np.frombuffer(payload, np.dtype([tuple(column) for column in self.header["columns"]])))
                assert len(parts[-1]) == count
            else:
                self._read_texts(payload)
        self.rows: Any = np.concatenate(parts) if parts else np.empty(0)

    def _block(self, data: bytes) -> tuple[int, int, bytes] | None:
        if data[self.length : self.length + 4] != b"PBLK":
            return None
        kind, count, size, checksum, _ = struct.unpack_from("<5I", data, self.length + 4)
        payload = data[self.length + 24 : self.length + 24 + size]
        if len(payload) < size or zlib.crc32(payload) != checksum:
            return None
        self.length += 24 + size
        return kind, count, payload

    def _read_texts(self, payload: bytes) -> None:
        at = 0
        while at < len(payload):
            number, size = struct.unpack_from("<II", payload, at)
            self.texts[number] = payload[at + 8 : at + 8 + size].decode()
            at += 8 + size

    def named(self, operation: str) -> Any:
        """Return the rows of an operation."""
        return self.rows[[self.texts[number] == operation for number in self.rows["operation"]]]

    def text(self, column: str) -> list[str]:
        """Return the texts of a column, row by row."""
        return [self.texts[number] for number in self.rows[column]]


def check_instants(press: Press, rows: Any, step: int, count: int) -> None:
    """Check that an open load began at its instants, `step` ns apart: `count` with what a slow machine missed."""
    rows.sort(order="intended")
    assert len(rows) > 0
    assert len(rows) + press.frame()["missed"] == count
    assert (rows["intended"] - rows["intended"][0]).tolist() == [step * number for number in range(len(rows))]
    assert (rows["start"] >= rows["intended"]).all()


def check_together(rows: Any) -> None:
    """Check that what is due each half millisecond begins two by two, as coarse pacing has it."""
    gaps = np.diff(np.sort(rows["start"]))
    assert np.mean((gaps > 10**6 // 4) & (gaps < 3 * 10**6 // 4)) < 0.3
    assert np.mean(gaps <= 10**6 // 4) > 0.3


class Bench:
    """One recorder, and presses on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.recorder = Recorder(str(path), 2)

    def press(self, **changes: Any) -> Press:
        """Return a press of a load."""
        return Press(self.recorder, load(**changes))

    check_instants = staticmethod(check_instants)
    check_together = staticmethod(check_together)

    def table(self) -> Table:
        """Close the recorder and read what it wrote."""
        self.recorder.close()
        return self.read()

    def read(self) -> Table:
        """Read what is in the file now."""
        return Table(self.path)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A recorder on a file of its own."""
    made = Bench(tmp_path / "operations.table")
    yield made
    with suppress(OSError):  # a test may have filled its disk
        made.recorder.close()


@pytest.fixture
def load_of() -> Callable[..., str]:
    """Makes loads."""
    return load
