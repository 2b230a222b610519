"""Values of parameters: drawn from a seed, or such as nobody else has."""

import random
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from pileup.builtin.database.parameters import DrawContext, Parameter, Values

ADAPTER: TypeAdapter[Values] = TypeAdapter(Parameter)


def drawn(given: Any, number: int = 0, seed: str = "1") -> Any:
    return ADAPTER.validate_python(given).draw(DrawContext(random.Random(f"{seed} {number}"), number, "f00"))


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("5", 5),
        ("5.5", 5.5),
        ("05", "05"),
        ("CREAM", "CREAM"),
        ({"fixed": "x"}, "x"),
        ({"sequence": "100"}, 103),
        ({"unique": "CREAM"}, "CREAMf00-3"),
        ({"choice": ["7"]}, 7),
    ],
)
def test_values_without_chance(given: Any, value: object) -> None:
    assert drawn(given, 3) == value
    assert type(drawn(given, 3)) is type(value)


def test_whole_numbers_reach_both_ends() -> None:
    found = {drawn({"uniform": ["1", "3"]}, number) for number in range(100)}
    assert found == {1, 2, 3}
    between = [drawn({"uniform": ["1.0", "3"]}, number) for number in range(100)]
    assert all(1 <= value <= 3 for value in between)
    assert len(set(between)) > 50


def test_a_law_and_a_choice() -> None:
    found = [drawn({"normal": ["10", "2"]}, number) for number in range(2000)]
    assert abs(sum(found) / len(found) - 10) < 0.2
    assert {drawn({"choice": ["a", "2"]}, number) for number in range(50)} == {"a", 2}


def test_the_same_seed_gives_the_same() -> None:
    law = {"uniform": ["1", "1000000"]}
    assert drawn(law, 5) == drawn(law, 5)
    assert drawn(law, 5) != drawn(law, 6)
    assert drawn(law, 5) != drawn(law, 5, "2")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"uniform": ["9", "1"]}, "from a larger to a smaller number"),
        ({"uniform": ["1", "2"], "sequence": "1"}, "2 ways to draw"),
        ({}, "0 ways to draw"),
        ({"choice": []}, "at least 1 item"),
        ({"normal": ["1", "-1"]}, "greater than or equal to 0"),
        ({"zipf": "1"}, "Extra inputs"),
    ],
)
def test_it_refuses_what_is_no_law(given: Any, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ADAPTER.validate_python(given)
