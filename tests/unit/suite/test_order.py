"""The order of tests, and circles by name."""

import pytest

from pileup.suite.order import circles, order


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({}, []),
        ({"a": [], "b": [], "c": []}, ["a", "b", "c"]),
        ({"a": ["c"], "b": [], "c": []}, ["b", "c", "a"]),
        ({"a": ["d"], "b": [], "c": ["a"], "d": ["b"]}, ["b", "d", "a", "c"]),
        ({"a": [], "b": ["a", "a"]}, ["a", "b"]),
        ({"a": ["b"], "b": ["a"], "c": ["a"], "d": []}, ["d"]),
        ({"a": ["missing"], "b": []}, ["b"]),
    ],
)
def test_what_is_needed_comes_before(needs: dict[str, list[str]], expected: list[str]) -> None:
    assert order(needs) == expected


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({"a": [], "b": ["a"]}, []),
        ({"a": ["a"]}, [["a", "a"]]),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, [["a", "b", "c", "a"]]),
        ({"x": ["c"], "a": ["b"], "b": ["c"], "c": ["a"]}, [["a", "b", "c", "a"]]),
        ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"], "e": ["a", "d"]}, [["a", "b", "a"], ["c", "d", "c"]]),
        ({"a": ["missing"]}, []),
    ],
)
def test_circles_are_named(needs: dict[str, list[str]], expected: list[list[str]]) -> None:
    assert circles(needs) == expected


def test_a_long_chain_is_no_trouble() -> None:
    names = [f"t{number}" for number in range(5000)]
    needs = {name: [names[number + 1]] if number + 1 < len(names) else [] for number, name in enumerate(names)}
    assert order(needs) == names[::-1]
    assert not circles(needs)
    assert len(circles({**needs, names[-1]: [names[0]]})[0]) == 5001
