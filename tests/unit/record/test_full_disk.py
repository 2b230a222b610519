"""A disk that refuses: what was written stays readable, and writing goes on when there is room again."""

import numpy as np
import pytest

from pileup.model.errors import RecordError
from pileup.record import TableReader, TableWriter

COLUMNS = np.dtype([("a", "<u4")])


class Stingy:
    """A file that takes some bytes at a time, and refuses when it has no room."""

    def __init__(self, file, room):
        self._file, self.room = file, room

    def write(self, data):
        if self.room == 0:
            raise OSError(28, "No space left on device")
        taken = min(len(data), 7, self.room)
        self.room -= taken
        return self._file.write(data[:taken])

    def __getattr__(self, name):
        return getattr(self._file, name)


def rows(number):
    return np.full(3, number, COLUMNS)


def values(path):
    reader = TableReader(path, COLUMNS)
    return [int(reader.rows(block)["a"][0]) for block in reader.blocks()]


def test_what_a_full_disk_took_of_a_block_is_taken_back(tmp_path):
    path = tmp_path / "x.table"
    writer = TableWriter(path, "x", COLUMNS)
    writer.append(rows(1), [], ())
    whole = writer.length
    writer._file = Stingy(writer._file, 20)
    with pytest.raises(RecordError, match="No space left on device"):
        writer.append(rows(2), [], ())
    assert (path.stat().st_size, values(path)) == (whole, [1])
    writer._file.room = 10_000
    writer.append(rows(3), [], ())
    writer.close()
    assert values(path) == [1, 3]
