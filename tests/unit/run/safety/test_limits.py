"""Guard rails: frames add up, and the first limit that is passed is named with its figures."""

from pileup.model.record import Frame, FrameRow
from pileup.model.suite import Limits
from pileup.run.safety.limits import LimitCheck


def frame(*rows: FrameRow) -> Frame:
    return Frame(1, 1, 0, 1, 3, 0, 0, 0, 1, 0, b"", rows)


def row(operation: str, iteration: bool, passed: int, size: int) -> FrameRow:
    return FrameRow(operation, iteration, 3, passed, 0, 0, 0, 0, 0, size, 0, b"", b"")


def test_bytes_are_counted_once_though_operations_lie_inside_iterations() -> None:
    guard = LimitCheck(Limits(bytes=200), 0)
    guard.take(frame(row("iteration", True, 1, 150), row("read", False, 3, 150)))
    assert guard.passed(0) == ""
    guard.take(frame(row("iteration", True, 1, 50), row("read", False, 1, 50)))
    assert guard.passed(0) == "200 B moved, the limit is 200 B"


def test_operations_inside_iterations_are_what_is_limited() -> None:
    guard = LimitCheck(Limits(operations=10), 0)
    guard.take(frame(row("iteration", True, 2, 0), row("read", False, 6, 0)))
    assert guard.operations_left == 4
    guard.take(frame(row("read", True, 4, 0)))
    assert guard.operations_left == 0
    assert guard.passed(0) == "10 operations, the limit is 10"


def test_time_is_limited_from_the_start_of_the_run() -> None:
    guard = LimitCheck(Limits(duration=60 * 10**9), began=10**9)
    assert guard.passed(60 * 10**9) == ""
    assert guard.passed(61 * 10**9) == "1 min elapsed, the limit is 1 min"


def test_without_limits_nothing_is_passed() -> None:
    guard = LimitCheck(Limits(), 0)
    guard.take(frame(row("read", True, 10**9, 10**15)))
    assert guard.passed(10**18) == ""
    assert guard.operations_left is None
