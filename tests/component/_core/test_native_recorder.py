"""The file that the recorder leaves, read back by numpy alone."""

import resource
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pileup._core._native import Recorder


def test_an_empty_record_has_a_header(bench: Any) -> None:
    table = bench.table()
    assert table.header["format"] == 1
    assert (table.header["table"], table.header["place"], table.header["row_size"]) == ("operations", 2, 88)
    assert np.dtype([tuple(column) for column in table.header["columns"]]).itemsize == 88
    assert len(table.rows) == 0


def test_a_row_has_every_field(bench: Any) -> None:
    press = bench.press(kind="times", times=1)
    client = press.spawn()
    op = press.seat(client).next()
    with op("read", "file-7") as read:
        read.first_byte()
        read.bytes, read.calls = 4096, 3
    op.finish(1, "wrong content")
    table = bench.table()
    parent, child = table.named("iteration")[0], table.named("read")[0]
    assert (child["parent"], parent["parent"]) == (parent["id"], 0)
    assert child["id"] >> 48 == parent["id"] >> 48 == 2
    assert op.intended == parent["intended"] <= op.start == parent["start"]
    assert (
        parent["start"] <= child["start"] == child["intended"] <= child["first_byte"] <= child["end"] <= parent["end"]
    )
    assert (child["bytes"], child["calls"], parent["bytes"], parent["calls"]) == (4096, 3, 4096, 3)
    assert (table.texts[child["key"]], table.texts[child["error"]]) == ("file-7", "")
    assert (parent["first_byte"], table.texts[parent["error"]]) == (0, "wrong content")
    assert (child["outcome"], parent["outcome"]) == (0, 1)
    for row in (parent, child):
        assert (row["case"], row["client"], row["target"], row["place"]) == (3, client, 1, 2)
        assert (row["side"], row["phase"], row["cause"]) == (0, 3, 0)


def test_flush_brings_everything_into_the_file(bench: Any) -> None:
    press = bench.press(kind="times", times=10)
    seat = press.seat(press.spawn())
    for _ in range(5):
        seat.next().finish(0)
    bench.recorder.flush()
    assert bench.recorder.rows == 5
    assert bench.path.stat().st_size > 5 * 88


def test_closing_twice_is_fine_and_a_record_is_not_written_over(bench: Any) -> None:
    bench.recorder.close()
    bench.recorder.close()
    bench.recorder.flush()
    with pytest.raises(FileExistsError, match=r"cannot begin the record .*; expected a new file .*\("):
        Recorder(str(bench.path), 0)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere/x: .*; expected .*\("):
        Recorder(str(tmp_path / "nowhere" / "x"), 0)


def test_a_full_disk_is_told_and_the_earlier_part_kept(bench: Any) -> None:
    press = bench.press(kind="times", times=10_000)
    seat = press.seat(press.spawn())
    seat.next().finish(0)
    bench.recorder.flush()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bench.path.stat().st_size + 50, limits[1]))
    try:
        seat.next().finish(0)
        with pytest.raises(OSError, match=r"cannot write the record .*; expected room on the disk .*1 rows are safe"):
            bench.recorder.flush()
        with pytest.raises(OSError, match="cannot write the record"):
            bench.recorder.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert bench.recorder.rows == 1
    seat.next().finish(0)  # who measures goes on without noticing
    table = bench.read()
    assert len(table.rows) == 1
    assert table.length == bench.path.stat().st_size, "the torn block was taken back"


def test_ids_are_unique_over_threads(bench: Any) -> None:
    press = bench.press(kind="times", times=4000, clients=4)

    def serve(client: int) -> None:
        seat = press.seat(client)
        while (op := seat.next()) is not None:
            with op("step"):
                pass
            op.finish(0)

    threads = []
    while (client := press.spawn()) is not None:
        threads.append(threading.Thread(target=serve, args=(client,)))
        threads[-1].start()
    for thread in threads:
        thread.join(30)
    assert press.wait(10)
    table = bench.table()
    assert len(table.rows) == 8000
    assert len(np.unique(table.rows["id"])) == 8000
    assert set(table.named("step")["parent"]) == set(table.named("iteration")["id"])
