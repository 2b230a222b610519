"""The points of a scan beside each other."""

from dataclasses import replace

import altair as alt
import pytest

from pileup.builtin.reports.html.charts import beside
from pileup.model.breakdown import Breakdown
from pileup.model.results import CaseResult, Detached, RunResults
from pileup.plugin.charts import Group
from tests.unit.builtin.reports.synthetic import scanned, spread

SECOND = 10**9


def drawn(results: RunResults | None = None) -> Group:
    (group,) = beside.groups(results or scanned())
    return group


def test_each_point_has_a_line_from_the_begin_of_its_load() -> None:
    group = drawn()
    assert group.heading.endswith("the points beside each other, repeat 1 of 4")
    table = group.tables["beside0_flight"]
    names = [f"threads={threads}, buffer={size}" for threads in (4, 16, 64) for size in ("64 KiB", "1 MiB")]
    assert list(dict.fromkeys(table["point"])) == names
    first = dict(reversed(list(zip(table["point"], table["t"], strict=True))))
    assert set(first.values()) == {1000.0}
    assert not any(drawing.timed for drawing in group.drawings)


def test_every_drawing_is_a_valid_picture_that_says_something() -> None:
    group = drawn()
    for drawing in group.drawings:
        alt.Chart.from_dict(drawing.spec, validate=True)
        assert drawing.says
        assert len({len(values) for values in group.tables[drawing.table].values()}) == 1


def test_open_operations_are_drawn_by_their_names() -> None:
    def queued(case: CaseResult) -> CaseResult:
        begun = case.started or 0
        line = Detached("queue", (begun + SECOND, begun + 3 * SECOND), (5, 0), (0, 5))
        return replace(case, detached=(line,))

    results = scanned()
    group = drawn(replace(results, cases=tuple(map(queued, results.cases))))
    table = group.tables["beside0_open0"]
    rows = list(zip(table["t"], table["level"], strict=True))
    assert rows == [(1000.0, 5), (3000.0, 0)] * 6
    title = next(drawing.title for drawing in group.drawings if drawing.table == "beside0_open0")
    assert title == "Open queue"


def test_quantiles_of_bins_are_within_their_bins() -> None:
    by = Breakdown("drive", (), edges=(0.0, 10.0, 20.0, 40.0))
    assert beside._quantiles(by, (0, 10, 0)) == pytest.approx([10.1, 12.5, 15.0, 17.5, 19.9])
    assert beside._quantiles(by, (5, 0, 5))[1:4] == pytest.approx([5.0, 10.0, 30.0])


def test_a_scan_of_many_points_or_of_none_is_not_drawn() -> None:
    assert list(beside.groups(scanned(tuple(str(number) for number in range(1, 8)), repeats=1))) == []
    assert list(beside.groups(spread())) == []


def test_axes_that_go_with_others_are_not_named() -> None:
    cases = [
        replace(case, point={"t.cache": cache, "t.size": size, "p.work": work})
        for case, (cache, size, work) in zip(
            scanned().cases, [("none", "0", "1 s"), ("node", "1", "1 s"), ("node", "1", "2 s")], strict=False
        )
    ]
    assert beside._names(cases) == ["cache=none, work=1 s", "cache=node, work=1 s", "cache=node, work=2 s"]
