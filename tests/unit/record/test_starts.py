"""Starts in a record: found, counted and written in order, from a run folder and from Parquet."""

import io
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pileup.model.errors import RecordError
from pileup.model.loads.starts import Starts
from pileup.model.record import Phase
from pileup.record import RunFolder, TableWriter, starts
from pileup.record.operations import ROW
from pileup.record.starts import ReplayStarts
from tests.manifests import run_of

BEGAN = 1_795_000_000_000_000_000
S = 10**9
CASES = [("fill", "fill"), ("copy[a=1]", "copy"), ("copy[a=2]", "copy"), ("stat", "stat")]
INFO = {
    "format": 1,
    "cases": [{"id": number, "name": name, "test": test} for number, (name, test) in enumerate(CASES, 1)],
    "targets": [],
}
SECONDS = np.array([5.0, 0.0, 1.0, 1.0, 2.5, 9.0, 4.25])
"""When the iterations of each load were due, in the order in which they ended."""


def rows(case: int, phase: Phase, seconds: NDArray[np.float64], parent: int = 0, place: int = 0) -> NDArray[np.void]:
    made = np.zeros(len(seconds), ROW)
    made["id"] = (case << 16) + (int(phase) << 12) + np.arange(1, len(seconds) + 1) + 100 * parent
    made["intended"] = BEGAN + (seconds * S).astype(np.int64)
    made["start"] = made["intended"] + 1000
    made["end"] = made["start"] + 5000
    made["case"], made["phase"], made["parent"], made["operation"], made["place"] = case, phase, parent, 1, place
    return made


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(run_of(INFO))
    for place in (0, 1):
        writer = TableWriter(made.operations_path(place), "operations", ROW, place)
        for case in (2, 3, 4)[: 3 if place == 0 else 2]:
            first, rest = SECONDS[place::2][:2] + case, SECONDS[place::2][2:] + case
            for block in (
                rows(case, Phase.SETUP, first - 100, place=place),
                rows(case, Phase.WARM_UP, first, place=place),
                rows(case, Phase.MEASURE, rest, place=place),
                rows(case, Phase.MEASURE, rest + 0.1, 7, place),
                rows(case, Phase.CLEANUP, rest + 100, place=place),
            ):
                writer.append(block, [b"iteration"], ("operation",))
        if place == 0:
            writer.append(rows(1, Phase.SETUP, SECONDS), [b"iteration"], ("operation",))
        writer.close()
    return made


def written(found: Starts) -> list[int]:
    file = io.BytesIO()
    digest = starts.write(found, file)
    assert digest == blake2b(file.getvalue(), digest_size=16).hexdigest()
    times: list[int] = np.frombuffer(file.getvalue(), "<i8").tolist()
    return times


