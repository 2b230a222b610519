"""`op.record`: operations that others timed, in the iteration that heard of them."""

import time

import pytest

from pileup._core._native import Press, Recorder
from pileup.fleet.order import Order
from pileup.model.loads.load import Load
from pileup.model.record import SEPARATOR, FrameRow
from pileup.record.operations import ROW, chunks
from pileup.record.tables import TableReader

S = 10**9


@pytest.fixture
def pressed(tmp_path):
    """A load of one iteration; gives its op, and what the record has once it was ended."""
    recorder = Recorder(str(tmp_path / "0.table"), 0)
    order = Order(7, "copy", Load(times=1), S, seed=1)
    press = Press(recorder, order.to_native(place=0, shard=0, shards=1, start=0))
    seat = press.seat(press.spawn())
    op = seat.next()

    def ended():
        op.finish(0)
        frames = {(row["operation"], row["labels"]): FrameRow(**row) for row in press.frame()["rows"]}
        recorder.close()
        return frames, [
            row for rows, texts in chunks(TableReader(tmp_path / "0.table", ROW)) for row in told(rows, texts)
        ]

    yield op, ended
    recorder.close()


def told(rows, texts):
    for row in rows:
        words = {name: texts[int(row[name])] for name in ("operation", "key", "error")}
        yield {name: int(row[name]) for name in rows.dtype.names} | words


def test_it_is_a_row_of_the_iteration_with_the_times_of_others(pressed):
    op, ended = pressed
    end = time.time_ns()
    op.record("task", "/a", start=end - 3 * S, end=end, bytes=10, calls=2, labels={"worker": "n2", "drive": 3})
    op.record("task", start=end - S, end=end - 2 * S, outcome=1, error="no tape", labels={"worker": "n1,]="})
    frames, rows = ended()
    first, second, whole = rows
    assert (first["operation"], first["key"]) == (f"task{SEPARATOR}drive=3,worker=n2", "/a")
    assert (first["start"], first["end"], first["bytes"], first["calls"]) == (end - 3 * S, end, 10, 2)
    assert (first["parent"], first["case"], first["outcome"]) == (whole["id"], 7, 0)
    assert (second["operation"], second["outcome"], second["error"]) == (f"task{SEPARATOR}worker=n1___", 1, "no tape")
    assert second["end"] == second["start"], "what would end before it began ends then"
    assert (whole["bytes"], whole["calls"]) == (10, 2), "an iteration has what is in it"
    assert frames["task", "drive=3,worker=n2"].passed == frames["task", "worker=n1___"].failed == 1


@pytest.mark.parametrize(
    ("given", "problem", "said"),
    [
        ({"start": 5}, ValueError, "start is 5; expected nanoseconds since the epoch"),
        ({"start": 1.5}, TypeError, "float"),
        ({"outcome": 9}, ValueError, "outcome 9 is unknown; expected 0"),
        ({"labels": {"a b": 1}}, ValueError, 'label "a b" is not a name; expected letters'),
        ({"labels": ["a"]}, TypeError, r"labels are \['a'\]; expected a mapping"),
        ({"name": ""}, ValueError, "an operation has an empty name"),
    ],
)
def test_what_cannot_be_is_refused(pressed, given, problem, said):
    op, ended = pressed
    with pytest.raises(problem, match=said):
        op.record(**{"name": "task", "start": time.time_ns(), **given})
    _, rows = ended()
    assert len(rows) == 1


def test_an_iteration_that_has_ended_takes_none(pressed):
    op, ended = pressed
    ended()
    with pytest.raises(RuntimeError, match="begins after its iteration has ended"):
        op.record("task", start=time.time_ns())


def test_sets_of_labels_are_bounded_and_each_has_its_times(pressed):
    op, ended = pressed
    end = time.time_ns()
    for number in range(1003):
        op.record("task", start=end - number * 1000, end=end, labels={"worker": number})
    frames, rows = ended()
    of_tasks = {labels: row for (name, labels), row in frames.items() if name == "task"}
    assert (len(of_tasks), of_tasks["labels=other"].passed) == (1001, 3)
    assert all(row.response for row in of_tasks.values()), "a histogram each"
    assert sum(row.passed for row in of_tasks.values()) == len(rows) - 1 == 1003
