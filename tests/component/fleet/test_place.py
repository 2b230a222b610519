"""Python tests pressed at the local place: outcomes, output, set-up, time-outs, numbers; plain and async alike."""

import asyncio
import threading
import time
from typing import Any, ClassVar

import pytest

from pileup.fleet import Fleet, Order, Work
from pileup.fleet.place import LocalPlace
from pileup.model.ending import EndingKind
from pileup.model.loads.load import Load
from pileup.plugin import Ambiguous, Context, Op, Refused, Test
from pileup.record import RunFolder
from tests.pressing import SECOND, counts, press


class Plain(Test):
    """Every class of outcome in turn."""

    def run(self, op: Op) -> Any:
        match op.number % 5:
            case 0:
                self.report("turn", op.number)
                self.claim(f"{self.stamp}-{op.number}", str(op.number))
            case 1:
                self.expect(False, "wrong answer")
            case 2:
                raise Refused("go away")
            case 3:
                raise Ambiguous("silence")
        return op.number % 5 != 4


class Later(Plain):
    """The same, async."""

    async def run(self, op: Op) -> Any:
        await asyncio.sleep(0)
        return super().run(op)


class Empty(Plain):
    """The same, of a class with a length."""

    def __len__(self) -> int:
        return 0


class EmptyLater(Empty, Later):
    """The same, async."""


class Hangs(Test):
    """Never comes back by itself."""

    gate: ClassVar[threading.Event] = threading.Event()

    def run(self, op: Op) -> None:
        self.gate.wait(20)


class HangsLater(Test):
    """The same, async: it is cut off by its timeout."""

    async def run(self, op: Op) -> None:
        await asyncio.sleep(20)


class BadSetUp(Test):
    """Cannot begin."""

    def setup(self) -> None:
        raise OSError("no disk")

    def run(self, op: Op) -> None:
        raise AssertionError("never reached")


class SlowSetUp(Test):
    """Takes long to connect, then answers at once."""

    def setup(self) -> None:
        time.sleep(0.3)

    def run(self, op: Op) -> None:
        pass


class SlowSetUpLater(SlowSetUp):
    """The same, async."""

    async def run(self, op: Op) -> None:  # type: ignore[override]
        pass


@pytest.mark.parametrize("cls", [Plain, Later, Empty, EmptyLater])
def test_every_outcome_is_counted_in_its_class(folder: RunFolder, cls: type[Test]) -> None:
    pressing, frames = press(folder, cls, Load(clients=3, times=50))
    assert counts(frames) == {"passed": 10, "failed": 20, "refused": 10, "ambiguous": 10, "unfinished": 0}
    assert sorted(each.value for each in pressing.reported() if each.metric == "turn") == list(range(0, 50, 5))
    assert sum(frame.started for frame in frames) == 50
    claimed = pressing.claimed()
    assert sorted(int(id_) for _, _, id_, what in claimed if what == "job") == list(range(0, 50, 5))
    assert {name.partition("-")[0] for _, name, _, _ in claimed} == {"abc"}, "all clients have the stamp of the order"


def test_what_failed_has_its_message_in_the_record(folder: RunFolder) -> None:
    press(folder, Plain, Load(times=5))
    rows = folder.operations().connect().sql("select error from operations order by intended").fetchall()
    assert [row[0] or "" for row in rows] == [
        "",
        "wrong answer",
        "go away",
        "silence",
        "the test returned False; expected nothing, or an exception that says what failed",
    ]


@pytest.mark.parametrize("cls", [Plain, Later])
def test_an_open_load_begins_all_that_is_due(folder: RunFolder, cls: type[Test]) -> None:
    _, frames = press(folder, cls, Load.model_validate({"rate": 500, "for": SECOND // 5}))
    assert sum(counts(frames).values()) + sum(frame.missed for frame in frames) == 100


@pytest.mark.parametrize("cls", [SlowSetUp, SlowSetUpLater])
def test_d10_an_open_load_sets_its_first_clients_up_before_it_begins(folder: RunFolder, cls: type[Test]) -> None:
    """Else each start that is due while the first one connects would take another client: 15 of them, and late."""
    _, frames = press(folder, cls, Load.model_validate({"rate": 50, "for": SECOND}))
    assert counts(frames)["passed"] == 50
    (found,) = (
        folder.operations()
        .connect()
        .sql("select min(client), max(client), max(start) - min(start) from operations")
        .fetchall()
    )
    assert (found[0], found[1] < 3) == (0, True), found
    assert found[2] > 0.8 * SECOND, "they began when they were due, not in a bunch"


def test_d10_a_stop_does_not_wait_for_clients_that_are_set_up(folder: RunFolder) -> None:
    place = Fleet([LocalPlace(0, folder.operations_path(0))])
    held = threading.Event()

    class Held(Hangs):
        def setup(self) -> None:
            held.wait(20)

    order = Order(1, "case", Load.model_validate({"rate": 50, "for": 60 * SECOND}), 15 * SECOND, seed=1)
    pressing = place.press(order, Work(lambda client: Held(None, Context(client=client))), folder.output("case"))
    pressing.stop()
    assert pressing.wait(5), "it is over"
    held.set()
    pressing.close()
    place.close()


def test_a_thread_that_hangs_is_given_up_as_unfinished(folder: RunFolder) -> None:
    _, frames = press(folder, Hangs, Load(), timeout=SECOND // 5)
    Hangs.gate.set()
    assert counts(frames)["unfinished"] == 1


def test_a_task_that_hangs_is_cut_off_as_ambiguous(folder: RunFolder) -> None:
    _, frames = press(folder, HangsLater, Load(times=2), timeout=SECOND // 5)
    assert counts(frames)["ambiguous"] == 2


def test_a_set_up_that_fails_ends_the_load_and_is_told(folder: RunFolder) -> None:
    pressing, frames = press(folder, BadSetUp, Load.model_validate({"clients": 4, "for": 60 * SECOND}))
    assert pressing.ending.kind is EndingKind.SET_UP_FAILED
    assert str(pressing.ending).startswith("set-up failed: OSError: no disk (test_place.py:")
    assert counts(frames)["passed"] == 0