ALL = [0, S, S, 5 * S // 2, 17 * S // 4, 5 * S, 9 * S]


def test_the_starts_of_a_case_are_in_order_and_relative_to_the_first(folder: RunFolder) -> None:
    found = starts.find(folder.path, ReplayStarts("copy[a=2]"))
    assert (found.case, found.recorded, found.count, found.last) == ("copy[a=2]", 7, 7, 9 * S)
    assert (found.measured, found.settled) == (7, 0)
    assert written(found) == ALL
    folder.convert()
    assert (starts.find(folder.path, ReplayStarts("copy[a=2]")), written(found)) == (found, ALL)
    (parquet,) = (folder.path / "operations").glob("*.parquet")
    alone = starts.find(parquet, ReplayStarts("copy[a=2]"))
    assert (alone.source, alone.count, alone.last, written(alone)) == (str(parquet), 7, 9 * S, ALL)


def test_time_number_warm_up_and_speed_bound_what_is_replayed(folder: RunFolder) -> None:
    found = starts.find(folder.path, ReplayStarts("copy[a=1]", speed=2, warm_up=S, end=5 * S // 2))
    assert (found.recorded, found.count, found.last) == (7, 5, 17 * S // 8)
    assert (found.measured, found.settled) == (2, 5 * S // 4)
    assert written(found) == ALL[:5], "as recorded: the speed is the engine's"
    few = starts.find(folder.path, ReplayStarts("copy[a=1]", most=3))
    assert (few.count, few.last, written(few)) == (3, S, ALL[:3])
    many = starts.find(folder.path, ReplayStarts("copy[a=1]", most=1000, end=S))
    assert (many.count, written(many)) == (1, [0])


def test_one_start_at_the_end_itself_is_left_out_as_the_engine_does(folder: RunFolder) -> None:
    assert starts.find(folder.path, ReplayStarts("stat", end=3 * S // 2)).count == 1
    assert starts.find(folder.path, ReplayStarts("stat", end=3 * S // 2 + 1)).count == 2


def test_a_test_of_one_case_is_enough_to_say(folder: RunFolder) -> None:
    assert starts.find(folder.path, ReplayStarts("stat")).recorded == 4


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (ReplayStarts("copy"), r"2 cases of the test 'copy'; expected `test` with one of copy\[a=1\], copy\[a=2\]"),
        (ReplayStarts(None), r"has 3 cases; expected `test` with one of copy\[a=1\], copy\[a=2\], stat"),
        (ReplayStarts("fill"), r"no test and no case 'fill' with a load; expected one of copy\[a=1\], "),
        (
            ReplayStarts("stat", warm_up=100 * S),
            "the warm-up contains all that is replayed of stat in .*: 4 starts; expected starts behind",
        ),
    ],
)
def test_what_cannot_be_replayed_is_told_with_what_can(folder: RunFolder, wanted: ReplayStarts, told: str) -> None:
    with pytest.raises(RecordError, match=told):
        starts.find(folder.path, wanted)


def test_what_is_no_record_is_told(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="there is no folder"):
        starts.find(tmp_path / "nowhere", ReplayStarts("stat"))
    with pytest.raises(RecordError, match="not a run folder"):
        starts.find(tmp_path, ReplayStarts("stat"))
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(RecordError, match="cannot be read"):
        starts.find(tmp_path / "text.parquet", ReplayStarts("stat"))
    other = tmp_path / "other.parquet"
    with folder.operations().connect() as connection:
        connection.execute(f"COPY (SELECT id, intended FROM operations) TO '{other}' (FORMAT parquet)")
    with pytest.raises(RecordError, match="has no column 'parent'"):
        starts.find(other, ReplayStarts("stat"))
    empty = RunFolder.create(tmp_path, "empty", 0)
    empty.save(run_of(INFO))
    with pytest.raises(RecordError, match="no iteration of a load"):
        starts.find(empty.path, ReplayStarts(None))


def test_attempts_that_were_broken_off_are_left_out(folder: RunFolder) -> None:
    folder.save(run_of({**INFO, "void": [[2, 0], [3, 0], [3, 1]]}))
    assert starts.find(folder.path, ReplayStarts("copy")).recorded == 3
    assert written(starts.find(folder.path, ReplayStarts("copy[a=1]"))) == [0, S, 9 * S]


def test_a_record_that_is_still_written_is_not_replayed(folder: RunFolder) -> None:
    found = starts.find(folder.path, ReplayStarts("stat"))
    more = TableWriter(folder.operations_path(2), "operations", ROW, 2)
    more.append(rows(4, Phase.MEASURE, np.array([50.0])), [b"iteration"], ("operation",))
    more.close()
    with pytest.raises(RecordError, match="had 4 starts of stat and has 5 now; expected a record that has ended"):
        starts.write(found, io.BytesIO())


def test_many_starts_are_written_chunk_by_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "CHUNK", 1000)
    folder = RunFolder.create(tmp_path, "x", 0)
    folder.save(run_of(INFO))
    writer = TableWriter(folder.operations_path(0), "operations", ROW, 0)
    seconds = np.random.default_rng(1).uniform(0, 1000, 12_345)
    writer.append(rows(4, Phase.MEASURE, seconds), [b"iteration"], ("operation",))
    writer.close()
    expected = np.sort((seconds * S).astype(np.int64))
    times = written(starts.find(folder.path, ReplayStarts(None)))
    assert times == (expected - expected[0]).tolist()
