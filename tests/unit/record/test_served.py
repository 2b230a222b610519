"""What monitors record belongs to a case: by the key of a client's operation, else by time and target."""

import numpy as np
import pytest

from pileup.model.timed import OperationBatch
from pileup.plugin.recording import Recording
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.record.served import Source
from tests.manifests import run_of

S = 10**9
MS = 10**6
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


def clients(folder: RunFolder, told: list[tuple[int, bytes, float, float]]) -> None:
    """Write operations of clients: case, key, begin and end in s."""
    texts = [key for _, key, _, _ in told]
    rows = np.zeros(len(told), ROW)
    for number, (case, _, begin, end) in enumerate(told):
        rows[number]["id"], rows[number]["parent"], rows[number]["case"] = number + 10, 0, case
        rows[number]["start"] = rows[number]["intended"] = BEGIN + int(begin * S)
        rows[number]["end"], rows[number]["key"], rows[number]["phase"] = BEGIN + int(end * S), number + 1, 3
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, texts, ("key",))
    writer.close()


def recorded(*told: tuple[str, float, float]) -> OperationBatch:
    """What a monitor recorded: key, begin and end in s."""
    batches: list[OperationBatch] = []
    record = Recording(batches.append, print)
    for key, begin, end in told:
        times = (BEGIN + int(begin * S), BEGIN + int(end * S), 0, 0, 0, 0)
        record.add("GET", key, "", {"disk": "a"}, times)
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
