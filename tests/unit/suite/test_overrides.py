"""What --set changes, and how it is refused."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan

SUITE = """
pileup: 1
title: t
variables: {clients: 250, token: }
targets:
  se: {kind: practice-storage, launch: {threads: 3}}
tests:
  - {name: fill, use: storage.write, options: {files: 3}}
  - {name: copy, use: noop, load: {clients: $clients, for: 1 s}}
monitors:
  - {use: node}
  - {use: process, match: x}
criteria:
  - {id: C1, says: x, check: count(copy.passed) > 3}
"""


def test_a_variable_is_set_by_its_name(plan: Callable[..., Plan]) -> None:
    assert plan(SUITE).suite.test("copy").load.clients == 250
    assert plan(SUITE, {"clients": "10"}).suite.test("copy").load.clients == 10


def test_a_word_is_set_by_its_path(plan: Callable[..., Plan]) -> None:
    values = {
        "title": "other",
        "tests.copy.load.for": "3 min",
        "tests.0.timeout": "5 s",
        "tests.copy.load.think": "{uniform: [1 s, 2 s]}",
        "monitors.node.every": "2 s",
        "criteria.C1.says": "y: z # no comment",
        "limits.bytes": "1 TB",
        "about": "'quoted'",
    }
    suite = plan(SUITE, values).suite
    assert suite.title == "other"
    assert suite.test("copy").load.for_ == 180 * 10**9
    assert suite.test("copy").load.think.uniform == (10**9, 2 * 10**9)
    assert suite.tests[0].timeout == 5 * 10**9
    assert suite.monitors[0].every == 2 * 10**9
    assert suite.criteria[0].says == "y: z # no comment"
    assert suite.limits.bytes == 10**12
    assert suite.about == "quoted"


def test_a_url_takes_the_place_of_the_launch(plan: Callable[..., Plan]) -> None:
    target = plan(SUITE, {"targets.se.url": "http://127.0.0.1/"}).suite.targets["se"]
    assert target.url == "http://127.0.0.1/"
    assert target.launch is None


SCANNED = """
pileup: 1
title: x
variables: {n: ~}
tests: [{name: get, use: noop, load: {clients: $n, for: 1 s}}]
scan:
  n: [1, 2]
  together: [{get.load.pacing: normal, get.cost: 1 us}, {get.load.pacing: coarse, get.cost: 2 us}]
