"""A crash may cut a file at any byte, and a disk may flip one: what comes before is read, nothing else is made up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.model.errors import RecordError
from pileup.model.record import Frame, FrameRow
from pileup.record import TableReader, TableWriter, frames

COUNTER = st.integers(0, 2**63)
ROW = st.builds(
    FrameRow,
    operation=st.text(st.characters(codec="utf-8"), min_size=1, max_size=9),
    iteration=st.booleans(),
    phase=st.integers(0, 5),
    **dict.fromkeys(frames.COUNTERS, COUNTER),
    response=st.binary(max_size=20),
    service=st.binary(max_size=20),
)
FRAME = st.builds(
    Frame,
    **{name: st.integers(-(2**63), 2**63 - 1) for name in ("time", "nanoseconds", "cpu")},
    **{name: st.integers(0, 2**32 - 1) for name in ("case", "phase", "started", "in_flight", "clients")},
    place=st.just(3),
    missed=COUNTER,
    late=st.binary(max_size=20),
    rows=st.lists(ROW, max_size=3).map(tuple),
)


def written(path, all_frames):
    path.unlink(missing_ok=True)
    writer = TableWriter(path, "frames", frames.COLUMNS, 3)
    for frame in all_frames:
        writer.append(*frames.to_rows(frame), frames.STRINGS)
    writer.close()
    return path.read_bytes()


@given(st.lists(FRAME, max_size=4))
def test_frames_come_back_equal(tmp_path_factory, some):
    path = tmp_path_factory.mktemp("frames") / "3.table"
    written(path, some)
    assert [frame for frame, _ in frames.read(TableReader(path, frames.COLUMNS))] == some


def sample_frames():
    row = FrameRow("read", True, 3, 1, 2, 3, 4, 5, 6, 7, 8, b"response", b"service")
    return [Frame(number, 1, 3, 1, 3, 1, 0, 0, 1, 5, b"late", (row,)) for number in range(3)]


def test_a_file_cut_at_any_byte_gives_its_earlier_frames(tmp_path):
    path, some = tmp_path / "3.table", sample_frames()
    data = written(path, some)
    ends = [end for _, end in frames.read(TableReader(path, frames.COLUMNS))]
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        found = [frame for frame, _ in frames.read(TableReader(path, frames.COLUMNS))]
        assert found == some[: sum(end <= size for end in ends)], size


def test_a_flipped_byte_never_makes_up_a_frame(tmp_path):
    path, some = tmp_path / "3.table", sample_frames()
    data = written(path, some)
    begin = TableReader(path).begin
    for at in range(len(data)):
        wrong = bytearray(data)
        wrong[at] ^= 0x41
        path.write_bytes(wrong)
        try:
            found = [frame for frame, _ in frames.read(TableReader(path, frames.COLUMNS))]
        except RecordError:
            continue
        assert at < begin or all(frame in some for frame in found), at


def test_rows_of_another_width_are_refused(tmp_path):
    path = tmp_path / "x.table"
    columns = np.dtype([("a", "<u4")])
    writer = TableWriter(path, "x", columns)
    writer.append(np.zeros(3, np.dtype([("a", "<u2")])), [], ())
    writer.close()
    reader = TableReader(path)
    with pytest.raises(RecordError, match="3 rows take 6 bytes; expected 4 each"):
        [reader.rows(block) for block in reader.blocks()]
