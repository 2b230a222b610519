"""Figures of queries that several workers ran together: who was last and why, and who read from which node."""

from dataclasses import replace

from pileup.builtin.analysis.query_charts import by_report, workers_by_node
from pileup.builtin.analysis.straggler_chart import MOST, QueryStragglers, tails_of
from pileup.model.results import Series
from pileup.plugin.charts import Clock
from tests.unit.builtin.reports.synthetic import BEGIN, SECOND, simple


def results(*series):
    """Two cases of the test `part`, 10 s each, one after the other."""
    base = simple()
    cases = tuple(
        replace(
            base.cases[0],
            id=number,
            name=f"part #{number}",
            test="part",
            started=BEGIN + number * 10 * SECOND,
            ended=BEGIN + (number + 1) * 10 * SECOND,
        )
        for number in (0, 1)
    )
    return replace(base, cases=cases, series=series)


def series(metric, labels, *points):
    times = tuple(BEGIN + int(at * SECOND) for at, _ in points)
    return Series("part", metric, labels, "", "", times, tuple(value for _, value in points))


def test_the_longest_tail_is_first_and_named():
    found = results(
        series("tail_seconds", "packet=a.root 0-50,why=late,worker=2", (4, 0.5)),
        series("tail_seconds", "packet=b.root 50-70,why=lost,worker=0", (14, 1.5)),
    )
    first, second = tails_of(found)
    assert (first.case, first.seconds, second.case) == ("part #1", 1.5, "part #0")
    assert first.says() == "1.5 s in part #1: worker 0 read b.root 50-70 last; its worker before was lost."
    (group,) = QueryStragglers().draw(found, Clock(BEGIN, 20_000.0))
    assert group.notes == [f"The longest: {first.says()}"]
    assert group.tables["query-stragglers"]["packet"] == ["b.root 50-70", "a.root 0-50"]


def test_a_run_without_tails_has_no_chart_and_one_of_many_has_the_longest():
    clock = Clock(BEGIN, 20_000.0)
    assert not list(QueryStragglers().draw(results(), clock))
    many = results(series("tail_seconds", "packet=a 0-1,why=last,worker=1", *((1, each) for each in range(50))))
    (group,) = QueryStragglers().draw(many, clock)
    assert group.tables["query-stragglers"]["seconds"] == [float(49 - each) for each in range(MOST)]


def test_workers_are_counted_by_node_and_events_by_worker():
    found = results(
        series("packet_events", "node=n1,worker=0", (1, 10), (2, 20)),
        series("packet_events", "node=n2,worker=0", (3, 5)),
        series("packet_events", "node=n1,worker=1", (4, 7), (12, 100)),
    )
    assert workers_by_node(found, found.cases[0]) == {"n1": 2, "n2": 1}
    assert by_report("packet_events")(found, found.cases[0]) == {"0": 35, "1": 7}
