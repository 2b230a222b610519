"""What a Python test may do, and what is reported about it: async set-up, lines, tracebacks, hangs, a debugger."""

from __future__ import annotations

import asyncio
import pdb
import re
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pileup.model.ending import EndingKind
from pileup.model.loads.load import Load
from pileup.model.record import Outcome
from pileup.plugin import Op, Target, Test
from pileup.plugin.registry import load
from pileup.record import RunFolder
from tests.pressing import SECOND, counts, press

HERE = Path(__file__).name


def line_of(text: str) -> int:
    """Return the line of this file that ends with a comment."""
    lines = Path(__file__).read_text().splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if line.endswith(f"  # {text}"))
    return found


def errors(folder: RunFolder) -> dict[str, set[tuple[str, str]]]:
    """Return operation -> outcomes with messages."""
    rows = folder.operations().connect().sql("select operation, outcome, error from operations").fetchall()
    names = {row[0] for row in rows}
    return {name: {(str(row[1]), row[2] or "") for row in rows if row[0] == name} for name in names}


def written(folder: RunFolder, stream: str) -> str:
    """Return what is kept of a stream of the case."""
    return folder.outputs().get(f"output/case/{stream}.txt", "")


class Session(Test):
    """Connects on the loop that its iterations run on, as clients of async libraries must."""

    loops: ClassVar[dict[int, list[object]]] = {}

    async def setup(self) -> None:
        await asyncio.sleep(0.001)
        self._seen = self.loops[self.context.client] = [asyncio.get_running_loop()]

    async def run(self, op: Op) -> None:
        async with op("ask", "it") as asking:
            await asyncio.sleep(0)
            asking.bytes, asking.calls = 7, 2
            asking.first_byte()
        self._seen.append(asyncio.get_running_loop())

    async def teardown(self) -> None:
        await asyncio.sleep(0.001)
        self._seen.append(asyncio.get_running_loop())


@pytest.mark.parametrize("load", [{"clients": 3, "times": 30}, {"rate": 300, "for": "100 ms"}], ids=["closed", "open"])
def test_p1_async_setup_and_teardown_are_awaited_on_the_loop_of_the_test(
    folder: RunFolder, load: dict[str, Any]
) -> None:
    Session.loops.clear()
    pressing, frames = press(folder, Session, Load.model_validate(load))
    assert not pressing.ending.early
    assert counts(frames)["passed"] == 30
    assert {len(set(seen)) for seen in Session.loops.values()} == {1}, "one loop for all that a client does"
    assert sum(len(seen) - 2 for seen in Session.loops.values()) == 30, "each was set up and torn down"
    rows = (
        folder.operations()
        .connect()
        .sql("select count(*), min(bytes), max(calls), min(first_byte - start) from operations where operation = 'ask'")
    )
    number, moved, calls, first = rows.fetchall()[0]
    assert (number, moved, calls) == (30, 7, 2)
    assert first >= 0


class NoSession(Test):
    """Cannot connect."""

    async def setup(self) -> None:
        await asyncio.sleep(0)
        raise ConnectionError("no server")  # setup

    async def run(self, op: Op) -> None:
        raise AssertionError("never reached")


def test_p1_an_async_setup_that_fails_ends_the_load_with_its_line(folder: RunFolder) -> None:
    pressing, frames = press(folder, NoSession, Load.model_validate({"clients": 4, "for": "60 s"}))
    assert pressing.ending.kind is EndingKind.SET_UP_FAILED
    assert str(pressing.ending) == f"set-up failed: ConnectionError: no server ({HERE}:{line_of('setup')})"
    assert counts(frames)["passed"] == 0
    assert 'raise ConnectionError("no server")' in written(folder, "tracebacks")


class NoGoodbye(Session):
    """Cannot disconnect."""

    async def teardown(self) -> None:
        await asyncio.sleep(0)
        raise ConnectionError("gone")


def test_p1_an_async_teardown_that_fails_is_told(folder: RunFolder) -> None:
    press(folder, NoGoodbye, Load())
    assert "ConnectionError: gone" in written(folder, "stderr")


def broken(op: Op, number: int) -> None:
    """Fail inside of an operation, at the same line each time."""
    with op("look"):
        {}[number]  # inside


class Careless(Test):
    """Makes the same mistake in each iteration."""

    def run(self, op: Op) -> None:
        broken(op, 7)  # caller


