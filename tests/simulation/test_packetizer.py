"""The tail of a query on clusters of 192, 1,000 and 10,000 workers, of which 1 % stall for a minute."""

import pytest

from tests.simulation.query_cluster import EVENTS, StaticRule, query


def check(workers):
    done = query(workers)
    assert done.counted == workers * EVENTS, "every event counts once"
    assert done.tail < 0.05 * done.seconds
    return done


def test_the_rule_of_2004_waits_for_its_last_packet_beyond_100_workers():
    small, large = query(48, rule=StaticRule), query(128, rule=StaticRule)
    assert small.tail > 0.1 * small.seconds, "packets do not shrink at the end"
    assert large.tail > 0.7 * large.seconds, "one of them stalls, and all wait"


@pytest.mark.parametrize("workers", [24, 128, 192, 1000])
def test_the_tail_is_short(workers):
    assert check(workers).seconds < 20


def test_no_seed_is_unlucky():
    tails = [done.tail / done.seconds for done in (query(192, seed=seed) for seed in range(20))]
    assert max(tails) < 0.05


@pytest.mark.long
def test_the_tail_is_short_with_ten_thousand_workers():
    check(10_000)
