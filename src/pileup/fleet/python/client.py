"""One client of a Python test: makes the test, brackets each iteration, turns what it raises into an outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from pileup._core._native import Op, Press, now
from pileup.fleet.artefacts import ArtefactFolder
from pileup.fleet.asking import Asking
from pileup.fleet.inflight_file import InflightIteration, InflightWriter
from pileup.fleet.order import Order
from pileup.fleet.program_runner import ProgramTest
from pileup.fleet.python.capture import Capture
from pileup.fleet.python.stacks import Stack, hung
from pileup.fleet.python.tracebacks import Tracebacks
from pileup.fleet.sessions import make_sessions
from pileup.model.ending import FINISHED, Ending, EndingKind
from pileup.model.errors import VerdictException
from pileup.model.record import Claimed, Outcome, Sample
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import Judge, Verdict

STILL_GOING = "still going at the end"
PASSED = Outcome.PASSED
"""Looked up once: a member of an enumeration takes longer to find than much of what is done for an iteration."""


AT_ONCE = frozenset({"request", "released"})
"""Claims that are in the record before the test goes on: no system can be asked for them by name."""


class Sink(Protocol):
    """Where the output of a case goes: a record.Output, or a wire to one."""

    def append(self, stream: str, title: str, text: str) -> None:
        """Append one block to `stream` ("stdout", "stderr" or "tracebacks")."""

    def note(self, text: str) -> None:
        """Note what went wrong beside the iterations; each text counts once."""

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Append to a file that a test has left at a place; `first` begins it."""

    def claim(self, claims: Sequence[Claimed]) -> None:
        """Bring submissions into the record at once. Raises RecordError when the disk refuses."""


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What all clients of a load share."""

    order: Order
    output: Sink
    ledger: Any = None
    """Where tests end what they have begun in earlier iterations; None when the engine has none."""
    board: InflightWriter | None = None
    """Where iterations under way are noted, for a process that may vanish."""
    place: int = 0
    place_name: str = ""
    artefacts: ArtefactFolder = field(default_factory=ArtefactFolder)
    """Where tests leave files."""
    asking: Asking | None = None
    """What clients ask the coordinator of the load; None where there is none."""


class Reported(NamedTuple):
    """A number that a test reported."""

    time: int
    """ns since the epoch."""
    metric: str
    value: float
    unit: str
    labels: str
    iteration: int
    """Its number over the whole case; -1 outside of one."""


class ReportedValues:
    """Collects, from any thread, the numbers that tests report."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: list[Reported] = []

    def add(self, sample: Sample, iteration: int) -> None:
        """Keep one number with the time of now."""
        found = Reported(now(), sample.metric, sample.value, sample.unit, sample.labels, iteration)
        with self._lock:
            self._samples.append(found)

    def take(self) -> list[Reported]:
        """Return what came since the last call."""
        with self._lock:
            taken, self._samples = self._samples, []
        return taken


class SubmissionClaims:
    """Collects, from any thread, the submissions that tests claim, until they are taken each second."""

    def __init__(self, output: Sink) -> None:
        self._lock = threading.Lock()
        self._claims: list[Claimed] = []
        self._output = output

    def add(self, name: str, id: str, what: str) -> None:
        """Keep one with the time of now; those of AT_ONCE go on right away."""
        claim = (now(), name, id, what)
        if what in AT_ONCE:
            self._output.claim([claim])
            return
        with self._lock:
            self._claims.append(claim)

    def take(self) -> list[Claimed]:
        """Return what came since the last call."""
        with self._lock:
            taken, self._claims = self._claims, []
        return taken