class CarelessLater(Test):
    """The same, async."""

    async def run(self, op: Op) -> None:
        async with op("look"):
            await asyncio.sleep(0)
            {}[7]  # inside, later


@pytest.mark.parametrize(("cls", "where"), [(Careless, "inside"), (CarelessLater, "inside, later")])
def test_p2_the_line_is_told_inside_of_an_operation_too(folder: RunFolder, cls: type[Test], where: str) -> None:
    press(folder, cls, Load(times=10))
    told = {("failed", f"KeyError: 7 ({HERE}:{line_of(where)})")}
    assert errors(folder) == {"iteration": told, "look": told}


def test_p2_the_first_tracebacks_of_a_place_are_kept_whole_and_the_others_counted(folder: RunFolder) -> None:
    press(folder, Careless, Load(clients=2, times=10))
    text = written(folder, "tracebacks")
    assert text.count("Traceback (most recent call last):") == 3
    assert len(re.findall(r"^--- iteration \d, client [01] ---$", text, re.MULTILINE)) == 3
    first = text.split("--- iteration")[1]
    assert f"line {line_of('caller')}, in run" in first
    assert f"line {line_of('inside')}, in broken" in first
    assert "threads.py" not in first, "what is pileup's own says nothing"
    assert text.rstrip().endswith(f"7 more KeyError at {HERE}:{line_of('inside')}")


def test_p3_an_assert_tells_line_and_values(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pileup.plugin import Test\n"
        "class Mine(Test):\n"
        "    def size(self, name):\n"
        "        return len(name)\n"
        "    def run(self, op):\n"
        "        with op('count'):\n"
        "            assert self.size('abc') == 4\n"
    )
    press(folder, load("tests", "./mine.py:Mine", tmp_path), Load())
    told = {("failed", "assert self.size('abc') == 4, where self.size('abc') = 3 (mine.py:7)")}
    assert errors(folder) == {"iteration": told, "count": told}


GATE = threading.Event()


class Stuck(Test):
    """Hangs in an operation, after another one has ended."""

    def run(self, op: Op) -> None:
        with op("connect"):
            pass
        with op("transfer"), op("wait for the end"):
            GATE.wait(20)  # hang


class StuckLater(Test):
    """The same, async: the operations of others that run beside it have ended."""

    async def run(self, op: Op) -> None:
        await asyncio.gather(self._ask(op, 0), self._ask(op, 0.001))
        async with op("transfer"):
            await self._answer()

    async def _ask(self, op: Op, seconds: float) -> None:
        async with op("connect"):
            await asyncio.sleep(seconds)

    async def _answer(self) -> None:
        await asyncio.sleep(20)  # hang, later


