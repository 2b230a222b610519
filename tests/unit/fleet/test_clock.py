"""The offset of a place's clock from pings, under clocks and ways that are known."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pileup.fleet.clock import DRIFT, Offset, estimate

SECOND = 10**9
HOUR = 3600 * SECOND


def ping(sent: int, there: int, back: int, offset: int, work: int = 1000) -> tuple[int, int, int, int]:
    """The four times of a ping to a clock that is `offset` ahead; ways of `there` and `back` ns."""
    received = sent + there
    return sent, received + offset, received + work + offset, received + work + back


@given(
    st.integers(0, 10**18),
    st.integers(0, SECOND),
    st.integers(0, SECOND),
    st.integers(-(10**18), 10**18),
    st.integers(0, SECOND),
)
def test_the_truth_is_always_within_the_error(sent: int, there: int, back: int, offset: int, work: int) -> None:
    found = estimate(*ping(sent, there, back, offset, work))
    assert abs(found.offset - offset) <= found.error
    assert found.error <= (there + back) // 2 + 1


def test_ways_of_equal_length_give_the_offset_exactly() -> None:
    assert estimate(*ping(0, 70_000, 70_000, -HOUR)).offset == -HOUR


def test_the_shortest_of_many_pings_wins() -> None:
    random, offset = Random(4), Offset()
    for number in range(60):
        there, back = random.expovariate(1e-6), random.expovariate(1e-6)
        offset.add(*ping(number * SECOND // 100, int(there), int(back), HOUR))
    offset.add(*ping(0, 30_000, 20_000, HOUR))
    best = offset.best(SECOND)
    assert best is not None
    assert abs(best.offset - HOUR) <= best.error <= 25_001


def test_an_old_ping_gives_way_when_clocks_may_have_drifted() -> None:
    offset = Offset()
    offset.add(*ping(0, 10_000, 10_000, 0))
    offset.add(*ping(HOUR, 50_000, 50_000, 90_000))
    best = offset.best(HOUR)
    assert best is not None
    assert best.offset == 90_000
    assert best.error_at(HOUR + SECOND) - best.error >= int(0.99 * SECOND * DRIFT)


def test_a_correction_moves_what_was_measured_and_the_original_stays_known() -> None:
    offset = Offset()
    offset.add(*ping(0, 10_000, 10_000, HOUR))
    offset.correct(-HOUR)
    offset.add(*ping(SECOND, 9_000, 9_000, 500))
    best = offset.best(SECOND)
    assert best is not None
    assert best.offset == 500
    assert offset.original(SECOND) == (HOUR + 500, best.error_at(SECOND))


def test_without_a_ping_nothing_is_known() -> None:
    assert Offset().best(0) is None
    assert Offset().original(0) == (0, 0)


def test_a_ping_that_was_under_way_while_the_clock_was_moved_counts_as_moved() -> None:
    offset = Offset()
    before = offset.corrected
    offset.correct(-HOUR)
    offset.add(*ping(0, 10_000, 10_000, HOUR), corrected=before)
    best = offset.best(0)
    assert best is not None
    assert best.offset == 0
