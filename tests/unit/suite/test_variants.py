"""Variables that a scan varies: their values are used wherever the variable is, and keep to what that asks for."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from pileup.suite.variants import MOST
from tests.unit.suite.conftest import HEAD

VARIABLES = "variables: {n: ~, size: 1 B, clients: '= 2 * $n'}\n"
TARGETS = "targets: {se: {kind: practice-storage, launch: {threads: 4, service: $n ms}}}\n"
TESTS = """tests:
  - {name: fill, use: storage.write, options: {files: $n}}
  - {name: press, use: noop, load: {clients: $clients, for: 1 s}, timeout: $n s}
options: {size: $size}
"""
SUITE = HEAD + VARIABLES + TARGETS + TESTS


def test_a_value_is_used_wherever_the_variable_is(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE + "scan: {n: [3, 5]}\n")
    assert made.points == ({"n": "3"}, {"n": "5"})
    assert [case.name for case in made.cases] == ["fill[n=3]", "press[n=3]", "fill[n=5]", "press[n=5]"]
    fills, presses = made.cases[::2], made.cases[1::2]
    assert [case.operations for case in fills] == [3, 5]
    assert [case.load.clients for case in presses] == [6, 10]
    assert [case.test.timeout for case in presses] == [3 * 10**9, 5 * 10**9]
    assert [case.settings for case in made.cases[1:3]] == [{"se": {"service": "3 ms"}}, {"se": {"service": "5 ms"}}]


def test_options_of_the_suite_follow_where_the_test_does_not_say_its_own(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE.replace("$n s", "1 s") + "scan: {together: [{n: 1, size: 1 B}, {n: 2, size: 4 B}]}\n")
    assert [case.bytes for case in made.cases if case.test.name == "fill"] == [1, 8]
    own = SUITE.replace("{files: $n}", "{files: $n, size: 9 B}")
    made = plan(own + "scan: {together: [{n: 1, size: 1 B}, {n: 2, size: 4 B}]}\n", {"options.folder": "f$size"})
    assert [case.bytes for case in made.cases if case.test.name == "fill"] == [9, 18]


def test_variables_are_crossed_with_other_axes(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE + "scan: {n: [1, 2], fill.order: [sequential, random]}\n")
    assert len(made.points) == 4
    assert [case.operations for case in made.cases if case.test.name == "fill"] == [1, 1, 2, 2]


def test_a_scanned_value_may_be_another_variable(plan: Callable[..., Plan]) -> None:
    text = SUITE.replace("variables: {", "variables: {most: 7, ") + "scan: {n: [1, $most]}\n"
    assert [point["n"] for point in plan(text).points] == ["1", "7"]
    assert [point["n"] for point in plan(text, {"most": "9"}).points] == ["1", "9"]


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        ("{n: [1, 0]}", ["9:15: `files` is '0'; expected at least 1", "`clients` is '0'"]),
        (
            "{n: [1], size: [1 B, 1 s, 2 s]}",
            ["9:28: `size`: '1 s' is a time", "9:33: `size`: '2 s' is a time; expected a size like '64 MiB'"],
        ),
        ("{n: [1], sice: [1 B]}", ["9:16: a scan over 'sice', which is nothing of this suite; expected 'size'"]),
        (
            "{n: [1], size: [1 B, ~, [1 B]]}",
            ["9:28: nothing for the variable 'size'; expected text", "9:31: a list for the variable 'size'"],
        ),
        ("{n: [1], size: [1 B, 1 B]}", ["9:28: '1 B' is given twice in a scan; expected values that differ"]),
    ],
)
def test_a_value_is_checked_where_it_is_used_and_told_where_it_stands(
    faults: Callable[..., list[str]], scan: str, told: list[str]
) -> None:
    found = faults(SUITE + f"scan: {scan}\n")
    assert len(found) >= len(told), found
    for want in told:
        assert any(want in each for each in found), found


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("seed: $n", "9:7: the scan varies $n, which is used here; expected a use in `options`, `load`"),
        ("repeat: '= $clients'", "9:9: the scan varies $n, which is used here"),
        ("limits: {duration: $n h}", "9:20: the scan varies $n, which is used here"),
        ("about: for $size", "9:8: the scan varies $size, which is used here"),
        ("criteria: [{id: C, says: x, check: count(press) > $n}]", "9:36: the scan varies $n, which is used here"),
    ],
)
def test_what_cannot_differ_from_point_to_point_may_not_use_it(
    faults: Callable[..., list[str]], line: str, told: str
) -> None:
    found = faults(SUITE + line + "\nscan: {n: [1, 2], size: [1 B, 2 B]}\n")
    assert any(each.startswith(told) for each in found), found


def test_axes_may_not_be_made_of_each_other(faults: Callable[..., list[str]]) -> None:
    found = faults(SUITE + "scan: {n: [1, 2], fill.files: [$n, 7]}\n")
    assert any(each.startswith("9:32: the scan varies $n, which is used here") for each in found), found


def test_a_variable_that_nothing_uses_is_no_axis(faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("{n: ~", "{n: 1, spare: 1")
    assert faults(text + "scan: {spare: [1, 2]}\n") == [
        "9:8: the scan varies the variable 'spare', which nothing uses; expected $spare in a test, or no such axis"
    ]


def test_what_only_a_launched_server_used_falls_away_with_it(plan: Callable[..., Plan]) -> None:
    text = SUITE.replace("{files: $n}", "{files: 1}").replace("= 2 * $n", "4").replace("$n s", "1 s")
    made = plan(text + "scan: {n: [1, 2], size: [1 B, 2 B]}\n", {"targets.se.url": "http://127.0.0.1:1/"})
    assert made.points == ({"size": "1 B"}, {"size": "2 B"})
    assert [(each.what, each.name, each.reason) for each in made.uncovered if each.what == "setting"] == [
        ("setting", "n", "pileup did not start se")
    ]


def test_what_is_scanned_cannot_be_set(faults: Callable[..., list[str]], plan: Callable[..., Plan]) -> None:
    text = SUITE + "scan: {n: [1, 2]}\n"
    assert faults(text, {"n": "5"}) == [
        "--set n: the scan varies the variable 'n'; expected its values in `scan` (--set scan.n=[5])"
    ]
    assert [point["n"] for point in plan(text, {"scan.n": "[5]"}).points] == ["5"]


def test_a_secret_is_no_value_of_a_scan(faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("kind: practice", "credentials: {token_file: x}, kind: practice")
    text = text.replace("options: {size", "environment: {set: {MY_TOKEN: $secret}}\noptions: {size")
    found = faults(text.replace("variables: {", "variables: {secret: ~, ") + "scan: {n: [1], secret: [abcdef]}\n")
    assert any("a secret is a value of a scan" in each for each in found), found
    assert "abcdef" not in "".join(found)


def test_so_many_combinations_at_most(faults: Callable[..., list[str]]) -> None:
    many = ", ".join(map(str, range(1, MOST + 2)))
    assert any(f"{MOST + 1} combinations" in each for each in faults(SUITE + f"scan: {{n: [{many}]}}\n"))


def test_without_a_scanned_variable_nothing_is_different(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE + "scan: {se.threads: [1, 2]}\n", {"n": "2"})
    assert [case.load.clients for case in made.cases if case.test.name == "press"] == [4, 4]
    assert made.cases[0].settings == {"se": {"threads": "1"}}


@pytest.mark.parametrize("change", [("{files: $n}", "{files: $n}"), ("{files: $n}", "{files: 1}")])
def test_what_is_done_once_for_all_points_may_not_change(
    faults: Callable[..., list[str]], change: tuple[str, str]
) -> None:
    text = SUITE.replace("use: storage.write", "use: storage.write, scope: run").replace(*change)
    told = faults(text + "scan: {together: [{n: 1, size: 1 B}, {n: 2, size: 2 B}]}\n")
    assert told == [
        "9:1: the variables of the scan change test 'fill', which is done once for all points; "
        "expected `scope: point` or `scope: case`"
    ]
