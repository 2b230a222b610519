"""The nearest names: slips are found, poor matches are dropped."""

import pytest

from pileup.model.nearest import COMPARED, nearest


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("rnu", ("run", "try", "resume"), ["run"]),
        ("fro", ("for", "from_x", "rate"), ["for"]),
        ("RUN", ("run", "try"), ["run"]),
        ("vaildate", ("validate", "verify"), ["validate"]),
        ("first-rnu", ("first-run", "find", "hold"), ["first-run"]),
        ("--clients", ("--fleet", "--quiet", "--out"), []),
        ("--quite", ("--fleet", "--quiet", "--out"), ["--quiet"]),
        ("storage.wriet", ("storage.write", "storage.read", "noop"), ["storage.write"]),
        ("xyz", ("run", "try"), []),
        ("", ("run",), []),
        ("run", (), []),
    ],
)
def test_a_slip_is_known_and_nothing_else(word: str, known: tuple[str, ...], found: list[str]) -> None:
    assert nearest(word, known) == found


def test_the_nearest_comes_first_and_no_more_than_are_wanted() -> None:
    assert nearest("copy", ["copies", "copy1", "copy22", "copy2"], 2) == ["copy1", "copy2"]


def test_of_very_many_names_those_are_compared_that_begin_or_end_alike() -> None:
    names = [f"t{number}" for number in range(COMPARED)] + ["target", "testing"]
    assert nearest("tagret", names) == ["target"]
