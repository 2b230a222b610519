"""Rules about scans that the corpus of bad suites does not show: what is right, and what is told at which value."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from pileup.suite.scan import MOST_CASES
from tests.unit.suite.conftest import HEAD

TARGETS = """targets:
  se: {kind: practice-storage, launch: {threads: 4}}
  site: {kind: http, url: http://127.0.0.1:1/, settings: {throttle: {set: "set {value}", default: 4}}}
"""
TESTS = """tests:
  - {name: fill, use: storage.write, target: se}
  - {name: press, use: noop, load: {clients: 2, for: 1 s}}
"""
SUITE = HEAD + TARGETS + TESTS


@pytest.mark.parametrize(
    "scan",
    [
        "{se.threads: [4, 16]}",
        "{se.service: [{fixed: 1 ms}, {lognormal: [20 ms, 0.3]}, 5 ms]}",
        "{site.throttle: [1, many, ~]}",
        "{fill.files: [1, 2], fill.size: [1 B, 2 B]}",
        "{press.load.clients: [1, 2], press.load.ramp: [0 s, 1 s]}",
        "{press.load.think: [1 s, {uniform: [1 s, 2 s]}]}",
        "{options.size: [1 B, 2 B]}",
        "{press.cost: [1 ms]}",
    ],
)
def test_what_may_be_scanned(plan: Callable[..., Plan], scan: str) -> None:
    made = plan(SUITE + f"scan: {scan}\n")
    assert len(made.cases) == 2 * len(made.points)


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        ("{fill.files: [1, 0]}", "9:24: `files` is '0'; expected at least 1"),
        ("{se.threads: [4, 0]}", "9:24: `threads` is '0'; expected at least 1"),
        ("{press.load.clients: [1, 0]}", "9:32: `clients` is '0'; expected at least 1"),
        ("{options.size: [1 B, 1 s]}", "9:28: `size`: '1 s' is a time; expected a size like '64 MiB'"),
        (
            "{press.load.rate: [5], press.load.think: [1 s]}",
            "9:1: press[press.load.rate=5,press.load.think=1 s]: an open load has no think time; "
            "expected think only with clients or times",
        ),
        (
            "{fill.files: [1000000], fill.size: [1 TiB]}",
            "9:1: fill[fill.files=1000000,fill.size=1 TiB]: 1000000 files of 1099511627776 B; "
            "expected at most 1 PiB in all",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told(faults: Callable[..., list[str]], scan: str, told: str) -> None:
    assert faults(SUITE + f"scan: {scan}\n") == [told]


TWO = """targets:
  se: {kind: practice-storage, launch: {threads: 4}}
  disk: {kind: posix}
  site: {kind: http, url: http://127.0.0.1:1/}
tests:
  - {name: fill, use: storage.write, scope: point}
  - {name: read, use: storage.write}
  - {name: mine, use: storage.write, target: disk}
"""


def test_tests_without_a_target_go_to_that_of_the_point(plan: Callable[..., Plan]) -> None:
    made = plan(HEAD + TWO + "scan: {options.target: [se, disk]}\n")
    assert [(case.test.name, case.test.target) for case in made.cases] == [
        *[("fill", "se"), ("read", "se"), ("mine", "disk")],
        *[("fill", "disk"), ("read", "disk"), ("mine", "disk")],
    ]
    made = plan(HEAD + TWO.replace("point}", "point, target: se}") + "scan: {read.target: [se, disk]}\n")
    assert [case.test.target for case in made.cases if case.test.name == "read"] == ["se", "disk"]


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        ("{options.target: [se, sea]}", ["11:29: there is no target 'sea'; expected 'se'"]),
        ("{mine.target: [site]}", ["names no target", "names no target", "11:22: test 'storage.write' needs 'files'"]),
    ],
)
def test_targets_of_a_scan_must_be_there_and_fit(faults: Callable[..., list[str]], scan: str, told: list[str]) -> None:
    found = faults(HEAD + TWO + f"scan: {scan}\n")
    assert len(found) == len(told), found
    for have, want in zip(found, told, strict=True):
        assert want in have


def test_the_number_of_cases_is_known_before_they_are_made(
    plan: Callable[..., Plan], faults: Callable[..., list[str]]
) -> None:
    one = HEAD + "tests: [{name: a, use: noop}]\nscan: {a.cost: [1 s, 2 s]}\n"
    assert len(plan(one + "repeat: 50\nloop: 10\n").cases) == 1000
    assert str(MOST_CASES) in faults(one + "repeat: 10000\nloop: 6\n")[0]


def test_an_axis_of_a_test_at_fault_is_told_once(faults: Callable[..., list[str]]) -> None:
    found = faults(HEAD + "tests: [{name: a, use: nop}]\nscan: {a.cost: [1 s]}\n")
    assert len(found) == 1
    assert "there is no test 'nop'" in found[0]


def test_criteria_may_name_points(plan: Callable[..., Plan]) -> None:
    criteria = "criteria: [{id: C, says: x, check: count(press) > 1, at: [{se.threads: 4}, {se.threads: 16}]}]\n"
    made = plan(SUITE + "scan: {se.threads: [4, 16], press.load.clients: [1, 2]}\n" + criteria)
    assert made.suite.criteria[0].at == ({"se.threads": "4"}, {"se.threads": "16"})


FLEET = SUITE + "places: processes:3\n"


def test_places_and_environments_may_be_scanned(plan: Callable[..., Plan]) -> None:
    made = plan(FLEET + "scan: {places: [1, 3], press.places: [[1, process 2], [3]]}\n")
    assert [(case.test.name, case.test.places) for case in made.cases] == [
        *[("fill", 1), ("press", {"1", "process 2"}), ("fill", 1), ("press", {"3"})],
        *[("fill", 3), ("press", {"1", "process 2"}), ("fill", 3), ("press", {"3"})],
    ]
    own = SUITE.replace("use: noop", "use: noop, environment: mine.sh").replace(
        "use: storage.write", "use: command, options: {command: a}"
    )
    made = plan(own + "environment: base.sh\nscan: {environment: [a.sh, {set: {A: 1}}, ~]}\n")
    told = [case.test.environment for case in made.cases]
    assert [each and (each.source, each.set_) for each in told] == [
        *[("a.sh", {}), ("mine.sh", {}), (None, {"A": "1"}), ("mine.sh", {}), (None, {}), ("mine.sh", {})]
    ]


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        ("{places: [4]}", "10:17: `places` is '4', and the fleet has 3 places; expected at most 3"),
        ("{press.places: [0]}", "10:23: `places` is '0'; expected at least 1"),
        ("{places: [[4], [process 9], []]}", "10:17: the fleet has no place '4'; expected a number up to 3, or a name"),
        ("{places: [[process 9]]}", "10:17: the fleet has no place 'process 9'; expected 'process"),
        ("{places: [[]]}", "10:17: `places`: no place is named; expected a number of places, or a list of them"),
        ("{environment: [[a]]}", "10:22: `environment` is a list; expected a mapping"),
        ("{environment: [a.sh]}", "10:8: the scan varies `environment`, and all tests are run by the engine"),
        ("{se.path.latency: [1 ms]}", "10:8: 'se.path.latency' is varied, and target 'se' has no `path`"),
        ("{place: [1]}", "10:8: a scan over 'place', which is nothing of this suite; expected 'places'"),
    ],
)
def test_what_the_fleet_and_tests_cannot_take_is_told(faults: Callable[..., list[str]], scan: str, told: str) -> None:
    found = faults(FLEET + f"scan: {scan}\n")
    assert any(each.startswith(told) for each in found), found


def test_a_test_asks_for_no_more_places_than_there_are(faults: Callable[..., list[str]]) -> None:
    text = FLEET.replace("use: noop", "use: noop, places: 4")
    assert faults(text) == [
        "8:38: `places` is '4', and the fleet has 3 places; expected at most 3 "
        "(`places: processes:4` in the suite, or --fleet)"
    ]
    assert faults(text, {"places": "processes:4"}) == []
    every = FLEET.replace("use: noop", "use: noop, places: 1").replace("target: se}", "target: se, places: 1}")
    assert "10:8: 'places' is for no test: each says its own `places`" in faults(every + "scan: {places: [1]}\n")[0]


def test_a_word_of_the_scan_is_no_variable(faults: Callable[..., list[str]]) -> None:
    told = faults(FLEET + "variables: {places: 1}\noptions: {files: $places}\nscan: {places: [1, 2]}\n")
    assert any("'places' is a variable and what the scan varies by that name" in each for each in told), told


def test_places_of_a_test_are_the_same_in_xml(plan: Callable[..., Plan]) -> None:
    tests = (
        '<test name="a" use="noop" places="2"/><test name="b" use="noop"><places>2</places></test>'
        '<test name="c" use="noop"><places><value>1</value><value>process 3</value></places></test>'
        '<test name="d" use="noop"><options><cost>'
        "<by_place><value>1 s</value><value>2 s</value></by_place></cost></options></test>"
    )
    made = plan(f'<suite pileup="1" title="t" places="processes:3">{tests}</suite>')
    assert [case.test.places for case in made.cases] == [2, 2, {"1", "process 3"}, None]
    assert made.cases[3].test.options == {"cost": {"by_place": ["1 s", "2 s"]}}


@pytest.mark.parametrize("axis", ["fill.files: [1, 2]", "fill.load.times: [1, 2]", "fill.places: [1, 3]"])
def test_what_is_done_once_for_all_points_is_no_axis(faults: Callable[..., list[str]], axis: str) -> None:
    once = FLEET.replace("target: se}", "target: se, scope: run}")
    assert faults(once + f"scan: {{{axis}}}\n") == [
        f"10:8: a scan over '{axis.partition(':')[0]}', and test 'fill' is done once for all points; "
        "expected `scope: point` or `scope: case` for it"
    ]