"""


@pytest.mark.parametrize(
    ("name", "value", "axis", "values"),
    [
        ("scan.get.load.warm_up", "[1 s, 2 s]", "get.load.warm_up", ["1 s", "2 s"]),
        ("scan.n", "[4]", "n", ["4"]),
        ("scan.n.1", "8", "n", ["1", "8"]),
        ("scan.together.0.get.load.pacing", "precise", "get.load.pacing", ["precise", "coarse"]),
    ],
)
def test_an_axis_is_set_by_its_whole_name(
    plan: Callable[..., Plan], name: str, value: str, axis: str, values: list[str]
) -> None:
    points = plan(SCANNED, {name: value}).points
    assert list(dict.fromkeys(point[axis] for point in points)) == values


def test_null_removes_a_value(plan: Callable[..., Plan]) -> None:
    values = {"tests.copy.load.for": "null", "tests.copy.load.times": "3"}
    assert plan(SUITE, values).suite.test("copy").load.for_ is None


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("cleints", "3", "--set cleints: there is no variable 'cleints'; expected 'clients'"),
        ("clients", "[1, 2]", "--set clients: a list for a variable; expected one value"),
        ("clients", "many", "9:45: `clients`: 'many' is not a number with a unit"),
        ("tests.cpoy.timeout", "3 s", "--set tests.cpoy.timeout: there is no item 'cpoy'; expected 'copy'"),
        ("tests.7.timeout", "3 s", "--set tests.7.timeout: there is no item '7'; expected one of copy, fill"),
        ("title.x", "3", "--set title.x: 'x' goes into text"),
        ("tests..x", "3", "--set tests..x: 'tests..x' is not a path"),
        ("a." * 30 + "b", "3", "is not a path"),
        ("limits.byte", "3 GB", "--set limits.byte: unknown word 'byte'; expected 'bytes'"),
        ("limits.bytes", "3 s", "--set limits.bytes: `bytes`: '3 s' is a time"),
        ("limits", "{bytes: ", "--set limits: this is not YAML"),
        ("limits", "{bytes: !x 3}", "--set limits: the tag '!x'"),
        ("limits.bytes", "3\x00", "--set limits.bytes: a control character"),
        ("title", "\udcff", "--set title: a control character or a byte that is not UTF-8"),
        ("tests", "{}", "--set tests: `tests` is a mapping; expected a list"),
        ("tests.copy", "{name: x}", "--set tests.copy: the word `use` is missing"),
        ("against", "{a: 1}", "--set against: `against` is reserved: not yet built"),
    ],
)
def test_what_cannot_be_set_is_a_fault(faults: Callable[..., list[str]], name: str, value: str, fault: str) -> None:
    assert any(fault in each for each in faults(SUITE, {name: value})), faults(SUITE, {name: value})


def test_an_item_whose_name_is_not_its_own_is_told(faults: Callable[..., list[str]]) -> None:
    suite = SUITE.replace("{use: process, match: x}", "{use: node, name: n}")
    two = suite + "  - {id: C1, says: y, check: count(copy.passed) > 3}\n"
    assert "2 items are called 'C1'" in faults(two, {"criteria.C1.says": "z"})[-1]


def test_faults_of_values_come_after_those_of_the_file(faults: Callable[..., list[str]]) -> None:
    found = faults(SUITE + "tittle: x\n", {"limits.bytes": "3 s", "limits.duration": "3 B"})
    assert [fault.partition(": ")[0] for fault in found] == ["15:1", "--set limits.bytes", "--set limits.duration"]


TWO_DOORS = SUITE.replace(
    "tests:\n",
    "  door: {kind: http, url: 'http://127.0.0.1:5/', like: se}\n"
    "  other: {kind: practice-storage, launch: {}}\ntests:\n  - {name: far, use: noop, target: door}\n",
    1,
).replace("use: storage.write,", "use: storage.write, target: se,")
URL = "https://127.0.0.1/"


def test_a_target_is_the_one_that_it_is_like_when_that_is_given_a_url(plan: Callable[..., Plan]) -> None:
    assert plan(TWO_DOORS).suite.targets["door"].kind == "http"
    assert plan(TWO_DOORS, {"targets.se.launch.threads": "4"}).suite.targets["door"].kind == "http"
    targets = plan(TWO_DOORS, {"targets.se.url": URL, "targets.se.credentials.ca": "/ca.pem"}).suite.targets
    assert targets["door"] == targets["se"]
    assert (targets["door"].kind, targets["door"].url, targets["door"].launch) == ("practice-storage", URL, None)
    assert targets["other"].launch == {}


@pytest.mark.parametrize(("word", "value"), [("url", "https://127.0.0.1:2/x"), ("credentials.ca", "/ca.pem")])
def test_a_target_that_is_set_itself_is_like_no_other(plan: Callable[..., Plan], word: str, value: str) -> None:
    door = plan(TWO_DOORS, {"targets.se.url": URL, f"targets.door.{word}": value}).suite.targets["door"]
    assert door.kind == "http"
    assert door.url == (value if word == "url" else "http://127.0.0.1:5/")


def test_a_target_is_like_another_that_is_there(faults: Callable[..., list[str]]) -> None:
    assert "target 'door' is like 'sse'; expected 'se'" in faults(TWO_DOORS.replace("like: se", "like: sse"))[0]
    assert "target 'door' is like 'door'; expected" in faults(TWO_DOORS.replace("like: se", "like: door"))[0]
    made = TWO_DOORS.replace("token: ", "token: se").replace("like: se", "like: $token")
    assert "`like` is made from $token; expected the name" in faults(made)[0]


BESIDE = """pileup: 1
title: beside
targets:
  se: {kind: practice-storage, launch: {}}
  door: {kind: practice-storage, launch: {}, like: se}
  peer: {kind: practice-storage, launch: {}, beside: door}
tests:
  - {name: last, use: noop, after: [sent]}
  - {name: fill, use: storage.write, target: door}
  - {name: sent, use: noop, target: peer, after: [fill]}
  - {name: look, use: noop, target: se, after: [fill]}
criteria:
  - {id: C1, says: sent, check: fraction(sent.failed) == 0, remark: once}
  - {id: C2, says: seen, check: fraction(look.failed) == 0}
"""


def test_tests_of_a_private_server_beside_one_with_a_url_are_left_out(plan: Callable[..., Plan]) -> None:
    whole = plan(BESIDE)
    assert ([test.name for test in whole.suite.tests], whole.uncovered) == (["last", "fill", "sent", "look"], ())
    short = plan(BESIDE, {"targets.se.url": URL})
    assert [test.name for test in short.suite.tests] == ["fill", "look"]
    lost = {each.name: each.reason for each in short.uncovered if each.what == "test"}
    assert lost == dict.fromkeys(("last", "sent"), "door has a url, and peer has none")
    sent, seen = short.suite.criteria
    assert (sent.check, sent.coverage, sent.remark) == (None, "none", "once; door has a url, and peer has none")
    assert seen.check is not None and seen.coverage == "full"


def test_a_server_beside_another_may_have_a_url_of_its_own(plan: Callable[..., Plan]) -> None:
    found = plan(BESIDE, {"targets.se.url": URL, "targets.peer.url": "https://127.0.0.1:2/"})
    assert len(found.suite.tests) == 4
    assert not [each for each in found.uncovered if each.what == "test"]


def test_a_target_is_beside_another_that_is_there(faults: Callable[..., list[str]]) -> None:
    assert "target 'peer' is beside 'dor'; expected 'door'" in faults(BESIDE.replace("beside: door", "beside: dor"))[0]
