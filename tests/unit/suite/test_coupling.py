"""Axes that are varied together: rows become axes, and a group that goes on as one."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from tests.unit.suite.conftest import HEAD

SUITE = (
    HEAD
    + """targets: {se: {kind: practice-storage, launch: {threads: 4}}}
tests:
  - {name: fill, use: storage.write}
  - {name: press, use: noop, load: {clients: 2, for: 1 s}}
"""
)
PAIRS = "{press.load.clients: 1, fill.files: 4}, {press.load.clients: 2, fill.files: 8}"


def test_rows_go_on_as_one_and_are_crossed_with_other_axes(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE + f"scan: {{fill.size: [1 B, 2 B], together: [{PAIRS}]}}\n")
    assert made.points == (
        {"fill.size": "1 B", "press.load.clients": "1", "fill.files": "4"},
        {"fill.size": "1 B", "press.load.clients": "2", "fill.files": "8"},
        {"fill.size": "2 B", "press.load.clients": "1", "fill.files": "4"},
        {"fill.size": "2 B", "press.load.clients": "2", "fill.files": "8"},
    )
    assert made.together == (("press.load.clients", "fill.files"),)
    presses = [case for case in made.cases if case.test.name == "press"]
    assert [case.load.clients for case in presses] == [1, 2, 1, 2]
    fills = [case for case in made.cases if case.test.name == "fill"]
    assert [(case.operations, case.bytes) for case in fills] == [(4, 4), (8, 8), (4, 8), (8, 16)]


def test_points_of_groups_are_interleaved_like_any_others(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE + f"scan: {{together: [{PAIRS}]}}\nrepeat: 2\n")
    visits = {case.visit: (case.repeat, case.point["fill.files"]) for case in made.cases}
    assert visits == {0: (1, "4"), 1: (1, "8"), 2: (2, "8"), 3: (2, "4")}


def test_several_groups_are_crossed_with_each_other(plan: Callable[..., Plan]) -> None:
    sizes = "{fill.size: 1 B, se.threads: 1}, {fill.size: 1 B, se.threads: 2}, {fill.size: 2 B, se.threads: 2}"
    made = plan(SUITE + f"scan: {{together: [[{PAIRS}], [{sizes}]]}}\n")
    assert [tuple(point.values()) for point in made.points] == [
        *[("1", "4", "1 B", "1"), ("1", "4", "1 B", "2"), ("1", "4", "2 B", "2")],
        *[("2", "8", "1 B", "1"), ("2", "8", "1 B", "2"), ("2", "8", "2 B", "2")],
    ]
    assert made.together == (("press.load.clients", "fill.files"), ("fill.size", "se.threads"))
    assert made.cases[0].settings == {"se": {"threads": "1"}}


def test_criteria_may_name_a_point_by_one_of_its_parameters(plan: Callable[..., Plan]) -> None:
    criteria = "criteria: [{id: C, says: x, check: count(press) > 1, at: [{fill.files: 8}]}]\n"
    assert plan(SUITE + f"scan: {{together: [{PAIRS}]}}\n" + criteria).suite.criteria[0].at == ({"fill.files": "8"},)


@pytest.mark.parametrize(
    ("scan", "told"),
    [
        (
            "[{fill.files: 1, fill.size: 1 B}, {fill.files: 2, fill.sice: 2 B}, {fill.files: 3}]",
            [
                "7:68: 'fill.sice' is not in the first row of `together`; expected 'fill.size'",
                "7:85: the row lacks 'fill.size'; expected the parameters of the first row: fill.files",
            ],
        ),
        (
            "{fill.files: [1]}",
            ["7:18: `together` is a mapping; expected rows, e.g. [{n: 1, size: 1 GiB}, {n: 2, size: 2 GiB}]"],
        ),
        ("[]", ["7:18: `together` is empty; expected rows, e.g. [{n: 1, size: 1 GiB}, {n: 2, size: 2 GiB}]"]),
        (
            "[[{fill.files: 1}], {fill.size: 1 B}, []]",
            [
                "7:38: a mapping beside lists of rows; expected a list of rows for each group",
                "7:56: a group without rows; expected rows, e.g. [{n: 1, size: 1 GiB}, {n: 2, size: 2 GiB}]",
            ],
        ),
        ("[{fill.files: 1}, {}, 5]", ["7:36: a row of `together` is nothing", "7:40: a row of `together` is text"]),
        (
            "[{fill.files: 1, fill.size: 1 B}, {fill.files: 1, fill.size: 1 B}]",
            ["7:65: a row of `together` repeats an earlier one; expected rows that differ"],
        ),
        (
            "[{fill.files: 0, fill.size: 1 s}, {fill.files: 2, fill.size: 1 B}]",
            [
                "7:32: `files` is '0'; expected at least 1",
                "7:46: `size`: '1 s' is a time; expected a size like '64 MiB'",
            ],
        ),
        ("[{fill.files: 1}], fill.files: [2]", ["7:37: a second axis 'fill.files'; expected each axis once"]),
        ("[{fil.files: 1}]", ["7:20: a scan over 'fil.files', which is nothing of this suite; expected 'fill'"]),
    ],
)
def test_all_faults_of_rows_are_told_at_once(faults: Callable[..., list[str]], scan: str, told: list[str]) -> None:
    found = faults(SUITE + f"scan: {{together: {scan}}}\n")
    assert len(found) == len(told), found
    for have, want in zip(found, told, strict=True):
        assert have.startswith(want), found


def test_the_number_of_cases_counts_rows(faults: Callable[..., list[str]]) -> None:
    rows = ", ".join(f"{{fill.files: {number}, fill.size: {number} B}}" for number in range(1, 400))
    told = faults(SUITE + f"scan: {{together: [{rows}]}}\nrepeat: 200\n")
    assert told == [
        "7:7: 399 points x 200 repeats x 1 loop x 2 tests make 159600 cases; "
        "expected at most 100000 (vary less at a time)"
    ]


@pytest.mark.parametrize(
    "rows",
    [
        '<together><value press.load.clients="1" fill.files="4"/>'
        '<value press.load.clients="2" fill.files="8"/></together>',
        '<together press.load.clients="1" fill.files="4"/><together press.load.clients="2" fill.files="8"/>',
    ],
)
def test_the_same_in_xml(plan: Callable[..., Plan], rows: str) -> None:
    made = plan(
        '<suite pileup="1" title="t"><test name="fill" use="storage.write"/>'
        '<target name="se" kind="practice-storage"><launch threads="4"/></target>'
        f'<test name="press" use="noop"><load clients="2" for="1 s"/></test><scan>{rows}</scan></suite>'
    )
    assert [tuple(point.values()) for point in made.points] == [("1", "4"), ("2", "8")]
    assert made.together == (("press.load.clients", "fill.files"),)
