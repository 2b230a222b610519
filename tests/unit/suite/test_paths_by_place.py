"""Paths that differ by place: each point has that of the place that runs it."""

from __future__ import annotations

import pytest

from pileup.model.suite import Suite
from pileup.suite.expand import Expansion

MS = 10**6
BY_PLACE = {"by_place": [{"latency": "5 ms"}, {"latency": "80 ms"}]}


def round_trips(tests: list[dict[str, object]], **words: object) -> dict[str, int | None]:
    """Case -> what the path of target `se` adds there; None where the case sets nothing."""
    given = {"name": "a", "use": "x", "target": "se"}
    targets = {"se": {"kind": "x", "path": BY_PLACE}, "other": {"kind": "x"}}
    places = {"places": "processes:3", **words}
    plain = {"pileup": 1, "title": "t", "targets": targets, "tests": [{**given, **test} for test in tests], **places}
    suite = Suite.model_validate(plain)
    path = suite.targets["se"].path
    assert path
    found = {}
    for case in Expansion(suite, lambda _: set()).cases():
        settings = {name.removeprefix("path."): value for name, value in case.settings.get("se", {}).items()}
        found[case.name] = path.with_words(settings.items()).round_trip if settings else None
    return found


def test_each_point_has_the_path_of_its_place() -> None:
    found = round_trips([{}, {"name": "b", "scope": "point"}], scan={"places": [["1"], ["process 2"], ["3"]]})
    assert found == {
        **{f"{name}[places=[1]]": 5 * MS for name in "ab"},
        **{f"{name}[places=[process 2]]": 80 * MS for name in "ab"},
        **{f"{name}[places=[3]]": 5 * MS for name in "ab"},
    }


def test_tests_that_name_their_place_have_its_path_without_a_scan() -> None:
    assert round_trips([{"places": ["2"]}]) == {"a": 80 * MS}
    assert round_trips([{"target": "other"}]) == {"a": None}


def test_a_fleet_of_one_has_the_first() -> None:
    assert round_trips([{}], places="local") == {"a": 5 * MS}


def test_what_is_done_once_for_all_points_has_the_path_without_places() -> None:
    found = round_trips([{"scope": "run"}, {"name": "b"}], scan={"places": [["1"], ["2"]]})
    assert found == {"a": None, "b[places=[1]]": 5 * MS, "b[places=[2]]": 80 * MS}


def test_several_places_at_once_are_refused() -> None:
    with pytest.raises(ValueError, match="target 'se' differs by place, and 3 places reach it at a point"):
        round_trips([{}])
