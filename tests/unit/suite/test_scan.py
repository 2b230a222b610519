"""Points of a scan: axes, combinations, the order of visits, and what a test and its targets are at a point."""

import pytest
from pydantic import ValidationError

from pileup.model.loads.load import Load
from pileup.model.suite import Suite, TestSpec
from pileup.suite.scan import (
    Axis,
    axes_of,
    axis_of,
    load_with,
    points_of,
    settings_at,
    test_at,
    text_of,
    visits,
)

test_at.__test__ = False


def suite(scan: dict[str, list[object]]) -> Suite:
    tests = [{"name": "copy", "use": "x"}, {"name": "both", "use": "x"}]
    targets = {"se": {"kind": "x", "url": "u"}, "both": {"kind": "x", "url": "u"}}
    return Suite.model_validate({"pileup": 1, "title": "t", "tests": tests, "targets": targets, "scan": scan})


@pytest.mark.parametrize(
    ("name", "kind", "owner", "word"),
    [
        ("se.threads", "setting", "se", "threads"),
        ("copy.buffer", "option", "copy", "buffer"),
        ("copy.load", "option", "copy", "load"),
        ("copy.load.clients", "load", "copy", "clients"),
        ("options.size", "common", "options", "size"),
        ("options.target", "target", "options", "target"),
        ("copy.target", "target", "copy", "target"),
        ("se.target", "setting", "se", "target"),
        ("both.size", "option", "both", "size"),
        ("se.load.clients", "unknown", "se", "load.clients"),
        ("copy.load.think.uniform", "unknown", "copy", "load.think.uniform"),
        ("options.a.b", "unknown", "options", "a.b"),
        ("other.size", "unknown", "other", "size"),
    ],
)
def test_a_name_tells_what_is_varied(name: str, kind: str, owner: str, word: str) -> None:
    axis = axis_of(name, ("1",), {"copy", "both"}, {"se", "both"})
    assert (axis.kind, axis.owner, axis.word) == (kind, owner, word)


def test_the_last_axis_varies_fastest() -> None:
    axes = axes_of(suite({"se.threads": ["4", "16"], "copy.buffer": ["a", "b"]}))
    assert [tuple(point.values()) for point in points_of(axes)] == [("4", "a"), ("4", "b"), ("16", "a"), ("16", "b")]


def test_no_axes_are_one_empty_point() -> None:
    assert points_of([]) == [{}]


def test_every_second_repeat_goes_backwards() -> None:
    assert list(visits(3, 4)) == [
        *[(1, 0), (1, 1), (1, 2)],
        *[(2, 2), (2, 1), (2, 0)],
        *[(3, 0), (3, 1), (3, 2)],
        *[(4, 2), (4, 1), (4, 0)],
    ]


@pytest.mark.parametrize("points", [1, 2, 5])
def test_a_linear_drift_falls_on_all_points_alike(points: int) -> None:
    moments: dict[int, list[int]] = {}
    for moment, (_, point) in enumerate(visits(points, 4)):
        moments.setdefault(point, []).append(moment)
    assert len({sum(each) for each in moments.values()}) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [("4", "4"), (4, "4"), (None, ""), (["a", "b"], "[a, b]"), ({"uniform": ["1 s", "2 s"]}, "{uniform: [1 s, 2 s]}")],
)
def test_values_as_people_read_them(value: object, text: str) -> None:
    assert text_of(value) == text


def spec(**words: object) -> TestSpec:
    return TestSpec.model_validate({"name": "copy", "use": "x", **words})


def axis(name: str) -> Axis:
    return axis_of(name, (), {"copy", "other"}, {"se"})


def test_options_of_the_point_take_the_place_of_those_of_the_suite() -> None:
    test = spec(options={"size": "1", "files": "2"})
    found = test_at(test, [axis("copy.size"), axis("other.files")], {"copy.size": "9", "other.files": "7"}, {"size"})
    assert found.options == {"size": "9", "files": "2"}
    assert test.options == {"size": "1", "files": "2"}


def test_common_options_reach_who_has_them_and_does_not_say_its_own() -> None:
    axes, point = [axis("options.size")], {"options.size": "9"}
    assert test_at(spec(), axes, point, {"size"}).options == {"size": "9"}
    assert test_at(spec(), axes, point, {"files"}).options == {}
    assert test_at(spec(options={"size": "1"}), axes, point, {"size"}).options == {"size": "1"}


def test_words_of_the_load_take_the_place_of_the_suites() -> None:
    test = spec(load={"clients": "2", "for": "1 s"})
    found = test_at(test, [axis("copy.load.clients")], {"copy.load.clients": "8"}, set())
    assert (found.load.clients, found.load.for_) == (8, 10**9)


def test_nothing_varied_is_the_same_test() -> None:
    test = spec()
    assert test_at(test, [axis("other.size")], {"other.size": "1"}, {"size"}) is test


def test_loads_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValidationError):
        load_with(Load.model_validate({"rate": 5, "for": "1 s"}), {"think": "1 s"})


def test_settings_by_target() -> None:
    axes = [axis("se.threads"), axis("se.queue"), axis("copy.size")]
    point = {"se.threads": "4", "se.queue": "9", "copy.size": "1"}
    assert settings_at(axes, point) == {"se": {"threads": "4", "queue": "9"}}


def test_an_axis_over_targets_aims_its_test_or_all_that_name_none() -> None:
    every, own = axis("options.target"), axis("copy.target")
    point = {"options.target": "se", "copy.target": "site"}
    assert test_at(spec(), [every], point, set()).target == "se"
    assert test_at(spec(target="mine"), [every], point, set()).target == "mine"
    assert test_at(spec(target="mine"), [own], point, set()).target == "site"
    assert test_at(spec(), [axis("other.target")], {"other.target": "se"}, set()).target is None
