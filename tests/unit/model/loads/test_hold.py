"""The words of a load that is held."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pileup.fleet.order import Order
from pileup.model.loads.load import Load
from pileup.model.words import load_words

HOLD: dict[str, Any] = {"metric": "queue.waiting", "at": "5000", "by": "rate", "between": ["0 /s", "50 /s"]}
SECOND = 10**9


def _load(**changes: Any) -> Load:
    return Load.model_validate({"hold": HOLD | changes, "for": "10 min"})


def test_a_hold_is_an_open_or_a_closed_load_with_its_settling_as_warm_up() -> None:
    load = _load(settle="30 s")
    assert (load.kind, load.lasting, load.asked) == ("open", 630 * SECOND, None)
    assert _load(by="clients", between=[0, 40]).kind == "closed"
    assert load_words(load) == ("open, queue.waiting held at 5000 (band 5 %) by 0-50 /s for 10 min after 30 s settling")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, (5000.0, 250.0)),
        ({"band": "40"}, (5000.0, 40.0)),
        ({"metric": "p99(read)", "at": "50 ms"}, (50e6, 2.5e6)),
        ({"metric": "p99(read)", "at": "50 ms", "band": "500 us"}, (50e6, 5e5)),
        ({"metric": "fraction(read.failed)", "at": "10 %", "band": "1 %"}, (0.1, 0.01)),
    ],
)
def test_set_point_and_band_are_in_base_units(words: dict[str, Any], expected: tuple[float, float]) -> None:
    hold = _load(**words).hold
    assert hold is not None
    assert (hold.set_point, hold.half) == pytest.approx(expected)


def test_the_engine_is_told_where_the_level_begins_and_how_high_it_may_be() -> None:
    told = Order(1, "t", _load(by="clients", between=[0, 40]), SECOND, 1).to_native(0, 0, 1, 0)
    assert '"clients": 4' in told
    assert '"steered": 40.0' in told
    assert '"warm_up": 60000000000' in told
    assert '"rate": 7.5' in Order(1, "t", _load(start="7.5 /s"), SECOND, 1).to_native(0, 0, 1, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"between": [5, 5]}, "expected .lowest level, highest level"),
        ({"between": ["1 s", 5]}, "expected a rate"),
        ({"by": "clients", "between": [0, 2.5]}, "expected whole numbers"),
        ({"at": "fast"}, "is not a value"),
        ({"band": "5 ms"}, "has not the unit of '5000'"),
        ({"band": "0 %"}, "is empty"),
        ({"start": 60}, "expected a level between 0 and 50"),
        ({"every": "100 ms"}, "greater than or equal"),
        ({"effect": "helps"}, "'raises' or 'lowers'"),
    ],
)
def test_a_hold_that_cannot_be_is_refused(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        _load(**words)


@pytest.mark.parametrize("beside", [{"rate": "5 /s"}, {"times": 3}, {"ramp": "3 s"}, {"warm_up": "3 s"}])
def test_no_other_level_stands_beside_a_hold(beside: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="hold"):
        Load.model_validate({"hold": HOLD, "for": "1 min", **beside})
