"""What monitors record: columns, labels, bounds."""

from array import array
from collections.abc import Iterable

import numpy as np
import pytest

from pileup.model.record import Outcome, Sample
from pileup.model.timed import KINDS, OperationBatch
from pileup.plugin import Monitor, PluginError
from pileup.plugin.recording import BATCH, MOST_LABELS, Recording
from pileup.plugin.testing import MonitorRecord

AT = 1_795_000_000 * 10**9


class Log(Monitor):
    """Records."""

    records = True

    def sample(self) -> Iterable[Sample]:
        return ()


class Mute(Log):
    """Does not say that it does."""

    records = False


def test_one_by_one_and_many_at_once_are_the_same() -> None:
    one, many = Log(), Log()
    first, second = MonitorRecord(one), MonitorRecord(many)
    for number in range(3):
        one.record(
            "GET",
            f"/{number}",
            start=AT + number,
            end=AT + 9,
            outcome=Outcome.FAILED,
            bytes=number,
            calls=1,
            error="no",
            labels={"disk": number, "b": "x,y=z]"},
        )
    many.record_many(
        "GET",
        [f"/{number}" for number in range(3)],
        start=np.arange(AT, AT + 3),
        end=[AT + 9] * 3,
        outcome=Outcome.FAILED,
        bytes=array("q", range(3)),
        calls=np.ones(3, np.uint32),
        error="no",
        labels=[{"disk": number, "b": "x,y=z]"} for number in range(3)],
    )
    found = first.operations()
    assert found == second.operations()
    assert [(each.key, each.start, each.bytes, each.labels) for each in found] == [
        (f"/{number}", AT + number, number, {"b": "x_y_z_", "disk": str(number)}) for number in range(3)
    ]
    assert first.operations() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": 1_795_000_000}, "a time is 1795000000; expected nanoseconds since the epoch"),
        ({"labels": {"a b": 1}}, "label 'a b' is not a name; expected letters, digits"),
        ({"name": ""}, "an operation has an empty name"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], said: str) -> None:
    monitor = Log()
    MonitorRecord(monitor)
    with pytest.raises(ValueError, match=said):
        monitor.record(**{"name": "GET", "start": AT, "end": AT, **given})  # type: ignore[arg-type]


def test_columns_of_different_lengths_are_refused() -> None:
    monitor = Log()
    MonitorRecord(monitor)
    with pytest.raises(ValueError, match="2 values of end for 3 operations; expected one each, or one for all"):
        monitor.record_many("GET", start=[AT] * 3, end=[AT] * 2)


def test_a_monitor_must_say_that_it_records() -> None:
    with pytest.raises(PluginError, match="Mute records operations; expected `records = True` in its class"):
        Mute().record("GET", start=AT, end=AT)


def test_sets_of_labels_are_bounded_and_that_is_told() -> None:
    monitor = Log()
    record = MonitorRecord(monitor)
    for number in range(MOST_LABELS + 3):
        monitor.record("GET", start=AT, end=AT, labels={"user": number})
    found = record.operations()
    assert [each.labels for each in found[MOST_LABELS:]] == [{"labels": "other"}] * 3
    assert record.told[0].startswith(f"more than {MOST_LABELS} sets of labels: the others are counted together")


def test_they_are_handed_on_in_batches() -> None:
    batches: list[OperationBatch] = []
    record = Recording(batches.append, print)
    for _ in range(3):
        size = BATCH // 2 + 1
        record.add_many("GET", "", "", None, {**dict.fromkeys(KINDS, 0), "start": [AT] * size, "end": [AT] * size})
    assert [len(batch) for batch in batches] == [BATCH + 2]
    texts, blobs = batches[0].to_wire()
    assert OperationBatch.from_wire(texts, tuple(blobs)) == batches[0]


@pytest.mark.parametrize(("texts", "blobs"), [(None, 10), ([], 9), (["a"], "text"), (["a"], "length")])
def test_what_no_monitor_sends_is_refused(texts: object, blobs: object) -> None:
    columns = {name: array(kind, [1]).tobytes() for name, kind in KINDS.items()}
    if blobs == "text":
        columns["key"] = array("I", [7]).tobytes()
    if blobs == "length":
        columns["end"] = b""
    given = tuple(columns.values())[: blobs if isinstance(blobs, int) else None]
    with pytest.raises(ValueError, match="operations"):
        OperationBatch.from_wire(texts, given)