def test_p5_a_thread_that_hangs_is_named_with_operation_line_and_stack(folder: RunFolder) -> None:
    _, frames = press(folder, Stuck, Load(), timeout=SECOND // 5)
    GATE.set()
    assert counts(frames)["unfinished"] == 1
    place = f"{HERE}:{line_of('hang')}"
    assert errors(folder)["iteration"] == {("unfinished", f"still going at the end, in 'wait for the end' ({place})")}
    text = written(folder, "tracebacks")
    assert f"line {line_of('hang')}, in run" in text
    assert "GATE.wait(20)" in text
    assert "in wait" in text, "the stack goes down to what it waits in"


def test_p5_a_task_that_hangs_is_named_with_operation_line_and_stack(folder: RunFolder) -> None:
    _, frames = press(folder, StuckLater, Load(), timeout=SECOND // 5)
    assert counts(frames)["ambiguous"] == 1
    place = f"{HERE}:{line_of('hang, later')}"
    assert errors(folder)["iteration"] == {("ambiguous", f"no answer within 200 ms, in 'transfer' ({place})")}
    text = written(folder, "tracebacks")
    assert "in run" in text
    assert f"line {line_of('hang, later')}, in _answer" in text


@pytest.mark.parametrize("cls", [Stuck, StuckLater])
def test_p5_so_is_one_that_is_given_up_when_the_run_is_stopped(folder: RunFolder, cls: type[Test]) -> None:
    from pileup.fleet import Fleet, Order, Work
    from pileup.fleet.place import LocalPlace

    GATE.clear()
    place = Fleet([LocalPlace(0, folder.operations_path(0))])
    work = Work(lambda _client: cls(), coroutine=cls is StuckLater)
    pressing = place.press(Order(1, "case", Load(), 20 * SECOND, seed=1), work, folder.output("case"))
    assert not pressing.wait(0.3)
    pressing.stop(at_once=True)
    assert pressing.wait(5)
    GATE.set()
    pressing.close()
    place.close()
    (found,) = errors(folder)["iteration"]
    assert found[0] == "unfinished"
    assert found[1].startswith("still going at the end, in ")
    assert HERE in found[1]


class SlowSession(Session):
    """Connects for ever."""

    async def setup(self) -> None:
        await asyncio.sleep(20)  # set-up hangs


def test_p5_a_set_up_that_hangs_is_told_with_its_line(folder: RunFolder) -> None:
    press(folder, SlowSession, Load(), timeout=SECOND // 5)
    told = [event.text for event in folder.events()]
    place = f"{HERE}:{line_of('set-up hangs')}"
    assert f"case: setup of client 0: still going at the end ({place})" in told
    assert f"line {line_of('set-up hangs')}, in setup" in written(folder, "tracebacks")


class Debugged(Test):
    """Stops at a breakpoint."""

    def run(self, op: Op) -> None:
        breakpoint()  # stop


class DebuggedByPdb(Test):
    """Asks for the debugger by its name."""

    def run(self, op: Op) -> None:
        pdb.Pdb().set_trace()  # as pdb.set_trace(), which pytest has its own of


@pytest.mark.parametrize(
    ("cls", "said"),
    [(Debugged, f"breakpoint() at {HERE}:"), (DebuggedByPdb, "the test reads its standard input")],
)
def test_p5_a_debugger_is_refused_in_a_run(folder: RunFolder, cls: type[Test], said: str) -> None:
    _, frames = press(folder, cls, Load(), timeout=2 * SECOND)
    assert counts(frames)["failed"] == 1
    (found,) = errors(folder)["iteration"]
    assert found[1].startswith(said)
    assert found[1].endswith("; expected none: a run has no debugger (to debug it: `pileup try SUITE TEST --pdb`)"), (
        found
    )


class Talks(Test):
    """Prints all its life."""

    def setup(self) -> None:
        print("hello")

    def run(self, op: Op) -> None:
        print("at work")

    def teardown(self) -> None:
        print("goodbye")


class TalksLater(Talks):
    """The same, async."""

    async def setup(self) -> None:
        await asyncio.sleep(0)
        super().setup()

    async def run(self, op: Op) -> None:  # type: ignore[override]
        super().run(op)

    async def teardown(self) -> None:
        await asyncio.sleep(0)
        super().teardown()


@pytest.mark.parametrize("cls", [Talks, TalksLater])
def test_p8_what_setup_and_teardown_print_is_in_the_record(
    folder: RunFolder, cls: type[Test], capsys: pytest.CaptureFixture[str]
) -> None:
    press(folder, cls, Load())
    said = ("setup of client 0", "hello"), ("iteration 0, client 0", "at work"), ("teardown of client 0", "goodbye")
    assert written(folder, "stdout") == "".join(f"--- {title} ---\n{text}\n" for title, text in said)
    assert capsys.readouterr().out == ""


class MaxClientsError(Exception):
    """As a client library raises it."""


class Lost(Exception):
    """The same, without an answer."""


class Busy(Target):
    """Says what the exceptions of its library mean."""

    kind = "busy"
    refused = (MaxClientsError,)
    ambiguous = (Lost,)

    def outcome_of(self, problem: BaseException) -> Outcome | None:
        return Outcome.REFUSED if "quota" in str(problem) else None


class Asks(Test):
    """Meets each of them in turn, inside of an operation."""

    def run(self, op: Op) -> None:
        problems = MaxClientsError("full"), Lost("gone"), OSError("over quota"), OSError("broken")
        with op("ask"):
            raise problems[op.number % 4]  # ask


class AsksLater(Asks):
    """The same, async."""

    async def run(self, op: Op) -> None:  # type: ignore[override]
        super().run(op)


@pytest.mark.parametrize("cls", [Asks, AsksLater])
def test_a_target_says_once_what_exceptions_mean(folder: RunFolder, cls: type[Test]) -> None:
    press(folder, cls, Load(times=4), target=Busy())
    place = f"({HERE}:{line_of('ask')})"
    told = {
        ("refused", f"MaxClientsError: full {place}"),
        ("ambiguous", f"Lost: gone {place}"),
        ("refused", f"OSError: over quota {place}"),
        ("failed", f"OSError: broken {place}"),
    }
    assert errors(folder) == {"ask": told, "iteration": told}
