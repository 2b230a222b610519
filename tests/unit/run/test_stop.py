"""The wish to stop grows from in order to at once; the first reason stays."""

from pileup.run.stop import Haste, Stop


def test_once_is_in_order_and_twice_is_at_once() -> None:
    stop = Stop()
    assert stop.haste is Haste.NONE
    stop.ask("user: Ctrl-C")
    assert stop.haste is Haste.IN_ORDER
    stop.ask("user: again")
    assert stop.haste is Haste.AT_ONCE
    assert stop.reason == "user: Ctrl-C"


def test_a_limit_stops_in_order_however_often_it_is_noticed() -> None:
    stop = Stop()
    for _ in range(3):
        stop.ask("limit: enough", Haste.IN_ORDER)
    assert stop.haste is Haste.IN_ORDER


def test_waiting_ends_when_it_is_asked() -> None:
    stop = Stop()
    assert not stop.wait(0)
    stop.ask("x")
    assert stop.wait(0)
