"""Virtual time goes on to what is due, in order."""

import pytest

from pileup.run.simulation import VirtualClock


def test_it_goes_on_to_what_is_due_first_and_of_equal_times_to_what_was_told_first() -> None:
    clock, seen = VirtualClock(100), []
    for time, name in ((130, "late"), (110, "one"), (110, "other")):
        clock.at(time, lambda name=name: seen.append((clock.now(), name)))
    while clock.step():
        pass
    assert seen == [(110, "one"), (110, "other"), (130, "late")]
    assert not clock.step()
    assert clock.now() == 130


def test_time_that_goes_by_does_what_is_due_in_it_and_no_more() -> None:
    clock, seen = VirtualClock(0), []

    def again() -> None:
        seen.append(clock.now())
        clock.at(clock.now() + 4, again)

    again()
    clock.go_on(10)
    assert (seen, clock.now()) == ([0, 4, 8], 10)


def test_it_does_not_go_back() -> None:
    clock = VirtualClock(100)
    with pytest.raises(ValueError, match=r"99 is 1 ns ago; expected a time from 100 on"):
        clock.at(99, lambda: None)
