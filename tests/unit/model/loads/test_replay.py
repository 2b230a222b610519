"""Loads that replay a record: their words, and what may be beside them."""

import pytest
from pydantic import ValidationError

from pileup.model.loads.load import Load
from pileup.model.loads.starts import Starts
from pileup.model.suite import TestSpec
from pileup.model.words import load_words

SECOND = 10**9


def test_a_path_alone_is_the_record() -> None:
    load = Load.model_validate({"replay": "runs/before"})
    assert load.replay is not None
    assert (load.replay.run, load.replay.test, load.replay.speed) == ("runs/before", None, 1)
    assert load == Load.model_validate({"replay": {"run": "runs/before"}})
    assert (load.kind, load.sustained, load.endless, load.lasting, load.asked) == ("open", True, False, None, None)
    TestSpec.model_validate({"name": "a", "use": "noop", "load": load})


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"replay": "runs/2026-before"}, "open, replay of 2026-before"),
        (
            {"replay": {"run": "../b", "test": "copy", "speed": "2.5"}, "clients": 4},
            "open, replay of copy in b at 2.5 x its speed with at most 4 in flight",
        ),
        (
            {"replay": {"run": "b", "speed": 1}, "for": "1 min", "warm_up": "5 s", "times": 7},
            "open, replay of b 7 times for 1 min after 5 s warm-up",
        ),
        ({"replay": "..", "delay": "3 s"}, "open, replay of .., delay 3 s"),
    ],
)
def test_its_words(words: dict[str, object], told: str) -> None:
    assert load_words(Load.model_validate(words)) == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"once": True}, "once is combined with replay"),
        ({"rate": 5}, "replay is combined with rate: the record says when iterations begin; expected at most clients"),
        ({"every": "5 s"}, "replay is combined with every"),
        ({"arrivals": "poisson"}, "replay is combined with arrivals"),
        ({"ramp": "5 s"}, "replay is combined with ramp"),
        ({"stages": [{"rate": 5, "for": "5 s"}]}, "replay is combined with stages"),
        ({"hold": {"metric": "node.load1", "at": "5", "between": [1, 2]}}, "replay is combined with hold"),
        ({"think": "5 s"}, "an open load has no think time"),
    ],
)
def test_what_tells_when_iterations_begin_cannot_stand_beside_it(words: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Load.model_validate({"replay": "b", **words})


@pytest.mark.parametrize("speed", [0, -1, 1e7, "fast", "inf", "nan"])
def test_a_speed_is_a_number_above_zero(speed: object) -> None:
    with pytest.raises(ValidationError):
        Load.model_validate({"replay": {"run": "b", "speed": speed}})


def test_the_rate_that_is_asked_for_is_that_of_what_is_measured() -> None:
    # 10 in the first second of warm-up, then 5 /s from 1 s to 3 s: 11 starts, 10 gaps
    starts = Starts("b", "copy", 99, 21, 3 * SECOND, 11, SECOND)
    assert (starts.asked, starts.pace) == (5, 7)
    burst = Starts("b", "copy", 4, 4, 0, 4, 0)
    assert (burst.asked, burst.pace) == (4, 4)
