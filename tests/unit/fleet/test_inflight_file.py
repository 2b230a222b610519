"""What is under way stays readable for who did not write it."""

import tempfile
from pathlib import Path

from pileup.fleet.inflight_file import SLOTS, InflightIteration, InflightReader, InflightWriter


def both(folder: Path) -> tuple[InflightWriter, InflightReader]:
    descriptor, path = tempfile.mkstemp(dir=folder)
    reader = InflightReader(descriptor)
    return InflightWriter(path), reader


def test_what_has_begun_and_not_ended_is_seen(tmp_path: Path) -> None:
    board, reader = both(tmp_path)
    first, second = InflightIteration(0, 5, 6, 1, 0), InflightIteration(2**40, 10**18, 10**18 + 1, 2, 77)
    slots = [board.begin(first), board.begin(second)]
    assert sorted(reader.underway(), key=lambda each: each.number) == [first, second]
    board.end(slots[0])
    assert reader.underway() == [second]
    board.end(slots[1])
    assert reader.underway() == []
    reader.close()


def test_more_than_there_are_slots_are_not_noted_and_do_no_harm(tmp_path: Path) -> None:
    board, reader = both(tmp_path)
    each = InflightIteration(1, 1, 1, 1, 1)
    slots = [board.begin(each) for _ in range(SLOTS + 1)]
    assert slots[-1] == -1
    board.end(-1)
    assert len(reader.underway()) == SLOTS
    board.end(slots[0])
    assert board.begin(each) >= 0
    reader.close()
