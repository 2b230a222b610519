"""What monitors record belongs to a case: by the key of a client's operation, else by time and target."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pileup.model.timed import NUMBERS, OperationBatch
from pileup.plugin.recording import Recording
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.record.served import Source
from tests.manifests import run_of

S = 10**9
MS = 10**6
NONE = {"client": -1}
BEGIN = 1_795_000_000 * S
INFO = {
    "format": 1,
    "targets": [{"name": "se"}, {"name": "other"}],
    "cases": [
        {"id": 1, "name": "read", "test": "read", "target": "se", "started": BEGIN, "ended": BEGIN + 10 * S},
        {"id": 2, "name": "list", "test": "list", "target": "other", "started": BEGIN, "ended": BEGIN + 10 * S},
        {"id": 3, "name": "write", "test": "write", "target": "se", "started": BEGIN + 5 * S, "ended": BEGIN + 20 * S},
    ],
}


def clients(folder: RunFolder, told: list[tuple[int, bytes, float, float]], columns: Mapping[str, Any] = {}) -> None:
    """Write operations of clients: case, key, begin and end in s."""
    texts = [key for _, key, _, _ in told]
    rows = np.zeros(len(told), ROW)
    for number, (case, _, begin, end) in enumerate(told):
        rows[number]["id"], rows[number]["parent"], rows[number]["case"] = number + 10, 0, case
        rows[number]["start"] = rows[number]["intended"] = BEGIN + int(begin * S)
        rows[number]["end"], rows[number]["key"], rows[number]["phase"] = BEGIN + int(end * S), number + 1, 3
    for name, values in columns.items():
        rows[name] = values
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, texts, ("key",))
    writer.close()


def recorded(*told: tuple[str, float, float]) -> OperationBatch:
    """What a monitor recorded: key, begin and end in s."""
    batches: list[OperationBatch] = []
    record = Recording(batches.append, print)
    for key, begin, end in told:
        times = (BEGIN + int(begin * S), BEGIN + int(end * S), 0, 0, 0, 0, 0, -1)
        record.add("GET", key, "", {"disk": "a"}, times)
    record.flush()
    (batch,) = batches
    return batch


def told_by(*told: tuple[dict[str, int], str, float, float]) -> OperationBatch:
    """The same of one that knows `parent` or `client`: that, key, begin and end in s."""
    batches: list[OperationBatch] = []
    record = Recording(batches.append, print)
    for known, key, begin, end in told:
        numbers = {"start": BEGIN + round(begin * S), "end": BEGIN + round(end * S)}
        record.add("GET", key, "", None, tuple((numbers | known).get(name, NONE.get(name, 0)) for name in NUMBERS))
    record.flush()
    (batch,) = batches
    return batch


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(run_of(INFO))
    return made


def owners(folder: RunFolder) -> list[tuple[str, int, str]]:
    """Case, parent and labels of what was recorded, raw and converted alike."""
    found = []
    for _ in ("raw", "converted"):
        rows = folder.operations().arrays("case", "parent", "labels", "id", where="side = 'server'")
        order = np.argsort(rows["id"])
        told = [(str(rows["case"][at]), int(rows["parent"][at]), str(rows["labels"][at])) for at in order]
        found.append(told)
        folder.convert()
    assert found[0] == found[1], "a run that goes on says the same"
    return found[0]


def test_time_and_target_say_the_case(folder):
    clients(folder, [])
    folder.append_recorded(recorded(("", 1, 1.5), ("", 15, 16), ("", 30, 31)), Source("log", 0), 0)
    assert owners(folder) == [("read", 0, "disk=a"), ("write", 0, "disk=a"), ("", 0, "disk=a")]


def test_where_several_share_the_time_no_one_is_preferred_in_silence(folder):
    clients(folder, [])
    folder.append_recorded(recorded(("", 7, 8)), Source("log", 0), 0)
    assert owners(folder) == [("read", 0, "disk=a,shared=yes")]


def test_a_key_says_the_operation_that_it_was_part_of(folder):
    clients(folder, [(1, b"/a", 6, 7), (3, b"/b", 6, 7), (1, b"/c", 6, 7), (3, b"/c", 6, 7), (1, b"/old", 0, 1)])
    told = recorded(("/a", 6.1, 6.9), ("/b", 6.1, 6.9), ("/c", 6.1, 6.9), ("/old", 6.1, 6.9), ("/b", 5.95, 7.05))
    folder.append_recorded(told, Source("log", 0), 0)
    assert owners(folder) == [
        ("read", 10, "disk=a"),
        ("write", 11, "disk=a"),
        ("read", 0, "disk=a,shared=yes"),  # two clients had it at that time
        ("read", 0, "disk=a,shared=yes"),  # that was another time
        ("write", 11, "disk=a"),  # clocks are not that equal
    ]


def test_of_two_with_one_key_the_one_that_goes_on_in_the_midst_is_the_parent(folder):
    clients(folder, [(1, b"/a", 1, 1.01), (1, b"/a", 1.02, 1.03)])
    folder.append_recorded(recorded(("/a", 1.022, 1.028)), Source("log", 0), 0)
    assert owners(folder) == [("read", 11, "disk=a")]


def test_a_log_in_whole_seconds_loses_nothing_at_the_begin_of_a_case(folder):
    clients(folder, [])
    folder.append_recorded(recorded(("", -0.4, 0.3), ("", -1.2, -0.3)), Source("log", 1), 0)
    assert owners(folder) == [("list", 0, "disk=a"), ("", 0, "disk=a")]


def test_a_clock_that_is_ahead_is_put_right(folder):
    clients(folder, [])
    folder.append_recorded(recorded(("", 11, 12)), Source("log", 1, ahead=3 * S), 0)
    assert owners(folder) == [("list", 0, "disk=a")]
    (start,) = folder.operations().arrays("start", where="side = 'server'")["start"]
    assert start == BEGIN + 8 * S


def test_an_id_says_the_operation_whatever_its_key_and_one_of_another_time_is_of_another_run(folder):
    clients(folder, [(1, b"/a", 6, 7), (3, b"/b", 6, 7), (1, b"/a", 8, 8.5)])
    told = told_by(
        ({"parent": 11}, "/x?y", 6.1, 6.2),
        ({"parent": 11}, "", 6.3, 6.9),
        ({"parent": 12}, "", 6.3, 6.4),
        ({"parent": 99}, "", 6.3, 6.4),
    )
    folder.append_recorded(told, Source("log", 0), 0)
    assert owners(folder) == [
        ("write", 11, ""),
        ("write", 11, ""),
        ("read", 0, "shared=yes"),
        ("read", 0, "shared=yes"),
    ]


def test_the_number_of_the_client_says_its_operation_that_contains_the_time(folder):
    told = [(1, b"/a", 1, 1.01), (1, b"/b", 1.011, 1.02), (1, b"/c", 1, 1.02)]
    clients(folder, told, {"client": np.array([4, 4, 5])})
    served = told_by(
        ({"client": 4}, "", 1.0, 1.002),
        ({"client": 4}, "", 1.0112, 1.0119),
        ({"client": 4}, "/c", 1.0112, 1.0119),
        ({"client": 5}, "/c", 1.0112, 1.0119),
        ({"client": 6}, "", 1.0112, 1.0119),
    )
    folder.append_recorded(served, Source("log", 0), 0)
    assert [parent for _, parent, _ in owners(folder)] == [10, 11, 0, 12, 0]
    found = folder.operations().arrays("client", "id", where="side = 'server'")
    assert found["client"][np.argsort(found["id"])].tolist() == [4, 4, 0, 5, 0]


@pytest.mark.parametrize("off", [960.0, -3600.0, 0.05])
def test_a_clock_that_is_off_is_found_by_ids_and_put_right(folder, off):
    """Servers answer 0.2 to 2 ms after they were asked, and their answers take as long."""
    begins = [1 + number * 0.01 for number in range(200)]
    clients(folder, [(1, b"/a", begin, begin + 0.008) for begin in begins])
    random = np.random.default_rng(1)
    ways = random.uniform(0.0002, 0.002, (200, 2))
    served = [
        ({"parent": 10 + number}, "", off + begin + to, off + begin + 0.008 - back)
        for number, (begin, (to, back)) in enumerate(zip(begins, ways, strict=True))
    ]
    folder.append_recorded(told_by(*served, ({"parent": 999_999}, "", off + 2, off + 2.001)), Source("log", 0), 0)
    assert sum(parent > 0 for _, parent, _ in owners(folder)) == 200
    (event,) = [each for each in folder.events() if each.kind == "clock"]
    assert event.monitor == "log" and abs((event.ahead or 0) - off * S) < MS and (event.error or 0) < MS
    starts = np.sort(folder.operations().arrays("start", where="side = 'server' AND parent <> 0")["start"])
    assert np.abs(starts - BEGIN - np.sort((np.array(begins) + ways[:, 0]) * S)).max() < MS


def test_a_clock_that_is_right_is_left_alone(folder):
    clients(folder, [(1, b"/a", 1 + number * 0.01, 1.008 + number * 0.01) for number in range(50)])
    served = [({"parent": 10 + n}, "", 1.001 + n * 0.01, 1.006 + n * 0.01) for n in range(50)]
    folder.append_recorded(told_by(*served), Source("log", 0), 0)
    owners(folder)
    assert not [each for each in folder.events() if each.kind == "clock"]
