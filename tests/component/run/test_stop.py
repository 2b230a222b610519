"""The wish to stop grows from in order to at once; the first reason stays."""

import sys
import threading
from typing import Any

from pileup.model.ending import StoppedBy
from pileup.run.stop import Stop, StopMode


def test_once_is_in_order_and_twice_is_at_once() -> None:
    stop = Stop()
    assert stop.haste is StopMode.NONE
    stop.ask(StoppedBy.USER, "Ctrl-C")
    assert stop.haste is StopMode.IN_ORDER
    stop.ask(StoppedBy.LIMIT, "again")
    assert stop.haste is StopMode.AT_ONCE
    assert (stop.by, stop.reason) == (StoppedBy.USER, "user: Ctrl-C")


def test_a_limit_stops_in_order_however_often_it_is_noticed() -> None:
    stop = Stop()
    for _ in range(3):
        stop.ask(StoppedBy.LIMIT, "enough", StopMode.IN_ORDER)
    assert stop.haste is StopMode.IN_ORDER


def test_waiting_ends_when_it_is_asked() -> None:
    stop = Stop()
    assert not stop.wait(0)
    stop.ask(StoppedBy.USER, "x")
    assert stop.wait(0)


class Asker:
    """Asks before a line of the wait, as the handler of a signal does: in the thread that waits."""

    def __init__(self, line: int) -> None:
        self.stop, self.left = Stop(), line

    def look(self, _frame: object, event: str, _: object) -> Any:
        self.left -= event == "line"
        if event == "line" and self.left == 0:
            self.stop.ask(StoppedBy.USER, "SIGTERM")
        return self.look

    def wait(self) -> None:
        sys.settrace(self.look)
        self.stop.wait(0.02)
        sys.settrace(None)


def test_asked_before_any_line_of_a_wait_it_ends() -> None:
    for line in range(1, 100):
        asker = Asker(line)
        thread = threading.Thread(target=asker.wait, daemon=True)
        thread.start()
        thread.join(5)
        assert not thread.is_alive(), f"it hangs when asked before line {line}"
        if asker.left > 0:
            break
    assert 2 < line < 99
