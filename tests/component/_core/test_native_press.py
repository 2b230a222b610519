"""A press pulled by threads: counts, order, outcomes, stopping."""

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pileup._core._native import Histogram, Op, now
from pileup.model.errors import Ambiguous, Failed, Refused, VerdictException
from pileup.model.record import Outcome

MS = 10**6


def drive(press: Any, iterate: Callable[[Op], None]) -> None:
    """Serve every client of a press with a thread of its own, as the fleet does, until it is over."""

    def serve(client: int) -> None:
        seat = press.seat(client)
        while (op := seat.next()) is not None:
            iterate(op)

    threads = []
    while (client := press.spawn()) is not None:
        threads.append(threading.Thread(target=serve, args=(client,), daemon=True))
        threads[-1].start()
    assert press.wait(20)
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def passing(op: Op) -> None:
    op.finish(Outcome.PASSED)


def test_once_is_one_iteration_by_client_0(bench: Any) -> None:
    press = bench.press(kind="once")
    seen: list[tuple[int, int]] = []

    def iterate(op: Op) -> None:
        seen.append((op.number, op.client))
        assert op.intended <= op.start <= now()
        assert not press.over
        op.finish(0)

    drive(press, iterate)
    assert seen == [(0, 0)]
    assert press.over
    assert press.ending == ("finished", "")
    assert len(bench.table().rows) == 1


