"""For the unit tests of plug-ins: an iteration of a Python test, results for a report, without engine, suite or run.

from pileup.plugin.testing import run_once

def test_it_counts_the_entries(tmp_path):
    (tmp_path / "a").touch()
    result = run_once(ListFolder, PosixTarget(str(tmp_path)), entries=1)
    assert result.passed, result.error
"""

from __future__ import annotations

import asyncio
import inspect
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from types import TracebackType
from typing import Any, Self

from pileup.model.cause import Cause
from pileup.model.errors import Failed
from pileup.model.exits import ExitCode
from pileup.model.manifest import Manifest
from pileup.model.record import Labels, Outcome, Sample, labels_of
from pileup.model.results import CaseResult, CriterionResult, RunResults
from pileup.model.shared import from_text, to_text
from pileup.model.timed import KINDS, TEXTS, OperationBatch
from pileup.model.verdict import RunVerdict
from pileup.plugin.coordinator import Answered, Ask, Coordinator, Plain, Reply
from pileup.plugin.monitor import Monitor
from pileup.plugin.plain_op import Ended, PlainBlock, PlainLedger, PlainOp, Recorded
from pileup.plugin.recording import Recording, text_of
from pileup.plugin.target import Target
from pileup.plugin.test import Context, Test, needs_of
from pileup.plugin.verdict import Judge, Verdict, verdict_of, verdict_on


@dataclass(slots=True)
class TimedOperation(PlainBlock):
    """One finished operation; `first_byte_after` and `seconds` from its beginning."""

    name: str
    key: str = ""
    bytes: int = 0
    calls: int = 0
    outcome: Outcome = Outcome.PASSED
    error: str = ""
    seconds: float = 0.0
    first_byte_after: float | None = None
    labels: dict[str, str] = field(default_factory=dict)
    _begin: float = field(default_factory=time.perf_counter, repr=False)
    _judge: Callable[[BaseException], Verdict] = field(default=verdict_on, repr=False)

    def first_byte(self) -> None:
        """Mark that the first byte of the answer has come now."""
        self.first_byte_after = time.perf_counter() - self._begin

    def __enter__(self) -> Self:
        self._begin = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.seconds = time.perf_counter() - self._begin
        if problem is not None:
            self.outcome, self.error = self._judge(problem)


@dataclass(frozen=True, slots=True)
class EndedOperation:
    """A detached operation that has ended; times in ns since the epoch."""

    name: str
    key: str
    start: int
    end: int
    outcome: Outcome = Outcome.PASSED
    error: str = ""
    bytes: int = 0
    cause: Cause = Cause.NONE


class TestLedger(PlainLedger[int]):
    """A ledger in plain Python (plugin.Ledger): ended operations are in `ended`, in order."""

    __test__ = False

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[EndedOperation] = []

    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open one, as Op.begin does. Raises ValueError when it is open already."""
        self.refuse_open(name, key)
        self._open[name, key] = time.time_ns() if start is None else start

    def now(self) -> int:
        """Return the time."""
        return time.time_ns()

    def start_of(self, one: int) -> int:
        """Return when one began: all that is kept of it."""
        return one

    def close(self, name: str, key: str, one: int, ended: Ended) -> None:
        """Keep one that has ended."""
        outcome, over, error, moved, cause = ended
        self.ended.append(EndedOperation(name, key, one, over, outcome, error, moved, cause))

    def follow(self, one: int, name: str, key: str, start: int) -> int:
        """Return what is kept of one that begins in the place of another."""
        return start


class TestOp(PlainOp):
    """An iteration under way (plugin.Op) that remembers its operations in the order of their beginning."""

    __test__ = False

    def __init__(
        self,
        number: int = 0,
        client: int = 0,
        ledger: TestLedger | None = None,
        judge: Callable[[BaseException], Verdict] = verdict_on,
    ) -> None:
        self._number = number
        self._client = client
        self._ledger = ledger or TestLedger()
        self._judge = judge
        self.operations: list[TimedOperation] = []

    @property
    def number(self) -> int:
        """Number of this iteration over the whole case, from 0."""
        return self._number

    @property
    def client(self) -> int:
        """Number of this client over the whole case, from 0."""
        return self._client

    def __call__(self, name: str, key: str = "", *, labels: Labels | None = None) -> TimedOperation:
        """Return an operation for `with` or `async with`; it ends with the block, failed if the block raises."""
        operation = TimedOperation(name, key, labels=labels_of(text_of(labels or {})), _judge=self._judge)
        self.operations.append(operation)
        return operation

    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open a detached operation."""
        self._ledger.begin(name, key, start)

    def now(self) -> int:
        """Return the time."""
        return time.time_ns()

    def keep(self, found: Recorded) -> None:
        """Remember an operation that has ended."""
        first = (found.first_byte - found.start) / 1e9 if found.first_byte else None
        seconds = (found.end - found.start) / 1e9
        told = (found.name, found.key, found.bytes, found.calls, found.outcome, found.error)
        self.operations.append(TimedOperation(*told, seconds, first, dict(found.labels)))


