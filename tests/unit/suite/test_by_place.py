"""Options with a value for each place: each is checked, and the plan bounds what all of them may do."""

from collections.abc import Callable

import pytest

from pileup.model.by_place import at_place, values_by_place
from pileup.model.plan import Plan
from pileup.suite import instances
from tests.unit.suite.conftest import HEAD

SUITE = HEAD + "targets: {se: {kind: posix}}\nplaces: processes:3\n"


def test_the_first_value_comes_again_after_the_last() -> None:
    options = {"folder": {"by_place": ["/a", "/b"]}, "size": 4, "law": {"by_place": [1], "other": 2}}
    assert [at_place(options, place)["folder"] for place in (1, 2, 3)] == ["/a", "/b", "/a"]
    assert at_place(options, 2) == {"folder": "/b", "size": 4, "law": {"by_place": [1], "other": 2}}
    assert values_by_place({"by_place": "text"}) == values_by_place("x") == []


def test_each_place_has_its_own(plan: Callable[..., Plan]) -> None:
    text = SUITE + "options: {size: {by_place: [1 B, 9 B, 2 B]}}\n"
    made = plan(text + "tests: [{name: fill, use: storage.write, options: {folder: {by_place: [a, b]}}}]\n")
    case = made.case(1)
    assert list(instances.places_that_differ(made, case)) == [1, 2, 3]
    tests = [instances.make_test(made, case, lambda name: None, 0, place=place) for place in (1, 2, 3)]
    assert [(test.folder, test.size) for test in tests] == [("a", 1), ("b", 9), ("a", 2)]  # type: ignore[attr-defined]
    assert case.bytes == 9, "the most of all places"
    alike = plan(SUITE + "tests: [{name: fill, use: storage.write, options: {folder: {by_place: [a]}}}]\n")
    assert list(instances.places_that_differ(alike, alike.case(1))) == [1]


def test_values_of_a_scan_may_be_by_place(plan: Callable[..., Plan]) -> None:
    made = plan(
        SUITE
        + "tests: [{name: fill, use: storage.write}]\nscan: {fill.folder: [{by_place: [a, b]}, {by_place: [c]}]}\n"
    )
    assert [point["fill.folder"] for point in made.points] == ["{by_place: [a, b]}", "{by_place: [c]}"]
    assert instances.make_test(made, made.case(1), lambda name: None, 0, place=2).folder == "b"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("files: {by_place: [1, 0, x]}", ["5:74: `files` is '0'; expected at least 1", "5:77: `files`: 'x' is not a"]),
        ("files: {by_place: []}", ["5:70: `by_place` is empty; expected a list with the value of each place"]),
        ("files: {by_place: 4}", ["5:70: `by_place` is text; expected a list with the value of each place"]),
        ("files: {by_plac: [4]}", ["`files`"]),
        ("fils: {by_place: [4, 5]}", ["5:52: 'storage.write' has no option 'fils'; expected 'files'"]),
    ],
)
def test_each_value_is_checked_where_it_stands(faults: Callable[..., list[str]], options: str, told: list[str]) -> None:
    found = faults(SUITE + f"tests: [{{name: fill, use: storage.write, options: {{{options}}}}}]\n")
    assert len(found) == len(told), found
    for have, want in zip(found, told, strict=True):
        assert want in have, found