class PythonExecutor:
    """What threads and tasks share: the press they pull from, and the test made for each client."""

    def __init__(self, press: Press, desk: LoadContext, make: Callable[[int], Test]) -> None:
        self.press = press
        self.desk = desk
        self.ending = FINISHED
        """The error in the set-up of a client; finished if there was none."""
        self.judge = Judge()
        """The outcomes of exceptions: pileup's own until the first test is made, then also those of its targets."""
        self.tracebacks = Tracebacks(desk.output)
        self.setting_up: dict[int, Callable[[], Stack]] = {}
        """Client that is being set up -> what says where it is."""
        self._make = make
        self._numbers = ReportedValues()
        self._claims = SubmissionClaims(desk.output)

    def start(self) -> None:
        """Begin to serve the clients."""
        raise NotImplementedError

    def give_up(self) -> None:
        """End every iteration under way as unfinished, and say where it hangs. From any thread."""
        for op, stack in self.under_way():
            where = hung(op.operation, stack, self.judge.is_users)
            if op.finish(int(Outcome.UNFINISHED), STILL_GOING + where):
                self.hangs(op, STILL_GOING, op.operation, stack)
        for client, where_is in list(self.setting_up.items()):
            stack = where_is()
            self.tracebacks.keep_stack(f"setup of client {client}", STILL_GOING, stack, self.judge)
            self.desk.output.note(f"setup of client {client}: {STILL_GOING}{hung(None, stack, self.judge.is_users)}")

    def under_way(self) -> Iterator[tuple[Op, Stack]]:
        """Yield the iterations under way, with where they are; some may have ended just now."""
        raise NotImplementedError

    def close(self) -> None:
        """Wait a moment for clients that have nothing to do any more."""
        raise NotImplementedError

    def reported(self) -> list[Reported]:
        """Return the numbers reported since the last call."""
        return self._numbers.take()

    def claimed(self) -> list[Claimed]:
        """Return the submissions claimed since the last call: (ns since the epoch, name, id, what)."""
        return self._claims.take()

    def made(self, client: int) -> Test:
        """Make the test of a client, to be set up next. Raises whatever goes wrong in it."""
        test, desk = self._make(client), self.desk
        keep_in = desk.artefacts.path
        test.context = replace(test.context, place=desk.place, place_name=desk.place_name, keep_in=keep_in)
        test.reporter, test.claimer = self._numbers.add, self._claims.add
        test.stamp = desk.order.stamp or test.stamp
        test.engine_sessions = make_sessions
        test.asker = None if desk.asking is None else desk.asking.of(client)
        test.ledger = desk.ledger  # type: ignore[attr-defined,unused-ignore]
        self.judge = Judge(test)
        self.press.judge_by(self.judge)
        return test

    def left(self, client: int) -> None:
        """Say that a client does nothing more."""
        if self.desk.asking is not None:
            self.desk.asking.leave(client)

    def set_up_failed(self, client: int, problem: BaseException) -> None:
        """End the load: a client cannot be made or set up."""
        self.tracebacks.keep(f"setup of client {client}", problem, self.judge)
        self.ending = Ending(EndingKind.SET_UP_FAILED, self.judge(problem)[1])
        self.press.stop(False)

    def tear_down_failed(self, client: int, problem: BaseException) -> None:
        """Report an error in teardown: as an event, and in the case's stderr for each client."""
        told = self.judge(problem)[1]
        self.tracebacks.keep(f"teardown of client {client}", problem, self.judge)
        self.desk.output.append("stderr", f"teardown of client {client}", f"{told}\n")
        self.desk.output.note(f"teardown failed: {told}")

    def failed(self, op: Op, problem: BaseException) -> Verdict:
        """Return what an exception that ended an iteration means, and keep its traceback."""
        self.tracebacks.keep(f"iteration {op.number}, client {op.client}", problem, self.judge)
        verdict = self.judge(problem)
        if isinstance(problem, VerdictException) and problem.cause:
            op.finish(int(verdict[0]), verdict[1], int(problem.cause))
        return verdict

    def hangs(self, op: Op, told: str, operation: str | None, stack: Stack) -> str:
        """Return `told` with where an iteration hangs, and keep its stack."""
        self.tracebacks.keep_stack(f"iteration {op.number}, client {op.client}", told, stack, self.judge)
        return told + hung(operation, stack, self.judge.is_users)

    def early(self) -> list[int]:
        """Return the clients of an open load that are set up before it begins, as those of native tests are.

        Else what is due while the first ones connect would each take a client more: many connections at once, most of
        them never wanted again, and their times in the record.
        """
        return self.press.early() if self.desk.order.load.open else []

    def name(self, test: Test | None) -> None:
        """Give the engine the name of the only operation of a test. The load has begun then."""
        if isinstance(test, ProgramTest) and test.single:
            self.press.name_single(test.single)

    def stop(self) -> None:
        """Wait no more for clients that are set up before the load begins."""


class IterationScope:
    """Around the life of a client, in its thread or task: catches what it prints, ends each iteration as it ended."""

    __slots__ = ("_board", "_capture", "_desk", "_slot", "_timeout", "notes")

    def __init__(self, desk: LoadContext) -> None:
        self.notes = desk.board is not None
        """Whether `begin` must be called for each iteration."""
        self._desk = desk
        self._board = desk.board
        self._timeout = desk.order.timeout
        self._slot = -1
        self._capture = Capture()

    def begin(self, op: Op) -> None:
        """Note that an iteration is under way."""
        if self._board is not None:
            under_way = InflightIteration(op.number, op.intended, op.start, self._desk.order.case, op.client)
            self._slot = self._board.begin(under_way)

    def end(self, op: Op, verdict: Verdict | None = None) -> None:
        """End the iteration in the record, passed when there is no verdict, and write its output away.

        Its client asks for its next start right after.
        """
        if verdict is not None and verdict[0] is not PASSED:
            op.finish(int(verdict[0]), verdict[1])
        elif late := op.conclude(self._timeout):
            limit, took = format_time(self._timeout), format_time(self._timeout + late)
            op.finish(int(Outcome.AMBIGUOUS), f"took {took}, longer than its timeout of {limit}")
        if self._board is not None:
            self._board.end(self._slot)
        if self._capture.printed:
            self.write(f"iteration {op.number}, client {op.client}")

    def write(self, title: str) -> None:
        """Write what was printed since the last time away."""
        for stream, text in self._capture.take():
            self._desk.output.append(stream, title, text)

    def close(self) -> None:
        """Let the streams go."""
        self._capture.end()
