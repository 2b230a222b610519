"""What clients ask the coordinator of their load, at the place in this process and at places in others: one by one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pileup.fleet import Fleet, Order, Pressing, Work
from pileup.fleet.launch import process
from pileup.fleet.opening import Opener
from pileup.fleet.place import LocalPlace
from pileup.fleet.python.capture import routed
from pileup.model.loads.load import Load
from pileup.model.record import Frame
from pileup.plugin import Context, Test
from pileup.plugin.userfile import load_class
from pileup.record import RunFolder
from pileup.suite import load
from tests.manifests import run_of
from tests.pressing import counts

SECOND = 10**9
SUITE = """
pileup: 1
title: t
tests: [{name: case, use: ./own.py:CLASS}]
"""
OWN = '''
"""Tests whose clients ask."""
import os, signal, time
from pileup.plugin import Coordinator, Reply, Test


class Numbers(Coordinator):
    """Gives each number once, then waits until nobody works; the last ask gets the sum of all squares."""

    def __init__(self, clients):
        self.left, self.out, self.sum, self.waiting, self.gone = list(range(300)), {}, 0, [], set()
        self.clients, self.told = clients, []

    def take(self, asks, now):
        for ask in asks:
            done = self.out.pop(ask.client, None)
            if done is not None:
                assert ask.told["square"] == done**2 and ask.blob == b"x" * done, (ask, done)
                self.sum += done**2
            self.waiting.append(ask.client)
        yield from self.given()

    def leave(self, clients, lost, now):
        for client in clients:
            self.gone.add(client)
            self.told.append((client, lost))
            if (number := self.out.pop(client, None)) is not None:
                self.left.append(number)
        yield from self.given()

    def given(self):
        while self.waiting and self.left:
            client, number = self.waiting.pop(), self.left.pop()
            self.out[client] = number
            yield Reply(client, {"number": number})
        if not self.left and not self.out:
            yield from (Reply(client, {"sum": self.sum}) for client in self.waiting)
            self.waiting.clear()


class Squares(Test):
    """Squares numbers; place 1 may die of one below 250."""

    def coordinator(self):
        return Numbers(4)

    def setup(self):
        self.answer_ = None

    def run(self, op):
        answer = self.ask({})
        while "number" in answer:
            number = answer["number"]
            time.sleep(0.001)  # the numbers are for all
            if number < 250 and self.context.place == 1 and "DIE" in os.environ:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = self.ask({"square": number**2}, b"x" * number)
        self.expect(answer["sum"] == sum(number**2 for number in range(300)), f"not {answer}")


class Later(Squares):
    """The same, async."""

    async def run(self, op):
        answer = await self.ask_async({})
        while "number" in answer:
            number = answer["number"]
            answer = await self.ask_async({"square": number**2}, b"x" * number)
        self.expect(answer["sum"] == sum(number**2 for number in range(300)), f"not {answer}")


class Broken(Squares):
    """Its coordinator fails."""

    def coordinator(self):
        return None if self.context.load is None else Fails()

    def run(self, op):
        self.ask({"number": 1})


class Fails(Coordinator):
    """Raises."""

    def take(self, asks, now):
        raise KeyError("number")


class Slow(Coordinator):
    """Answers by the clock, one client after another."""

    def __init__(self):
        self.waiting = []

    def take(self, asks, now):
        self.waiting += [ask.client for ask in asks]
        self.wake = self.wake or now + 20_000_000
        return ()

    def tick(self, now):
        self.wake = now + 20_000_000 if len(self.waiting) > 1 else None
        return [Reply(self.waiting.pop(0), {})]


class Waits(Squares):
    """Is answered later."""

    def coordinator(self):
        return Slow()

    def run(self, op):
        self.ask({})


class Silent(Squares):
    """Asks in `setup`; the coordinator never answers."""

    def coordinator(self):
        return Never()

    def run(self, op):
        self.ask({})


class Never(Coordinator):
    """Does not answer."""

    def take(self, asks, now):
        return ()
'''


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder.create(tmp_path / "runs", "t", 0)
    folder.save(run_of({"title": "t", "cases": [{"id": 1, "name": "case", "test": "case"}]}))
    yield folder
    folder.close()


Open = Callable[[str], tuple[Fleet, Work]]


@pytest.fixture(params=["here", "processes"])
def opened(request: pytest.FixtureRequest, folder: RunFolder, tmp_path: Path) -> Iterator[Open]:
    made: list[Fleet] = []

    def open_(name: str) -> tuple[Fleet, Work]:
        (tmp_path / "suite.yaml").write_text(SUITE.replace("CLASS", name))
        (tmp_path / "own.py").write_text(OWN)
        cls = load_class(Test, f"./own.py:{name}", tmp_path)
        if request.param == "here":
            made.append(Fleet([LocalPlace(0, folder.operations_path(0))]))
        else:
            opener = Opener(folder, (load(tmp_path / "suite.yaml", {}), {}, {}), {})
            made.append(Fleet(opener.open([(number, process(number)) for number in (1, 2)])))

        def make(client: int) -> Any:
            return cls(None, Context(client=client, load=LOAD))

        work = Work(make, coroutine=name == "Later", coordinator=lambda: make(0).coordinator())
        return made[-1], work

    with routed():
        yield open_
    for fleet in made:
        fleet.close()


LOAD = Load(clients=4, times=4)


def pressed(fleet: Fleet, work: Work, folder: RunFolder, within: float = 20) -> tuple[Pressing, list[Frame]]:
    pressing = fleet.press(Order(1, "case", LOAD, 5 * SECOND, seed=1), work, folder.output("case"))
    over = pressing.wait(within)
    if not over:
        pressing.stop(at_once=True)
        assert pressing.wait(within)
    frames = pressing.frames()
    pressing.close()
    return pressing, frames


@pytest.mark.parametrize("name", ["Squares", "Later"])
def test_every_number_is_handed_out_once(opened: Open, folder: RunFolder, name: str) -> None:
    _, frames = pressed(*opened(name), folder)
    assert counts(frames)["passed"] == 4


def test_answers_may_come_late_by_the_clock(opened: Open, folder: RunFolder) -> None:
    _, frames = pressed(*opened("Waits"), folder)
    assert counts(frames)["passed"] == 4


def test_a_coordinator_that_raises_fails_who_asked(opened: Open, folder: RunFolder) -> None:
    fleet, work = opened("Broken")
    _, frames = pressed(fleet, work, folder)
    fleet.flush()
    assert counts(frames)["failed"] == 4
    errors = folder.operations().connect().sql("select distinct error from operations where parent = 0").fetchall()
    assert [error.partition(";")[0] for (error,) in errors] == [
        "the coordinator of the test gave no answer: KeyError: 'number'"
    ]


def test_who_gets_no_answer_is_unfinished_at_the_end(opened: Open, folder: RunFolder) -> None:
    _, frames = pressed(*opened("Silent"), folder, within=0.5)
    assert counts(frames)["unfinished"] == 4


def test_what_a_killed_place_held_goes_to_others(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("CLASS", "Squares"))
    (tmp_path / "own.py").write_text(OWN)
    cls = load_class(Test, "./own.py:Squares", tmp_path)
    opener = Opener(folder, (load(tmp_path / "suite.yaml", {}), {}, {}), {})
    monkeypatch.setenv("DIE", "1")
    fleet = Fleet(opener.open([(number, process(number)) for number in (1, 2)]))
    coordinator = cls(None).coordinator()
    work = Work(cls, coordinator=lambda: coordinator)
    try:
        _, frames = pressed(fleet, work, folder)
    finally:
        fleet.close()
    found = counts(frames)
    assert found["passed"] == 2, "the clients of the other place got all that was left"
    assert [client for client, lost in coordinator.told if lost] == [0, 2], "the clients of place 1 were lost"
