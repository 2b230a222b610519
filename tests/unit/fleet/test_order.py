"""Orders: what is whose share, which phase is when, and the words of the engine."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.fleet.order import Order
from pileup.model.loads.load import Load
from pileup.model.record import Phase

SECOND = 10**9


def order(**words: object) -> Order:
    return Order(1, "case", Load.model_validate(words), SECOND, seed=1)


@given(st.integers(1, 1000), st.integers(1, 20), st.integers(1, 30))
def test_shares_add_up_to_the_whole(times: int, clients: int, shards: int) -> None:
    made = order(times=times, clients=clients)
    assert sum(made.share(shard, shards) or 0 for shard in range(shards)) == times


def test_once_belongs_to_the_first_and_a_time_has_no_share() -> None:
    assert [order().share(shard, 3) for shard in range(3)] == [1, 0, 0]
    assert order(clients=4, **{"for": SECOND}).share(0, 2) is None


@pytest.mark.parametrize(
    ("elapsed", "phase"),
    [(-1, Phase.RAMP), (0, Phase.RAMP), (2, Phase.WARM_UP), (3, Phase.MEASURE), (90, Phase.MEASURE)],
)
def test_phases_follow_each_other(elapsed: int, phase: Phase) -> None:
    made = order(clients=1, ramp=2 * SECOND, warm_up=SECOND, **{"for": 10 * SECOND})
    assert made.phase_at(elapsed * SECOND) is phase


def test_stages_have_phases_of_their_own_and_are_segments_for_the_engine() -> None:
    stages = [{"rate": 5, "ramp": "1 s", "for": "2 s"}, {"rate": 9, "warm_up": "1 s", "for": "2 s"}]
    made = order(stages=stages)
    assert [made.phase_at(elapsed * SECOND) for elapsed in range(6)] == [1, 3, 3, 2, 3, 3]
    assert json.loads(made.to_native(0, 0, 1, 0))["segments"] == [
        {"level": 5.0, "ramp": SECOND, "warm_up": 0, "for": 2 * SECOND},
        {"level": 9.0, "ramp": 0, "warm_up": SECOND, "for": 2 * SECOND},
    ]


def test_what_prepares_has_one_phase() -> None:
    assert Order(1, "case", Load(), SECOND, 1, phase=Phase.SETUP).phase_at(5) is Phase.SETUP
