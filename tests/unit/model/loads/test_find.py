"""The words of a load that looks for a level."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from pileup.fleet.order import Order
from pileup.model.loads.find import Find, FindShape
from pileup.model.loads.load import Load
from pileup.model.record import Phase
from pileup.model.words import load_words

FIND: dict[str, Any] = {"raise": "rate", "while": "p99(read.response) < 50 ms", "between": ["10 /s", "500 /s"]}
SECOND = 10**9


def _load(**changes: Any) -> Load:
    return Load.model_validate({"find": FIND | changes, "for": "1 min"})


def test_its_time_is_that_of_all_trials_and_of_measuring_the_answer() -> None:
    load = _load(settle="3 s", trial="7 s", at_most=20)
    assert (load.kind, load.lasting, load.before, load.endless) == (
        "open",
        (20 * 10 + 4 * 63) * SECOND,
        3 * SECOND,
        False,
    )
    assert load_words(load) == (
        "open, the highest of 10-500 /s with p99(read.response) < 50 ms, at most 1 % not passed, then there for "
        "1 min after 3 s settling"
    )
    closed = _load(**{"raise": "clients", "between": [1, 40]})
    assert (closed.kind, closed.most) == ("closed", 40)


def test_t2_several_conditions_and_what_may_not_pass_are_words_of_the_load() -> None:
    both = "p90(q) < 1 s and fraction(q.refused) < 2 %"
    find = Find.model_validate(FIND | {"while": both, "not_passed": "5 %"})
    assert [each.text for each in find.conditions] == both.split(" and ")
    assert find.words == f"{both}, at most 5 % not passed"
    assert Find.model_validate(FIND).not_passed == 0.01
    assert Find.model_validate(FIND | {"not_passed": "100 %"}).words == "p99(read.response) < 50 ms"


def test_a_trial_is_marked_as_one_for_the_engine() -> None:
    load = FindShape(_load(settle="1 s")).at(20.0, SECOND)
    order = Order(1, "t", load, SECOND, 1, trial=True)
    told = json.loads(order.to_native(0, 0, 1, 0))
    assert (told["trial"], told["rate"], told["kind"]) == (True, 20.0, "open")
    assert [order.phase_at(at) for at in (0, SECOND)] == [Phase.RAMP, Phase.WARM_UP]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"between": [5, 5]}, "expected .lowest level above 0, highest level"),
        ({"between": [0, 5]}, "expected .lowest level above 0, highest level"),
        ({"between": ["1 s", 5]}, "expected a rate"),
        ({"raise": "clients", "between": [1, 2.5]}, "expected whole numbers"),
        ({"raise": "clients", "between": [1, 20], "start": 2.5}, "expected a whole number"),
        ({"start": 600}, "expected a level between 10 and 500"),
        ({"within": "0.1 %"}, "expected a share between 0.5 % and 50 %"),
        ({"not_passed": "101 %"}, "expected a share between 0 % and 100 %"),
        ({"not_passed": "-1 %"}, "expected a fraction of 0 or more"),
        ({"not_passed": "any"}, "not_passed"),
        ({"trial": "100 ms"}, "greater than or equal"),
        ({"at_most": 1}, "greater than or equal"),
        ({"raise": "threads"}, "'rate' or 'clients'"),
    ],
)
def test_a_search_that_cannot_be_is_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        _load(**words)


@pytest.mark.parametrize("beside", [{"rate": "5 /s"}, {"times": 3}, {"ramp": "3 s"}, {"warm_up": "3 s"}, {"for": None}])
def test_no_other_level_stands_beside_a_search(beside: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="find"):
        Load.model_validate({"find": FIND, "for": "1 min", **beside})
