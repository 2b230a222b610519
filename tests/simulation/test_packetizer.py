"""The tail of a query on practice clusters of 48 to 10,000 workers, of which 1 % stall for a minute."""

from pathlib import Path

import pytest

from pileup.run.simulation.suite import SuiteSimulation
from pileup.suite import load
from tests.support import others_nightly

SUITE = """pileup: 1
title: Tail
seed: {seed}
targets: {{rcf: {{kind: practice-cluster, launch: {{workers: {workers}, stalling: 1 %}}}}}}
tests:
  - {{name: query, use: analysis.cluster, target: rcf, options: {{rule: {rule}}}, load: {{times: {queries}}},
     timeout: 5 min}}
reports: []
"""


def queries(
    base: Path, workers: int, rule: str = "packetizer", *, queries: int = 1, seed: int = 1, began: int | None = None
) -> dict[str, list]:
    """Return each number that queries report: one value for each."""
    base.mkdir(exist_ok=True)
    (base / "suite.yaml").write_text(SUITE.format(workers=workers, rule=rule, queries=queries, seed=seed))
    results = SuiteSimulation(load(base / "suite.yaml", servers=False), base / "runs", began=began).run()
    assert results.cases[0].iterations.counts.passed == queries, "every event was read"
    return {each.metric: list(each.values) for each in results.series}


def test_packets_of_one_size_wait_for_the_last_one_beyond_100_workers(tmp_path: Path) -> None:
    small, large = (queries(tmp_path / str(workers), workers, "fixed") for workers in (48, 128))
    assert 10 < small["tail_share"][0] < 20, "none of 48 stalls, and packets do not shrink at the end"
    assert large["tail_share"][0] > 70, "one stalls, and all wait for it"
    assert large["idle_share"][0] > 70


@pytest.mark.parametrize("workers", [24, 128])
def test_the_tail_is_short(tmp_path: Path, workers: int) -> None:
    found = queries(tmp_path, workers)
    assert found["tail_share"][0] < 5
    assert found["query_seconds"][0] < 15
    assert found["idle_share"][0] < 6, "workers without a packet before the tail begins would be seen here"


def test_equal_seeds_give_equal_queries(tmp_path: Path) -> None:
    first, *others = (
        queries(tmp_path / str(late), 48, began=1_764_000_000_000_000_000 + 77 * late) for late in range(4)
    )
    assert all(other == first for other in others), "whenever they begin"


@pytest.mark.long
def test_no_query_is_unlucky(tmp_path: Path) -> None:
    found = queries(tmp_path, 192, queries=20)
    assert max(found["tail_share"]) < 5
    assert max(found["query_seconds"]) < 15
    assert max(found["idle_share"]) < 8


@pytest.mark.long
@pytest.mark.parametrize("workers", others_nightly([1000], [1000, 10_000]))
def test_the_tail_is_short_with_many_workers(tmp_path: Path, workers: int) -> None:
    found = queries(tmp_path, workers)
    assert found["tail_share"][0] < 5
    assert found["query_seconds"][0] < 15
    assert found["idle_share"][0] < 8
