"""The account of a lost place: what its table has beyond its frames, and what was under way."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pileup._core._native import Histogram, now
from pileup.fleet.inflight_file import InflightIteration
from pileup.fleet.loss import Loss
from pileup.fleet.order import Order
from pileup.fleet.starts import StartsFile
from pileup.model.loads.load import Load
from pileup.model.record import Frame, FrameRow, Outcome, Phase
from pileup.record import RunFolder
from pileup.record.operations import ROW
from pileup.record.tables import TableWriter
from tests.manifests import run_of

SECOND = 10**9
BEGAN = 10**18
ORDER = Order(1, "case", Load.model_validate({"clients": 3, "for": 60 * SECOND}), SECOND, seed=1)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder.create(tmp_path, "t", 0)
    folder.save(run_of({"title": "t", "cases": [{"id": 1, "name": "case", "test": "case"}]}))
    yield folder
    folder.close()


@pytest.fixture
def loss(folder: RunFolder) -> Iterator[Loss]:
    loss = Loss(folder, 1)
    yield loss
    loss.close()


def write(folder: RunFolder, ends: list[int], outcome: Outcome = Outcome.PASSED) -> None:
    """Write iterations of 1 ms that ended at these times, as a place does."""
    writer = TableWriter(folder.operations_path(1), "operations", ROW, 1)
    rows = np.zeros(len(ends), ROW)
    rows["id"] = (1 << 48) + np.arange(1, len(ends) + 1)
    rows["end"] = BEGAN + np.array(ends)
    rows["intended"] = rows["start"] = rows["end"] - 1_000_000
    rows["operation"], rows["case"], rows["place"] = 1, 1, 1
    rows["phase"], rows["outcome"] = Phase.MEASURE, outcome
    rows["bytes"] = 10
    writer.append(rows, [b"iteration"], ("operation",))
    writer.close()


def frame(passed: int, in_flight: int, nanoseconds: int = SECOND) -> Frame:
    counters = dict.fromkeys(("failed", "refused", "ambiguous", "unfinished", "lost", "calls"), 0)
    times = Histogram()
    times.record(1_000_000, passed)
    each = times.encode()
    row = FrameRow("iteration", True, 3, passed=passed, bytes=10 * passed, **counters, response=each, service=each)
    return Frame(BEGAN + SECOND, nanoseconds, 1, 1, 3, passed, 0, in_flight, 3, 0, b"", (row,))


def lost_rows(folder: RunFolder) -> list[tuple[object, ...]]:
    with folder.operations().connect() as connection:
        return connection.execute(
            "select client, intended, phase, error from operations where outcome = 'lost' order by client"
        ).fetchall()


def test_rows_beyond_the_frames_are_told_and_nothing_twice(folder: RunFolder, loss: Loss) -> None:
    write(folder, [100, 200, SECOND + 5, SECOND + 6, SECOND + 7])
    loss.take([frame(passed=2, in_flight=3)])
    (last,) = loss.of(ORDER, BEGAN, None, (), "gone")
    told = {(row.phase, row.passed, row.lost, row.bytes) for row in last.rows}
    assert told == {(3, 3, 0, 30), (3, 0, 3, 0)}
    merged = Histogram()
    for row in last.rows:
        merged.merge(row.response)
    assert (merged.count, merged.max // 10_000) == (3, 100)
    assert (last.time > last.nanoseconds > 0, last.in_flight, last.clients) == (True, 0, 0)


def test_what_the_board_says_is_lost_with_its_client_and_start(folder: RunFolder, loss: Loss) -> None:
    loss.take([frame(passed=0, in_flight=7)])
    known = [InflightIteration(4, BEGAN + 5, BEGAN + 6, 1, 2), InflightIteration(9, BEGAN, BEGAN, 8, 0)]
    (last,) = loss.of(ORDER, BEGAN, None, known, "place 1 is gone")
    assert sum(row.lost for row in last.rows) == 1
    assert lost_rows(folder) == [(2, BEGAN + 5, "measure", "place 1 is gone")]


def test_no_more_is_lost_than_was_left_to_do(folder: RunFolder, loss: Loss) -> None:
    write(folder, [100, 200, 300, SECOND + 1])
    loss.take([frame(passed=3, in_flight=3)])
    (last,) = loss.of(ORDER, BEGAN, 5, (), "gone")
    assert sum(row.lost for row in last.rows) == 1
    assert len(lost_rows(folder)) == 1


def test_a_place_that_has_no_table_yet_has_lost_what_its_board_says(folder: RunFolder, loss: Loss) -> None:
    (last,) = loss.of(ORDER, BEGAN, None, [InflightIteration(0, BEGAN, BEGAN, 1, 0)], "gone")
    assert [(row.operation, row.lost) for row in last.rows] == [("iteration", 1)]


def test_rows_of_several_places_have_ids_of_their_own(folder: RunFolder) -> None:
    for place in (1, 2):
        loss = Loss(folder, place)
        loss.of(ORDER, BEGAN, None, [InflightIteration(0, BEGAN, BEGAN, 1, 0)] * 2, "gone")
        loss.close()
    ids = folder.operations().arrays("id")["id"]
    assert len(set(ids.tolist())) == 4


def test_detached_operations_of_the_place_are_lost(folder: RunFolder, loss: Loss) -> None:
    loss.take([frame(passed=0, in_flight=0), frame(passed=0, in_flight=12, nanoseconds=0)])
    (told,) = loss.of_ledger("gone")
    assert (told.nanoseconds, sum(row.lost for row in told.rows), told.in_flight) == (0, 12, 0)
    assert len(lost_rows(folder)) == 12
    assert loss.of_ledger("gone") == []


def test_what_was_due_of_an_open_load_and_never_begun_is_missed(folder: RunFolder, loss: Loss) -> None:
    begun = now() - 4 * SECOND
    order = Order(1, "case", Load.model_validate({"rate": 10, "for": 60 * SECOND}), SECOND, seed=1)
    loss.take([frame(passed=7, in_flight=2)])
    (last,) = loss.of(order, begun, None, (), "gone")
    assert sum(row.lost for row in last.rows) == 2
    (told,) = loss.missed(order, begun, (0, 2))
    assert told.missed in (20 + 1 - 9, 20 + 2 - 9)
    assert told.nanoseconds > 0
    assert loss.missed(ORDER, begun, (0, 2)) == [], "a closed load misses nothing"


def test_what_was_due_of_a_replay_and_never_begun_is_missed(folder: RunFolder, loss: Loss, tmp_path: Path) -> None:
    (np.arange(600) * SECOND // 10).astype("<i8").tofile(tmp_path / "starts")
    starts = StartsFile(str(tmp_path / "starts"), 600, 2.0, 20.0)
    order = Order(1, "case", Load.model_validate({"replay": "before"}), SECOND, seed=1, starts=starts)
    begun = now() - 4 * SECOND
    loss.take([frame(passed=7, in_flight=2)])
    (last,) = loss.of(order, begun, order.share(0, 2), (), "gone")
    assert sum(row.lost for row in last.rows) == 2
    (told,) = loss.missed(order, begun, (0, 2))
    assert told.missed in (40 + 1 - 9, 40 + 2 - 9), "every second of those due by now, at twice the speed"