@pytest.mark.parametrize("pacing", ["coarse", "precise"])
def test_pacing_leaves_the_instants_as_they_are(bench: Any, pacing: str) -> None:
    press = bench.press(kind="open", rate=2000.0, for_=100 * MS, pacing=pacing)
    drive(press, passing)
    rows = bench.table().rows
    bench.check_instants(press, rows, step=MS // 2, count=200)
    if pacing == "coarse":
        bench.check_together(rows)


def test_times_are_counted_off_in_order(bench: Any) -> None:
    press = bench.press(kind="times", times=50)
    seen: list[Op] = []

    def iterate(op: Op) -> None:
        seen.append(op)
        op.finish(0)

    drive(press, iterate)
    assert [op.number for op in seen] == list(range(50))
    rows = bench.table().rows
    assert len(rows) == 50
    assert (rows["intended"][1:] >= rows["end"][:-1]).all(), "an iteration is due when the one before has ended"
    assert (rows["start"] >= rows["intended"]).all()


def test_several_clients_share_the_times(bench: Any) -> None:
    press = bench.press(kind="times", times=101, clients=4)
    drive(press, passing)
    rows = bench.table().rows
    assert len(rows) == 101
    assert set(rows["client"]) <= {0, 1, 2, 3}


def test_closed_clients_press_for_their_time(bench: Any) -> None:
    press = bench.press(kind="closed", clients=3, for_=60 * MS, think={"fixed": 5 * MS})
    drive(press, passing)
    rows = bench.table().rows
    assert set(rows["client"]) == {0, 1, 2}
    for client in range(3):
        own = rows[rows["client"] == client]
        late = own["start"] - own["intended"]
        assert (own["intended"][1:] == (own["end"] + np.maximum(0, 5 * MS - late))[:-1]).all()


def test_an_open_load_starts_at_its_instants(bench: Any) -> None:
    press = bench.press(kind="open", rate=500.0, for_=60 * MS, clients=4)
    drive(press, passing)
    bench.check_instants(press, bench.table().rows, step=2 * MS, count=30)


def test_waiting_for_the_thread_is_start_error_not_service(bench: Any) -> None:
    press = bench.press(kind="open", rate=1.0, for_=500 * MS)
    seat = press.seat(press.spawn())
    ready = now() + 3 * MS
    while now() < ready:
        pass
    op = seat.next()
    assert op.start >= ready > op.intended
    op.finish(0)
    assert bench.table().rows["start"].tolist() == [op.start]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_outcomes_are_written_and_counted(bench: Any, outcome: Outcome) -> None:
    press = bench.press(kind="times", times=3)
    drive(press, lambda op: op.finish(int(outcome), "" if outcome is Outcome.PASSED else "because"))
    frame = press.frame()
    (row,) = frame["rows"]
    assert {name: row[name.lower()] for name in Outcome.__members__} == {
        name: 3 if member is outcome else 0 for name, member in Outcome.__members__.items()
    }
    table = bench.table()
    assert set(table.rows["outcome"]) == {outcome}
    assert set(table.text("error")) == {"" if outcome is Outcome.PASSED else "because"}


@pytest.mark.parametrize(
    ("raised", "outcome", "message"),
    [
        (Failed("half a file"), Outcome.FAILED, "half a file"),
        (AssertionError("no"), Outcome.FAILED, "no"),
        (ZeroDivisionError("by zero"), Outcome.FAILED, "ZeroDivisionError: by zero"),
        (KeyError(), Outcome.FAILED, "KeyError"),
        (Refused("not you"), Outcome.REFUSED, "not you"),
        (Ambiguous("silence"), Outcome.AMBIGUOUS, "silence"),
        (TimeoutError(), Outcome.AMBIGUOUS, "no answer in time"),
        (ValueError("é" * 600), Outcome.FAILED, "ValueError: " + "é" * 450),
    ],
)
def test_what_a_block_raises_is_its_outcome(bench: Any, raised: Exception, outcome: Outcome, message: str) -> None:
    press = bench.press(kind="once")

    def iterate(op: Op) -> None:
        with pytest.raises(type(raised)), op("act"):
            raise raised
        op.finish(0)

    drive(press, iterate)
    table = bench.table()
    (child,) = table.named("act")
    said = table.texts[child["error"]]
    assert child["outcome"] == outcome
    if isinstance(raised, VerdictException):
        assert said == message
    else:
        assert said.startswith(message)
        assert re.fullmatch(r"é*…? \(test_native_press\.py:\d+\)", said.removeprefix(message)), "with the line"
        assert len(said) <= 500
    assert table.named("iteration")["outcome"][0] == Outcome.PASSED, "the test decides about the iteration"


def test_an_exception_that_cannot_print_itself_is_recorded(bench: Any) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def iterate(op: Op) -> None:
        with pytest.raises(MuteError), op("act"):
            raise MuteError
        op.finish(1, "x")

    drive(bench.press(kind="once"), iterate)
    table = bench.table()
    said = table.texts[table.named("act")["error"][0]]
    assert said.startswith("MuteError: (its message cannot be shown) (test_native_press.py:")


def test_sums_over_operations_unless_set(bench: Any) -> None:
    def iterate(op: Op) -> None:
        for size in (10, 20):
            with op("read") as read:
                read.bytes += size
                read.calls = 2
        assert (op.bytes, op.calls) == (30, 4)
        if op.number == 1:
            op.bytes = 7
        if op.number == 2:
            op.calls += 1
        op.finish(0)

    drive(bench.press(kind="times", times=3), iterate)
    rows = bench.table().named("iteration")
    assert rows["bytes"].tolist() == [30, 7, 30]
    assert rows["calls"].tolist() == [4, 4, 5]


@pytest.mark.parametrize("value", [-1, 1.5, "many", 2**64, None])
def test_a_wrong_number_is_refused(bench: Any, value: Any) -> None:
    op = next_op(bench.press(kind="once"))
    for thing in (op, op("read")):
        with pytest.raises(ValueError, match=r"bytes is .*; expected a whole number from 0 \("):
            thing.bytes = value
        with pytest.raises(ValueError, match=r"calls is .*; expected a whole number from 0 \("):
            thing.calls = value
    op.finish(0)


def next_op(press: Any) -> Op:
    op = press.seat(press.spawn()).next()
    assert op is not None
    return op


def test_an_iteration_ends_once(bench: Any) -> None:
    press = bench.press(kind="once")
    op = next_op(press)
    op.finish(0)
    op.finish(1, "late")
    with pytest.raises(RuntimeError, match=r"operation \"late\" begins after .*; expected .*\("):
        op("late")
    assert bench.table().rows["outcome"].tolist() == [0]


def test_an_operation_begins_once_and_not_without_a_name(bench: Any) -> None:
    op = next_op(bench.press(kind="once"))
    once = op("read")
    with once:
        pass
    with pytest.raises(RuntimeError, match="begins twice"), once:
        pass
    with pytest.raises(ValueError, match=r"empty name; expected a word"):
        op("")
    with pytest.raises(ValueError, match=r"outcome 9 is unknown; expected 0 \(passed\) to 5"):
        op.finish(9)
    op.finish(0)
    assert len(bench.table().named("read")) == 1


def test_a_test_that_says_nothing_has_passed(bench: Any) -> None:
    drive(bench.press(kind="times", times=3), lambda op: None)
    assert bench.table().rows["outcome"].tolist() == [0, 0, 0]


def test_stopping_at_once_records_what_hangs_as_unfinished(bench: Any) -> None:
    press = bench.press(kind="closed", clients=1, for_=3600 * 10**9)
    begun, let_go, seen = threading.Event(), threading.Event(), []

    def hang(op: Op) -> None:
        with op("wait"):
            begun.set()
            let_go.wait(20)
        seen.append(op)
        op.finish(0)

    server = threading.Thread(target=drive, args=(press, hang), daemon=True)
    server.start()
    assert begun.wait(10)
    press.stop(True)
    assert press.wait(10)
    assert press.over
    assert press.ending == ("stopped", "stopped")
    let_go.set()
    server.join(10)
    assert not server.is_alive()
    with pytest.raises(RuntimeError, match="after its iteration has ended"):
        seen[0]("more")
    table = bench.table()
    assert table.text("operation") == ["iteration"]
    assert table.rows["outcome"].tolist() == [Outcome.UNFINISHED]


def test_stopping_gently_lets_the_iteration_end(bench: Any) -> None:
    press = bench.press(kind="closed", clients=2, for_=3600 * 10**9)

    def iterate(op: Op) -> None:
        press.stop(False)
        op.finish(0)

    drive(press, iterate)
    assert press.ending == ("stopped", "stopped")
    rows = bench.table().rows
    assert 1 <= len(rows) <= 2
    assert set(rows["outcome"]) == {0}


def test_many_errors_in_a_row_end_the_load(bench: Any) -> None:
    press = bench.press(kind="times", times=1000, errors_in_a_row=5)
    drive(press, lambda op: op.finish(0 if op.number % 5 == 0 and op.number < 20 else 1, "broken"))
    assert press.ending == ("limit", "5 errors in a row")
    rows = bench.table().rows
    assert rows["outcome"][-5:].tolist() == [1] * 5
    assert len(rows) < 30


def test_a_limit_of_operations_ends_the_load(bench: Any) -> None:
    press = bench.press(kind="times", times=1000, operations=20)
    drive(press, passing)
    assert press.ending == ("limit", "20 operations")
    assert len(bench.table().rows) == 20


def test_frames_add_up_to_the_rows(bench: Any) -> None:
    press = bench.press(kind="times", times=200, clients=2)
    frames = [press.frame()]

    def iterate(op: Op) -> None:
        with op("read") as read:
            read.bytes = 5
        op.finish(int(op.number % 3 == 0), "x" * (op.number % 3 == 0))
        if op.number % 50 == 0:
            frames.append(press.frame())

    drive(press, iterate)
    frames.append(press.frame())
    frames.append(press.frame())
    assert frames[-1]["rows"] == [] and frames[-1]["started"] == frames[-1]["in_flight"] == 0
    assert sum(frame["started"] for frame in frames) == 200
    late, service = Histogram(), Histogram()
    for frame in frames:
        late.merge(frame["late"])
        for row in frame["rows"]:
            service.merge(row["service"] if row["iteration"] else b"")
    table = bench.table()
    iterations = table.named("iteration")
    passed = iterations[iterations["outcome"] == 0]
    assert (late.count, service.count) == (200, len(passed))
    took = passed["end"] - passed["start"]
    assert took.max() <= service.max <= took.max() * 1.001
    sums: dict[tuple[str, bool], int] = {}
    for row in (row for frame in frames for row in frame["rows"]):
        key = (row["operation"], row["iteration"])
        sums[key] = sums.get(key, 0) + row["bytes"]
        assert row["phase"] == 3
    assert sums == {("iteration", True): 1000, ("read", False): 1000}


@pytest.mark.parametrize("timeout", [-1.0, float("nan"), float("inf")])
def test_a_wrong_timeout_is_refused(bench: Any, timeout: float) -> None:
    with pytest.raises(ValueError, match=r"is not a time; expected seconds from 0 \("):
        bench.press(kind="once").wait(timeout)


@pytest.mark.parametrize("wrong", ["", "{}", "[]", '{"kind": "often"}'])
def test_a_wrong_load_is_refused(bench: Any, wrong: str) -> None:
    from pileup._core._native import Press

    with pytest.raises(ValueError, match="expected"):
        Press(bench.recorder, wrong)