@dataclass(frozen=True, slots=True)
class RecordedOperation:
    """An operation that a monitor recorded; times in ns since the epoch."""

    name: str
    key: str
    start: int
    end: int
    outcome: Outcome
    bytes: int
    calls: int
    first_byte: int
    error: str
    labels: dict[str, str]
    parent: int = 0
    """Id of the operation of a client; 0: not known."""
    client: int = -1
    """Number of the client; -1: not known."""


class MonitorRecord:
    """Takes what a monitor records, for its unit test.

    record = MonitorRecord(monitor)
    monitor.sample()
    assert [each.name for each in record.operations()] == ["GET"]
    """

    def __init__(self, monitor: Monitor) -> None:
        self.told: list[str] = []
        """What would be events of the run: too many sets of labels."""
        self._batches: list[OperationBatch] = []
        self._recording = monitor.recording = Recording(self._batches.append, self.told.append)

    def operations(self) -> list[RecordedOperation]:
        """Return what was recorded since the last call."""
        self._recording.flush()
        batches = list(self._batches)
        self._batches.clear()
        return [each for batch in batches for each in _decoded(batch)]


def _decoded(batch: OperationBatch) -> Iterator[RecordedOperation]:
    texts = ("", *batch.texts)
    for row in zip(*(batch.columns[name] for name in KINDS), strict=True):
        found = dict(zip(KINDS, row, strict=True))
        name, key, error, labels = (texts[found.pop(column)] for column in TEXTS)
        outcome = Outcome(found.pop("outcome"))
        yield RecordedOperation(name, key, error=error, labels=labels_of(labels), outcome=outcome, **found)


@dataclass(frozen=True, slots=True)
class Iteration:
    """The result of one iteration. `problem` is the exception that `run` raised, with its traceback."""

    outcome: Outcome
    error: str = ""
    seconds: float = 0.0
    operations: tuple[TimedOperation, ...] = ()
    numbers: tuple[Sample, ...] = ()
    """Numbers that the test passed to `report`."""
    problem: BaseException | None = None
    claims: tuple[tuple[str, str, str], ...] = ()
    """Submissions that the test passed to `claim`: name, id, what."""
    artefacts: Mapping[str, bytes] = field(default_factory=dict)
    """Files in `self.context.artefacts`: name -> content."""

    @property
    def passed(self) -> bool:
        """Whether it passed."""
        return self.outcome is Outcome.PASSED


def run_once(
    cls: type[Test],
    target: Target | None = None,
    *,
    context: Context | None = None,
    number: int = 0,
    ledger: TestLedger | None = None,
    targets: Mapping[str, Target] | None = None,
    **options: Any,
) -> Iteration:
    """Make a test with these options, set it up, run one iteration, tear it down (async too); return the result.

    Detached operations that it begins are in `ledger`; pass the same one to several calls to share them. For a test
    with several targets pass `targets`, by the words of its `needs`. Raises pydantic.ValidationError or ValueError for
    wrong options, and what `setup` or `teardown` raise.
    """
    return asyncio.run(
        run_async(cls, target, context=context, number=number, ledger=ledger, targets=targets, **options)
    )


