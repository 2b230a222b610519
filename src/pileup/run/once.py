"""What a test does once in a run: `begin_run` before its first client, `end_run` after its last; and its data."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from pileup._core._native import now
from pileup.fleet.python.capture import Capture
from pileup.model import shared
from pileup.model.errors import TargetError
from pileup.model.plan import Case
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.plugin.verdict import Judge
from pileup.record import Output
from pileup.run.session import BEAT, SLICE, Live
from pileup.run.stop import StopMode
from pileup.run.targets.calls import CalledOff

BEGIN, END = "begin_run", "end_run"
Key = tuple[str, str]


@dataclass(slots=True)
class _Begun:
    """A test that has begun, or failed to."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while it begins, so that another case of the test waits."""
    case: Case | None = None
    make: Callable[[], Test] | None = None
    output: Output | None = None
    test: Test | None = None
    """The instance whose `begin_run` was called; None until it is, and when that failed."""
    text: str = ""
    """What it returned."""
    entry: int = 0
    """Of the journal."""
    problem: str = ""


class OncePerRun:
    """Begins each test once in a session of a run, and ends it. From the runner's thread and those of roles.

    A test is begun again for other options or targets: a scan may vary them. What it returns is in no record, for it
    may be a secret.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        self._lock = threading.Lock()
        self._begun: dict[Key, _Begun] = {}

    def begin(self, case: Case, cls: type[Test], make: Callable[[], Test], output: Output) -> tuple[str, str]:
        """Return the data that clients of a case share, as text, and why it could not be begun, empty when it could.

        Raises CalledOff when the run is ended at once meanwhile.
        """
        if cls.begin_run is Test.begin_run and cls.end_run is Test.end_run:
            return "", ""
        with self._lock:
            begun = self._begun.setdefault(_key(case), _Begun())
        with begun.lock:
            if begun.case is None:
                begun.case, begun.make, begun.output = case, make, output
                self._begin(begun, case, make())
        return begun.text, begun.problem

    def _begin(self, begun: _Begun, case: Case, test: Test) -> None:
        begun.entry = self._live.folder.journal(BEGIN, "made", case=case.name, test=case.test.name)
        try:
            begun.text = shared.to_text(self._call(case, BEGIN, test, begun.output))
            test.shared = shared.from_text(begun.text)
            begun.test = test
        except CalledOff:
            raise
        except ValueError as problem:
            begun.problem = f"begin_run() of {case.test.use} returned {problem}"
        except TargetError as problem:
            begun.problem = str(problem)
        if begun.problem:
            self._live.folder.journal(BEGIN, "failed", of=begun.entry, case=case.name, problem=begun.problem)

    def end(self) -> None:
        """End every test that was begun, the last one first; what goes wrong is an event and changes no outcome."""
        for begun in reversed(self._begun.values()):
            if begun.test is not None and begun.case is not None:
                self._end(begun, begun.case, begun.test)

    def _end(self, begun: _Begun, case: Case, test: Test) -> None:
        problem = ""
        try:
            if begun.make is not None:  # a server that was started again may be another target
                fresh = begun.make()
                test.target, test.targets = fresh.target, fresh.targets
            self._call(case, END, test, begun.output)
        except CalledOff:
            self._live.folder.event(
                END, f"end_run() of {case.test.name} was not called, or not finished: the run was ended at once"
            )
            return  # its entry stays open, since `end_run` was not called
        except (TargetError, ValueError) as wrong:
            problem = str(wrong)
            self._live.folder.event(END, problem)
        self._live.folder.journal(BEGIN, "failed" if problem else "ended", of=begun.entry, problem=problem)

    def _call(self, case: Case, name: str, test: Test, output: Output | None) -> object:
        """Return what a method of a test gives, called in a thread while the run goes on.

        A run that is stopped waits as long as an iteration may take. Raises CalledOff when it ends at once, TargetError
        with what the method raised.
        """
        answer: Future[object] = Future()
        begin = due = now()
        self._look()
        work = threading.Thread(
            target=_work, args=(getattr(test, name), name, output, answer), name=f"{name} of {case.name}", daemon=True
        )
        work.start()
        while work.is_alive():
            work.join(SLICE)
            self._look()
            if self._live.stop.haste and now() - begin > case.test.timeout:
                told = (
                    f"{name}() of {case.test.name} was abandoned: it took longer than {format_time(case.test.timeout)}"
                )
                raise TargetError(f"{told}, and the run was to end", "no longer than the `timeout` of the test")
            if now() >= due + BEAT:
                due = now()
                self._live.serve()
        problem = answer.exception()
        if problem is not None:
            raise TargetError(f"{name}() of {case.test.use}: {Judge(test)(problem)[1]}") from problem
        return answer.result()

    def _look(self) -> None:
        if self._live.stop.haste is StopMode.AT_ONCE:
            raise CalledOff


def _work(act: Callable[[], object], name: str, output: Output | None, answer: Future[object]) -> None:
    """Call a method, plain or async, and keep what it prints."""
    capture = Capture()
    try:
        result = act()
        answer.set_result(asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result)
    except BaseException as problem:
        answer.set_exception(problem)
    for stream, text in capture.take() if output is not None else ():
        output.append(stream, name, text)  # type: ignore[union-attr]


async def _awaited(result: object) -> object:
    return await result  # type: ignore[misc]


def _key(case: Case) -> Key:
    """Return the identity of a test that has begun: its name in the suite, its options, its targets."""
    return case.test.name, json.dumps([case.test.options, case.test.aim], sort_keys=True, default=str)
