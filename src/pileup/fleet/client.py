"""One client of a Python test: makes the test, brackets each iteration, turns what it raises into an outcome."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from pileup._core._native import Op, Press, now
from pileup.fleet.capture import Capture
from pileup.fleet.order import Order
from pileup.model.errors import Ambiguous, Refused, VerdictException
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.plugin import Test
from pileup.record import Output

PACKAGE = str(Path(__file__).resolve().parent.parent)


class Reported:
    """Collects, from any thread, the numbers that tests report."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: list[tuple[int, str, float, str]] = []

    def add(self, metric: str, value: float, unit: str = "") -> None:
        """Keep one number with the time of now."""
        with self._lock:
            self._samples.append((now(), metric, value, unit))

    def take(self) -> list[tuple[int, str, float, str]]:
        """Return what came since the last call."""
        with self._lock:
            taken, self._samples = self._samples, []
        return taken


class PythonExecutor:
    """What threads and tasks share: the press they pull from, and the test made for each client."""

    def __init__(self, press: Press, order: Order, make: Callable[[int], Test], output: Output) -> None:
        self.press = press
        self.order = order
        self.output = output
        self.mistake = ""
        """What went wrong in the set-up of a client, empty when nothing did."""
        self._make = make
        self._numbers = Reported()

    def start(self) -> None:
        """Begin to serve the clients."""
        raise NotImplementedError

    def close(self) -> None:
        """Wait a moment for clients that have nothing to do any more."""
        raise NotImplementedError

    def reported(self) -> list[tuple[int, str, float, str]]:
        """Return the numbers reported since the last call."""
        return self._numbers.take()

    def set_up(self, client: int) -> Test | None:
        """Make the test of a client; None ends the load, `mistake` says why."""
        try:
            test = self._make(client)
            test.reporter = self._numbers.add
            test.setup()
        except BaseException as problem:
            self.mistake = f"set-up failed: {outcome_of_error(problem)[1]}"
            self.press.stop(False)
            return None
        return test


class Bracket:
    """Around one iteration: catches its output, times it out, ends it with an outcome."""

    __slots__ = ("_capture", "_op", "_order", "_output")

    def __init__(self, op: Op, order: Order, output: Output) -> None:
        self._op = op
        self._order = order
        self._output = output
        self._capture = Capture()

    def end(self, outcome: Outcome, error: str = "") -> None:
        """End the iteration in the record and write its output away."""
        self._capture.end()
        late = now() - self._op.start - self._order.timeout
        if late > 0 and outcome is Outcome.PASSED:
            limit, took = format_time(self._order.timeout), format_time(self._order.timeout + late)
            outcome, error = Outcome.AMBIGUOUS, f"took {took}, longer than its timeout of {limit}"
        self._op.finish(int(outcome), error)
        title = f"iteration {self._op.number}, client {self._op.client}"
        for stream in ("stdout", "stderr"):
            if text := getattr(self._capture, stream).text():
                self._output.append(stream, title, text)


def outcome_of(result: object) -> tuple[Outcome, str]:
    """Return the outcome of a `run` that came back."""
    return (Outcome.FAILED, "the test returned False") if result is False else (Outcome.PASSED, "")


def outcome_of_error(problem: BaseException) -> tuple[Outcome, str]:
    """Return the outcome of a `run` that raised."""
    match problem:
        case Refused():
            return Outcome.REFUSED, str(problem)
        case Ambiguous() | TimeoutError():
            return Outcome.AMBIGUOUS, str(problem) or "no answer in time"
        case VerdictException() | AssertionError():
            return Outcome.FAILED, str(problem) or "the test failed without a reason"
        case SystemExit():
            return Outcome.FAILED, f"the test called exit({problem.code})"
    return Outcome.FAILED, f"{type(problem).__name__}: {problem}{_where(problem.__traceback__)}"


def _where(trace: TracebackType | None) -> str:
    """Name the innermost line that is neither ours nor a library's: the user's own."""
    frames = [frame for frame in traceback.extract_tb(trace) if _is_users(frame.filename)]
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def _is_users(file_name: str) -> bool:
    return not file_name.startswith(PACKAGE) and "/lib/python" not in file_name and not file_name.startswith("<")


def tear_down(test: Test, output: Output) -> None:
    """Give back what set-up took; a mistake there is written to the case's stderr."""
    try:
        test.teardown()
    except Exception as problem:
        output.append("stderr", f"teardown of client {test.context.client}", f"{outcome_of_error(problem)[1]}\n")
