"""Loads in words."""

import pytest

from pileup.model.law import Law
from pileup.model.loads.load import Load
from pileup.model.words import law_words, load_words


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({}, "once"),
        ({"once": True}, "once"),
        ({"times": 1}, "1 time"),
        ({"times": 5}, "5 times"),
        ({"times": 5, "think": "1 s"}, "5 times, think time 1 s"),
        ({"clients": 1, "for": "10 s"}, "closed, 1 client for 10 s"),
        ({"clients": 100, "for": "10 s", "ramp": "5 s"}, "closed, 100 clients for 10 s after 5 s ramp"),
        ({"clients": 2, "times": 2000}, "closed, 2 clients 2,000 times"),
        ({"clients": 2, "times": 20, "for": "1 h"}, "closed, 2 clients 20 times for 1 h"),
        ({"rate": "150 /s", "for": "8 s"}, "open, 150 /s for 8 s"),
        (
            {"rate": 5, "arrivals": "poisson", "for": "1 min", "ramp": "1 s", "warm_up": "2 s", "delay": "3 s"},
            "open, 5 /s poisson for 1 min after 1 s ramp and 2 s warm-up, delay 3 s",
        ),
        ({"rate": 5, "clients": 7, "for": "1 s"}, "open, 5 /s for 1 s with at most 7 in flight"),
        ({"rate": 5, "for": "1 s", "pacing": "normal"}, "open, 5 /s for 1 s"),
        ({"rate": 5, "for": "1 s", "pacing": "precise"}, "open, 5 /s for 1 s, precise pacing"),
    ],
)
def test_a_load_in_words(load: dict[str, object], words: str) -> None:
    assert load_words(Load.model_validate(load)) == words


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"fixed": "1 s"}, "1 s"),
        ({"uniform": ["1 s", "2 s"]}, "uniform 1-2 s"),
        ({"exponential": "3 s"}, "exponential around 3 s"),
        ({"normal": ["1 s", "100 ms"]}, "normal 1 s ± 100 ms"),
        ({"lognormal": ["20 ms", 0.35]}, "log-normal, median 20 ms, sigma 0.35"),
        ({"bimodal": ["1 ms", "1 s", 0.1]}, "1 ms, or 1 s in 0.1 of the draws"),
    ],
)
def test_a_law_in_words(law: dict[str, object], words: str) -> None:
    assert law_words(Law.model_validate(law)) == words


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (None, "once"),
        (1, "once, from 1 place"),
        (3, "once, from 3 places"),
        (frozenset({"2"}), "once, from place 2"),
        (frozenset({"node2", "1"}), "once, from places 1, node2"),
    ],
)
def test_places_that_press_it_are_told(places: int | frozenset[str] | None, words: str) -> None:
    assert load_words(Load(), places) == words
