"""Which words of a load go together: all sets of words, against the rules of before each shape had its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from pydantic import ValidationError

from pileup.model.loads.load import SHAPES, Load

WORDS: dict[str, Any] = {
    "once": True,
    "times": 3,
    "clients": 4,
    "rate": 5,
    "every": "2 s",
    "stages": [{"rate": 5, "for": "1 s"}],
    "hold": {"metric": "queue.waiting", "at": "5000", "between": [1, 9]},
    "find": {"raise": "rate", "while": "p99(read) < 50 ms", "between": [1, 9]},
    "replay": "runs/before",
    "for": "1 min",
    "ramp": "1 s",
    "warm_up": "1 s",
    "think": "1 s",
    "arrivals": "poisson",
    "pacing": "precise",
}
CLOSED: dict[str, Any] = {
    **WORDS,
    "stages": [{"clients": 5, "for": "1 s"}],
    "hold": WORDS["hold"] | {"by": "clients"},
    "find": WORDS["find"] | {"raise": "clients"},
}


def kind(given: set[str], shut: bool) -> str:
    if "replay" in given:
        return "open"
    if given & {"hold", "find"}:
        return "closed" if shut else "open"
    if given & {"rate", "every"} or ("stages" in given and not shut):
        return "open"
    if given & {"clients", "stages"}:
        return "closed"
    return "times" if "times" in given else "once"


def refused(given: set[str], shut: bool) -> Iterator[str]:
    """Yield how each rule that is broken begins; the first was reported."""
    yield from of_shapes(given, {"clients"} if shut else set())
    found = kind(given, shut)
    if found in ("once", "times") and "for" in given:
        yield "`for` needs clients or rate;"
    if found in ("once", "times") and given & {"ramp", "warm_up"}:
        yield "ramp and warm_up need clients or rate;"
    if found in ("once", "times") and "pacing" in given:
        yield "`pacing` needs starts that are due at a time;"
    if found == "open" and "think" in given:
        yield "an open load has no think time;"
    if found != "open" and "arrivals" in given:
        yield "arrivals needs rate;"


def of_shapes(given: set[str], clients: set[str]) -> Iterator[str]:
    """Yield the same of the shapes; `clients` where these are what the load is made of."""
    held = {"times", "rate", "every", "stages", "ramp", "warm_up"} | clients
    beside = {
        "once": {"times", "clients", "rate", "every", "stages", "hold", "find", "replay"},
        "every": {"rate", "arrivals", "ramp", "stages"},
        "replay": {"rate", "arrivals", "every", "stages", "hold", "find", "ramp"},
        "hold": held,
        "find": held | {"hold"},
        "stages": {"times", "rate", "ramp", "warm_up", "for"} | clients,
    }
    for word, others in beside.items():
        if word in given and (wrong := given & others):
            told = {"every": "another kind of load", "stages": "another level"}.get(word, ", ".join(sorted(wrong)))
            yield f"{word} {'are' if word == 'stages' else 'is'} combined with {told}"
    if "find" in given and "for" not in given:
        yield "find has no `for`;"


@pytest.mark.parametrize("words", [WORDS, CLOSED], ids=["open", "closed"])
def test_what_was_refused_is_refused_in_the_same_words(words: dict[str, Any]) -> None:
    for size in range(5):
        for given in map(set, combinations(words, size)):
            broken = list(refused(given, words is CLOSED))
            try:
                load = Load.model_validate({word: words[word] for word in given})
            except ValidationError as problem:
                told = problem.errors()[0]["msg"].removeprefix("Value error, ")
                assert any(told.startswith(rule) for rule in broken), (given, told, broken)
            else:
                assert not broken, (given, broken)
                assert load.kind == kind(given, words is CLOSED)


def test_each_shape_has_a_word_of_the_schema_that_gives_it() -> None:
    assert {shape.word for shape in SHAPES} == set(WORDS) - {"for", "ramp", "warm_up", "think", "arrivals", "pacing"}
    for shape in SHAPES:
        load = Load.model_validate({shape.word: WORDS[shape.word], **({"for": "1 s"} if shape.word == "find" else {})})
        assert type(load.shape) is shape
        assert load.shape.words
