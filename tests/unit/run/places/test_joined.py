"""Programs that differ from place to place: joined for what is done before a load, and taken apart for the places."""

from dataclasses import replace

from pileup.fleet import Work
from pileup.model.program import Keys, Program, Step
from pileup.run.places.joined import joined, split, united


def step(name: str) -> Step:
    return Step("read", "read", Keys.fixed(name))


ONE, TWO = Program((step("a"), step("b")), repeat=2), Program((step("c"),), repeat=2)


def test_what_was_joined_is_taken_apart_as_it_was_changed() -> None:
    whole = joined([ONE, TWO])
    assert [each.keys.names for each in whole.steps] == [("a",), ("b",), ("c",)]
    changed = replace(whole, steps=tuple(replace(each, new=True) for each in whole.steps))
    assert split(whole, [ONE, TWO]) == (ONE, TWO)
    first, second = split(changed, [ONE, TWO])
    assert [(each.keys.names, each.new) for each in first.steps] == [(("a",), True), (("b",), True)]
    assert (second.steps[0].keys.names, second.repeat) == (("c",), 2)


def test_what_several_need_is_done_once() -> None:
    both = united([Program((step("a"),)), None, Program((step("a"), step("b")))])
    assert both is not None
    assert [each.keys.names for each in both.steps] == [("a",), ("b",)]
    twice = Program((step("a"), step("a")))
    assert united([twice]) is twice
    assert united([None, None]) is None


def test_each_place_has_its_program_by_its_position() -> None:
    work = Work(lambda client: None, ONE, by_place=(ONE, TWO))  # type: ignore[arg-type,return-value]
    assert [work.at(position).program for position in (1, 2, 3)] == [ONE, TWO, ONE]
    alike = Work(lambda client: None, ONE)  # type: ignore[arg-type,return-value]
    assert alike.at(2) is alike