async def run_async(
    cls: type[Test],
    target: Target | None = None,
    *,
    context: Context | None = None,
    number: int = 0,
    ledger: TestLedger | None = None,
    targets: Mapping[str, Target] | None = None,
    **options: Any,
) -> Iteration:
    """The same inside a running event loop; a plain `run` blocks the loop meanwhile."""
    if cls.native():
        raise TypeError(
            f"{cls.__name__} has a program, which only the native engine runs; call program() and look at it"
        )
    first = next(iter(needs_of(cls)), "")
    test = cls(target or (targets or {}).get(first), context, **options)
    test.targets = targets or {}
    numbers: list[Sample] = []
    test.reporter = lambda sample, _: numbers.append(sample)
    claims: list[tuple[str, str, str]] = []
    test.claimer = lambda *claim: claims.append(claim)
    test.ledger = ledger or TestLedger()
    coordinator = test.coordinator()
    test.asker = None if coordinator is None else _DirectAsker(coordinator, test.context.client)
    test.shared = from_text(to_text(await _finished(test.begin_run())))
    kept: list[Path] = []
    test.context = replace(test.context, keep_in=lambda: _kept_in(kept))
    judge = Judge(test)
    op = TestOp(number, test.context.client, test.ledger, judge)
    await _finished(test.setup())
    begin, problem = time.perf_counter(), None
    try:
        outcome, error = await _iterate(test, op)
    except Exception as raised:
        problem = raised
        outcome, error = judge(raised)
    finally:
        seconds = time.perf_counter() - begin
        await _finished(test.teardown())
        if coordinator is not None:
            coordinator.close()
        end: Callable[[], object] = test.end_run
        await _finished(end())
    told = tuple(op.operations), tuple(numbers), problem, tuple(claims), _taken(kept)
    return Iteration(outcome, error, seconds, *told)


class _DirectAsker:
    """Asks a coordinator that has no other clients."""

    def __init__(self, coordinator: Coordinator, client: int) -> None:
        self._coordinator = coordinator
        self._client = client

    def ask(self, told: Plain, blob: bytes, *, later: bool = False) -> Future[Answered]:
        """Ask, and return the answer, or that there is none: nobody else asks anything meanwhile."""
        answer: Future[Answered] = Future()
        replies = {each.client: each.told for each in self._taken(told, blob)}
        if self._client in replies:
            answer.set_result(json.loads(json.dumps(replies[self._client])))
        else:
            answer.set_exception(Failed("the coordinator waits for other clients", "an answer to the only one"))
        return answer

    def _taken(self, told: Plain, blob: bytes) -> Iterator[Reply]:
        coordinator = self._coordinator
        yield from coordinator.take((Ask(self._client, json.loads(json.dumps(told)), blob),), time.time_ns())
        while coordinator.wake is not None and coordinator.wake <= time.time_ns():
            coordinator.wake = None
            yield from coordinator.tick(time.time_ns())

    def send(self) -> None:
        """Do nothing: what is asked is sent."""


def _kept_in(kept: list[Path]) -> Path:
    """Return the folder for artefacts, made when it is first asked for."""
    kept[:] = kept or [Path(tempfile.mkdtemp(prefix="pileup-artefacts-"))]
    return kept[0]


def _taken(kept: list[Path]) -> dict[str, bytes]:
    """Return what is in the folder for artefacts, and remove it."""
    found = {path.name: path.read_bytes() for folder in kept for path in folder.iterdir() if path.is_file()}
    for folder in kept:
        rmtree(folder, ignore_errors=True)
    return found


async def _iterate(test: Test, op: TestOp) -> tuple[Outcome, str]:
    """Run with the timeout of the context, which can interrupt only an async `run`."""
    result = test.run(op)
    if inspect.isawaitable(result):
        async with asyncio.timeout(test.context.timeout / 1e9):
            result = await result
    return verdict_of(result)


async def _finished(result: Any) -> Any:
    """Return what a method returned, plain or async."""
    return await result if inspect.isawaitable(result) else result


def results(
    title: str = "",
    cases: Sequence[CaseResult] = (),
    criteria: Sequence[CriterionResult] = (),
    exit_code: ExitCode = ExitCode.PASSED,
    verdict: RunVerdict = RunVerdict.PASSED,
) -> RunResults:
    """Return the results of a run, for the tests of a report or a chart: no series, no errors, no limit."""
    run = Manifest(title=title)
    return RunResults("", run, tuple(cases), tuple(criteria), (), (), exit_code, verdict, "")
