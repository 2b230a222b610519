"""One iteration of one test in the foreground: in the main thread, where a debugger and Ctrl-C reach it.

The run around it is any other: its record, its own folder, its limits, its servers, in a thread beside. That thread
asks for each act of the test and waits, so that nothing is cleaned up while somebody looks at what failed.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import sys
import threading
from bdb import BdbQuit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pileup.fleet import Work
from pileup.model.ending import StoppedBy
from pileup.model.errors import Ambiguous, Failed, UsageError
from pileup.model.loads.load import Load
from pileup.model.plan import Case, Plan
from pileup.model.record import Labels
from pileup.model.results import RunResults
from pileup.model.suite import Places
from pileup.model.units import format_time
from pileup.plugin import Op, Test
from pileup.run.runner import Runner
from pileup.run.stop import Stop
from pileup.suite.problems import near

LOOK = 0.1
"""Seconds between two looks whether the run has ended."""
DAY = 24 * 3600 * 10**9
"""Timeout while a user is in the debugger, ns."""


def one_iteration(plan: Plan, name: str) -> tuple[Plan, Case]:
    """Return the plan of one iteration of a test, at the first point of a scan, and its case.

    What it comes `after` is in it: as in the suite where that is `once` or so many times, one iteration where it is a
    load. Monitors, criteria, faults, roles and reports are not. Raises UsageError for a test that there is not.
    """
    wanted = next((case for case in plan.cases if case.test.name == name), None)
    if wanted is None:
        names = list(dict.fromkeys(case.test.name for case in plan.cases))
        raise UsageError(
            f"the suite has no test {name!r}", near(name, names, f"one of {', '.join(names)}"), plan.source
        )
    numbers = sorted(_needed(plan, wanted.id))
    ids = {number: place for place, number in enumerate(numbers, 1)}
    cases = tuple(_alone(plan.case(number), ids, tried=number == wanted.id) for number in numbers)
    none = dict.fromkeys(("monitors", "criteria", "faults", "equivalent", "reports"), ())
    nothing = dict.fromkeys(("cooldown", "until", "delay", "environment"))
    suite = plan.suite.model_copy(update={**none, **nothing, "places": Places(), "isolate": "thread"})
    return replace(plan, suite=suite, cases=cases), cases[ids[wanted.id] - 1]


def _needed(plan: Plan, number: int) -> set[int]:
    return {number}.union(*(_needed(plan, each) for each in plan.case(number).after))


def _alone(case: Case, ids: dict[int, int], *, tried: bool) -> Case:
    load = Load() if tried or case.load.sustained else case.load
    kept = {"load": load, "with_": (), "isolate": None, "environment": None, "cleanup": "always"}
    after = tuple(ids[each] for each in case.after)
    changed = replace(case, id=ids[case.id], test=case.test.model_copy(update=kept), after=after, beside=())
    return replace(changed, longest=max(case.longest, DAY), replay=None if load is not case.load else case.replay)


@dataclass(slots=True)
class _Act:
    """An act of the test for the main thread, and its result."""

    name: str
    do: Callable[[], object]
    timeout: int
    result: object = None
    problem: BaseException | None = None
    over: threading.Event = field(default_factory=threading.Event)


class Foreground:
    """Runs a plan in another thread, and the acts of one of its cases in this one.

    `failed` is called with what an act raised, before the run continues; `patient`: an async iteration has no timeout.
    """

    def __init__(self, client: int, failed: Callable[[BaseException], None], *, patient: bool) -> None:
        self._client = client
        self._failed = failed
        self._patient = patient
        self._acts: queue.SimpleQueue[_Act] = queue.SimpleQueue()
        self._stop = Stop()
        self._case = 0
        self._terminal = sys.stdin, sys.stdout, sys.stderr, sys.breakpointhook

    def run(self, plan: Plan, case: Case, base: Path) -> tuple[Runner, RunResults]:
        """Run the plan, the iterations of `case` here; `base` is the folder for its record.

        Ctrl-C and the end of a debugger end the run in order. Raises PileupError.
        """
        self._case = case.id
        runner = Runner(plan, base, self._stop, foreground=self.work)
        done: list[RunResults] = []
        problems: list[BaseException] = []

        def beside() -> None:
            try:
                done.append(runner.run())
            except BaseException as problem:
                problems.append(problem)

        thread = threading.Thread(target=beside, name="run")
        thread.start()
        self._serve(thread)
        if problems:
            raise problems[0]
        return runner, done[0]

    def work(self, case: Case, work: Work) -> Work:
        """Return the work of a case; that of the tried case is done in the main thread."""
        if case.id != self._case or work.program is not None:
            return work
        return replace(work, make=partial(self._made, work.make), coroutine=False)

    def _made(self, make: Callable[[int], Test], _client: int) -> Test:
        """Make the test of the tried client, which runs in the main thread."""
        test: Any = make(self._client)
        setup, iteration, teardown, timeout = test.setup, test.run, test.teardown, test.context.timeout
        test.setup = lambda: self._ask(_Act("setup", setup, timeout))
        test.run = lambda op: self._ask(_Act("run", partial(iteration, _ClientOp(op, self._client)), timeout))
        test.teardown = lambda: self._ask(_Act("teardown", teardown, timeout))
        made: Test = test
        return made

    def _ask(self, act: _Act) -> object:
        self._acts.put(act)
        act.over.wait()
        if act.problem is not None:
            raise act.problem
        return act.result

    def _serve(self, thread: threading.Thread) -> None:
        """Run the requested acts until the run has ended."""
        with asyncio.Runner() as loop:
            while thread.is_alive():
                try:
                    act = self._acts.get(timeout=LOOK)
                except queue.Empty:
                    continue
                except KeyboardInterrupt:
                    self._stop.ask(StoppedBy.USER, "Ctrl-C")
                    continue
                self._do(act, loop)

    def _do(self, act: _Act, loop: asyncio.Runner) -> None:
        try:
            with self._at_the_terminal():
                self._try(act, loop)
        except KeyboardInterrupt:
            self._stopped(act, "Ctrl-C")
        except BdbQuit:
            self._stopped(act, "you left the debugger")
        act.over.set()

    def _try(self, act: _Act, loop: asyncio.Runner) -> None:
        try:
            result = act.do()
            if inspect.isawaitable(result):
                limit = None if self._patient or act.name != "run" else act.timeout
                result = loop.run(_awaited(result, limit))
            act.result = result
        except (KeyboardInterrupt, BdbQuit):
            raise
        except BaseException as problem:
            act.problem = problem
            self._failed(problem)

    def _stopped(self, act: _Act, why: str) -> None:
        self._stop.ask(StoppedBy.USER, why)
        if act.problem is None:
            act.problem = Failed(f"stopped by the user: {why}")

    @contextmanager
    def _at_the_terminal(self) -> Iterator[None]:
        """Give the test the terminal: a run keeps input and debuggers from tests, and keeps what they print."""
        kept = sys.stdin, sys.stdout, sys.stderr, sys.breakpointhook
        sys.stdin, sys.stdout, sys.stderr, sys.breakpointhook = self._terminal
        try:
            yield
        finally:
            sys.stdin, sys.stdout, sys.stderr, sys.breakpointhook = kept


class _ClientOp:
    """An iteration as a client of another number has it."""

    def __init__(self, op: Op, client: int) -> None:
        self._op = op
        self.client = client

    def __call__(self, name: str, key: str = "", *, labels: Labels | None = None) -> Any:
        return self._op(name, key, labels=labels)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


async def _awaited(result: Any, limit: int | None) -> object:
    try:
        async with asyncio.timeout(None if limit is None else limit / 1e9):
            return await result
    except TimeoutError as problem:
        if limit is None or problem.__cause__ is None:
            raise
        raise Ambiguous(f"no answer within {format_time(limit)}") from problem
