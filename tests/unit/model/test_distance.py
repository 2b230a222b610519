"""The `path` of a target: its words, their bounds, and what the relay is told."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pileup.model.distance import Distance

MS = 10**6


def test_a_plain_latency_is_a_round_trip_half_of_it_each_way() -> None:
    path = Distance.model_validate({"latency": "50 ms"})
    assert (path.latency.there, path.latency.back, path.round_trip) == (25 * MS, 25 * MS, 50 * MS)
    assert Distance.model_validate({"latency": "3 ns"}).round_trip == 3
    each = Distance.model_validate({"latency": {"there": "10 ms", "back": "30 ms"}})
    assert each.to_native()["latency"] == [10 * MS, 30 * MS]


def test_a_plain_jitter_is_drawn_evenly_up_to_it() -> None:
    assert Distance.model_validate({"jitter": "2 ms"}).to_native()["jitter"] == {"uniform": (0, 2 * MS)}
    law = Distance.model_validate({"jitter": {"exponential": "1 ms"}})
    assert law.to_native()["jitter"] == {"exponential": MS}


def test_nothing_given_is_no_distance() -> None:
    assert Distance().to_native() == {
        "latency": [0, 0], "jitter": None, "bandwidth": None, "window": 64 << 20, "resets": 0.0, "half_open": 0.0,
        "after": 0, "slow_close": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"latency": "-5 ms"}, "negative"),
        ({"latency": "2 h"}, "less than or equal"),
        ({"latency": "5 MB"}, "expected"),
        ({"bandwidth": "0 B/s"}, "greater than or equal"),
        ({"bandwidth": "999 B/s"}, "greater than or equal"),
        ({"window": "0 B"}, "greater than"),
        ({"resets": "120 %"}, "less than or equal"),
        ({"resets": "60 %", "half_open": "60 %"}, "more than all connections"),
        ({"loss": "1 %"}, "Extra inputs"),
        ({"at": "127.0.0.1:4000", "latency": "5 ms"}, "beside other words"),
        ({"at": "4000"}, "no address"),
        ({"at": "host:99999"}, "no address"),
    ],
)
def test_what_no_path_can_be_is_refused(words: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Distance.model_validate(words)
    assert said in str(raised.value)


def test_words_of_a_place_take_the_place_of_those_of_the_path() -> None:
    path = Distance.model_validate(
        {"latency": "1 ms", "by_place": [{"latency": "5 ms"}, {"latency": "80 ms", "bandwidth": "1 MB/s"}]}
    )
    near, far, again = (path.with_words(path.at_place(place)) for place in (1, 2, 3))
    assert (near.round_trip, near.bandwidth) == (5 * MS, None)
    assert (far.round_trip, far.bandwidth) == (80 * MS, 10**6)
    assert again == near
    assert list(Distance().at_place(2)) == []


@pytest.mark.parametrize(
    "words",
    [
        {"by_place": [{"at": "h:1"}]},
        {"by_place": [{"latency": "-1 ms"}]},
        {"at": "h:1", "by_place": [{"latency": "1 ms"}]},
    ],
)
def test_paths_by_place_that_cannot_be_are_refused(words: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Distance.model_validate(words)
