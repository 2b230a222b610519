"""The newest errors of a growing operations table: found with few reads, nothing twice."""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pileup.record import ErrorTail, TableWriter
from pileup.record.operations import ROW
from pileup.record.recent import NEWEST


def append(writer: TableWriter, *errors: str, case: int = 1, at: int = 0) -> None:
    """Append one operation per text; an empty text has passed."""
    texts = [b"read", *(error.encode() for error in errors)]
    rows = np.zeros(len(errors), ROW)
    rows["operation"] = 1
    rows["case"] = case
    for place, error in enumerate(errors):
        rows["error"][place] = place + 2 if error else 0
        rows["outcome"][place] = 1 if error else 0
        rows["end"][place] = at + place
    writer.append(rows, texts, ("operation", "error"))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TableWriter]:
    writer = TableWriter(tmp_path / "0.table", "operations", ROW)
    yield writer
    writer.close()


def test_errors_come_in_the_order_in_which_they_ended(table: TableWriter) -> None:
    tail = ErrorTail(table.path)
    append(table, "503", "", "timeout", at=10)
    found = tail.look()
    assert [(each.operation, each.message, each.outcome, each.end) for each in found] == [
        ("read", "503", 1, 10),
        ("read", "timeout", 1, 12),
    ]


def test_nothing_comes_twice(table: TableWriter) -> None:
    tail = ErrorTail(table.path)
    append(table, "first")
    assert [each.message for each in tail.look()] == ["first"]
    assert tail.look() == []
    append(table, "second", case=7)
    assert [(each.message, each.case) for each in tail.look()] == [("second", 7)]


def test_of_many_blocks_only_the_newest_are_looked_into(table: TableWriter) -> None:
    for number in range(20):
        append(table, f"error {number}", at=number)
    assert [each.message for each in ErrorTail(table.path).look()] == [
        f"error {number}" for number in range(20 - NEWEST, 20)
    ]


def test_a_torn_block_is_met_again_when_it_is_whole(table: TableWriter) -> None:
    tail = ErrorTail(table.path)
    append(table, "whole")
    length = table.path.stat().st_size
    append(table, "torn")
    data = table.path.read_bytes()
    table.path.write_bytes(data[: length + (len(data) - length) // 2])
    assert [each.message for each in tail.look()] == ["whole"]
    table.path.write_bytes(data)
    assert [each.message for each in tail.look()] == ["torn"]


def test_no_file_yet_means_no_errors(tmp_path: Path) -> None:
    assert ErrorTail(tmp_path / "none.table").look() == []


def test_a_header_cut_short_means_no_errors(tmp_path: Path) -> None:
    path = tmp_path / "0.table"
    path.write_bytes(b"PILEUP1\n" + struct.pack("<I", 500) + b"{")
    assert ErrorTail(path).look() == []


def test_texts_of_long_ago_and_of_now_are_found_where_they_are(
    table: TableWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pileup.record.recent.KEPT", 10)
    tail = ErrorTail(table.path)
    append(table, "long ago")
    assert [each.message for each in tail.look()] == ["long ago"]
    for number in range(20):
        append(table, f"error {number}", at=number)
        assert [each.message for each in tail.look()] == [f"error {number}"]
    rows = np.zeros(1, ROW)
    rows["operation"], rows["error"], rows["end"] = 1, 2, 99
    table.append(rows, [], ())
    assert [(each.operation, each.message) for each in tail.look()] == [("read", "long ago")]
    assert len(tail._begins) < 10, "of texts that only rows behind them name, no more is kept than the newest"
