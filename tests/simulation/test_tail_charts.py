"""Charts of the end of queries, of simulated clusters by two rules."""

from dataclasses import replace

import pytest

from pileup.builtin.analysis.tail_charts import ActiveWorkers, QueryTail
from pileup.model.results import RunResults
from pileup.plugin.charts import Clock
from pileup.run.simulation.suite import SuiteSimulation
from pileup.suite import load

SUITE = """pileup: 1
title: Tail
targets: {rcf: {kind: practice-cluster, launch: {events: 400}}}
scan: {rcf.workers: [8, 24]}
repeat: 2
tests:
  - {name: fixed, use: analysis.cluster, target: rcf, options: {rule: fixed}}
  - {name: adaptive, use: analysis.cluster, target: rcf}
reports: []
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> RunResults:
    base = tmp_path_factory.mktemp("tail")
    (base / "suite.yaml").write_text(SUITE)
    return SuiteSimulation(load(base / "suite.yaml", servers=False), base / "runs").run()


def test_tail_and_time_are_drawn_by_the_number_of_workers(results: RunResults) -> None:
    (group,) = QueryTail().draw(results, Clock(0, 0))
    assert [drawing.unit for drawing in group.drawings] == ["% of the query", "s"]
    shares = group.tables["tail-share"]
    queries = sorted(zip(shares["test"], shares["workers"], strict=True))
    assert queries == [(test, size) for test in ("adaptive", "fixed") for size in (8, 8, 24, 24)]
    assert all(0 < value < 100 for value in shares["value"])
    assert all(1 < value < 10 for value in group.tables["tail-time"]["value"])


def test_each_point_has_its_active_workers_until_there_are_none(results: RunResults) -> None:
    (group,) = ActiveWorkers().draw(results, Clock(0, 0))
    assert [drawing.title for drawing in group.drawings] == ["workers 8", "workers 24"]
    for drawing, workers in zip(group.drawings, (8, 24), strict=True):
        assert [mark.text for mark in drawing.legend] == ["fixed", "adaptive"]
        table = group.tables[drawing.table]
        for test in ("fixed", "adaptive"):
            active = [value for name, value in zip(table["test"], table["active"], strict=True) if name == test]
            assert (max(active), active[-1]) == (workers, 0)


def test_one_size_has_no_chart_of_tails(results: RunResults) -> None:
    small = [case for case in results.cases if case.point["rcf.workers"] == "8"]
    assert not list(QueryTail().draw(replace(results, cases=tuple(small)), Clock(0, 0)))
