"""The same promises of the engine's ledger and of the one that plug-ins are tested with."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pileup._core._native import Press, Recorder
from pileup.model.cause import Cause
from pileup.plugin import Ledger, Op
from pileup.plugin.testing import TestLedger, TestOp
from pileup.record import TableReader
from pileup.record.operations import ROW, chunks

LOAD = {
    "case": 3,
    "target": 0,
    "place": 0,
    "shard": 0,
    "shards": 1,
    "seed": 1,
    "start": 0,
    "name": "test",
    "kind": "once",
    "arrivals": "constant",
    "ramp": 0,
    "warm_up": 0,
    "timeout": 10**9,
    "pacing": "normal",
    "workers": 1,
    **dict.fromkeys(("times", "clients", "rate", "for", "think", "phase", "errors_in_a_row", "operations")),
}
Pair = tuple[Op, Ledger]


def native(folder: Path) -> Iterator[Pair]:
    """An iteration of the engine and its ledger."""
    recorder = Recorder(str(folder / "0.table"), 0)
    press = Press(recorder, json.dumps(LOAD))
    assert press.spawn() == 0
    op = press.seat(0).next()
    assert op is not None
    yield op, recorder.ledger()
    op.finish(0)
    recorder.ledger().close()
    recorder.close()


def python(folder: Path) -> Iterator[Pair]:
    """The same in plain Python."""
    ledger = TestLedger()
    yield TestOp(ledger=ledger), ledger


@pytest.fixture(params=[native, python], ids=["native", "python"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    make: Callable[[Path], Iterator[Pair]] = request.param
    yield from make(tmp_path)


def test_what_begins_is_open_until_it_ends(pair: Pair) -> None:
    op, ledger = pair
    for key in ("b", "a", "c"):
        op.begin("job", key, 100)
    op.begin("other", "a", 50)
    assert (ledger.open(), ledger.open("job"), ledger.open("none")) == (4, 3, 0)
    assert ledger.keys("job") == ["b", "a", "c"]
    assert ledger.keys("job", 2) == ["b", "a"]
    assert (ledger.since("job", "a"), ledger.since("other", "a"), ledger.since("job", "z")) == (100, 50, None)
    assert ledger.end("job", "a", 1, 200, "exit code 1", bytes=3)
    assert not ledger.end("job", "a")
    assert ledger.keys("job") == ["b", "c"]
    op.begin("job", "a", 300)
    assert ledger.keys("job") == ["b", "c", "a"]


def test_one_turns_into_another_at_that_time(pair: Pair) -> None:
    op, ledger = pair
    op.begin("queue", "a", 100)
    assert ledger.turn("queue", "a", "run", 150)
    assert (ledger.since("queue", "a"), ledger.since("run", "a")) == (None, 150)
    assert not ledger.turn("queue", "a", "run", 160)
    op.begin("queue", "a", 170)
    assert not ledger.turn("queue", "a", "run", 180), "that one is open already"
    assert ledger.since("queue", "a") == 170
    assert ledger.end("run", "a")
    assert ledger.turn("queue", "a", "run", 10)
    assert ledger.since("run", "a") == 170, "nothing ends before it began"


def test_many_end_at_once(pair: Pair) -> None:
    op, ledger = pair
    for key in ("a", "b", "c"):
        op.begin("job", key)
    assert ledger.end_many("job", [("a", 0, None, ""), ("z", 0, None, ""), ("c", 1, 5, "no")]) == 2
    assert ledger.end_many("job", []) == 0
    assert ledger.keys("job") == ["b"]


@pytest.mark.parametrize("cause", list(Cause))
def test_the_cause_of_an_end_is_in_its_row(tmp_path: Path, cause: Cause) -> None:
    for op, ledger in native(tmp_path):
        for key in ("a", "b"):
            op.begin("job", key)
        assert ledger.end("job", "a", 1, error="cancelled", cause=int(cause))
        assert ledger.end_many("job", [("b", 1, None, "cancelled")], cause=int(cause)) == 1
    rows = [rows for rows, _ in chunks(TableReader(tmp_path / "0.table", ROW))]
    assert [int(row["cause"]) for row in np.concatenate(rows) if row["parent"]] == [cause, cause]


def test_what_is_wrong_is_refused(pair: Pair) -> None:
    op, ledger = pair
    op.begin("job", "a")
    with pytest.raises(ValueError, match="is open already; expected a key"):
        op.begin("job", "a")
    with pytest.raises(ValueError, match="9"):
        ledger.end("job", "a", 9)
    with pytest.raises(ValueError, match="9"):
        ledger.end_many("job", [("a", 9, None, "")])
    with pytest.raises(ValueError, match="9"):
        ledger.end("job", "a", 1, cause=9)
    assert ledger.open("job") == 1
