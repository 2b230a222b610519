"""Charts draw nothing that was not measured: a gap in the data is a gap in the line."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest

from pileup.builtin.reports.html.charts import detached as detached_charts
from pileup.builtin.reports.html.charts import hold, load, tables
from pileup.builtin.reports.html.charts.monitors import panels
from pileup.model.results import Detached, HeldLevel, RunResults, Series, Timeline
from pileup.plugin.charts import Columns
from pileup.plugin.charts.columns import looks
from tests.unit.builtin.reports import pieces, synthetic

BEGIN, SECOND = pieces.BEGIN, pieces.SECOND


def with_timeline(line: Timeline) -> RunResults:
    case = replace(pieces.sustained(1, "copy", 0, 30), timeline=line)
    return replace(synthetic.simple(), cases=(case,))


def line() -> Timeline:
    found = pieces.sustained(1, "copy", 0, 30).timeline
    assert found
    return found


def without(found: Timeline, places: range) -> Timeline:
    """Return a timeline without some of its seconds."""
    columns = {each.name: getattr(found, each.name) for each in fields(found) if each.name != "responses"}
    kept = [place for place in range(len(found.times)) if place not in places]
    return replace(found, **{name: tuple(values[place] for place in kept) for name, values in columns.items()})


def runs(table: Columns) -> list[list[float]]:
    """Return the times of the rows of each line."""
    found: dict[int, list[float]] = {}
    for run, time in zip(table["run"], table["t"], strict=True):
        found.setdefault(run, []).append(time)
    return list(found.values())


def encodings(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [layer["encoding"] for layer in spec["layer"] if layer["mark"]["type"] == mark]


def test_t18_seconds_that_are_missing_are_a_gap_in_every_line_of_the_load() -> None:
    results = with_timeline(without(line(), range(10, 13)))
    table = tables.timeline(results, tables.clock(results))
    first, second = runs(table)
    assert (len(first), len(second)) == (10, 17)
    for chart in (load.rates(table, 30_000), load.quantiles(table, 30_000)):
        assert chart
        lines = encodings(chart.spec, "line") + encodings(chart.spec, "area")
        assert lines
        assert all({"field": "run", "type": "nominal"} in each["detail"] for each in lines)


def test_a_timeline_whose_places_end_their_seconds_apart_has_no_gap() -> None:
    found = line()
    jitter = tuple(time + (place % 3) * SECOND // 4 for place, time in enumerate(found.times))
    results = with_timeline(replace(found, times=jitter))
    assert len(runs(tables.timeline(results, tables.clock(results)))) == 1


def test_t18_joined_intervals_do_not_reach_over_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 6)
    results = with_timeline(without(line(), range(4, 20)))
    table = tables.timeline(results, tables.clock(results))
    assert all(b - a < 16_000 for a, b in zip(table["a"], table["b"], strict=True))
    assert len(runs(table)) == 2


def test_t18_ends_of_operations_are_bars_of_the_seconds_in_which_there_were_any() -> None:
    """A gap of three minutes stays empty; what ended after it is of its second, not of the gap."""
    times = tuple(BEGIN + second * SECOND for second in (1, 2, 3, 183, 184))
    case = replace(
        pieces.sustained(1, "copy", 0, 200), detached=(Detached("job", times, (5, 4, 3, 1, 0), (0, 1, 1, 2, 1)),)
    )
    results = replace(synthetic.simple(), cases=(case,))
    table = tables.detached(results, tables.Clock(BEGIN, 200_000))
    assert table["a"] == [0, 1000, 2000, 182_000, 183_000]
    assert table["b"] == [1000, 2000, 3000, 183_000, 184_000]
    assert table["ended"] == [0, 1, 1, 2, 1]
    _, ends = detached_charts.charts(table, 200_000)
    (drawn,) = [layer for layer in ends.spec["layer"] if layer["encoding"].get("y", {}).get("field") == "ended"]
    assert drawn["mark"]["type"] == "rect"
    assert (drawn["encoding"]["x"]["field"], drawn["encoding"]["x2"]["field"]) == ("a", "b")


def test_t18_what_is_joined_for_drawing_is_joined_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ROWS", 10)
    seconds = [*range(1, 21), *range(181, 201)]
    found = Detached("job", tuple(BEGIN + second * SECOND for second in seconds), (1,) * 40, (1,) * 40)
    case = replace(pieces.sustained(1, "copy", 0, 200), detached=(found,))
    table = tables.detached(replace(synthetic.simple(), cases=(case,)), tables.Clock(BEGIN, 200_000))
    lengths = {b - a for a, b in zip(table["a"], table["b"], strict=True)}
    assert lengths == {20_000}
    assert table["ended"] == [1, 1]
    assert table["b"] == [20_000, 200_000]


def sampled(times: list[float]) -> Columns:
    series = Series(
        "node", "load1", "", "", "vm", tuple(BEGIN + int(time * SECOND) for time in times), (1.0,) * len(times)
    )
    _, data = panels((series,), tables.Clock(BEGIN, 400_000))
    return data["monitor0"]


def test_t18_a_monitor_that_was_silent_for_a_while_has_a_gap() -> None:
    table = sampled([*range(20), *range(200, 230)])
    assert [(len(each), each[0]) for each in runs(table)] == [(20, 0), (30, 200_000)]
    assert max(b - a for a, b in zip(table["a"], table["b"], strict=True)) == 1000, "the pointer finds nothing in it"
    assert len(runs(sampled([*range(1000), *range(3000, 5000)]))) == 2, "nor do means of many samples reach over it"


def test_one_sample_that_is_missing_or_late_is_no_gap() -> None:
    times = [float(second) for second in range(40) if second != 17]
    times[5] += 0.4
    assert len(runs(sampled(times))) == 1


def test_t18_numbers_that_come_when_they_come_are_dots() -> None:
    times, at = [], 0.0
    for number in range(60):
        at += (0.1, 3.0, 0.4, 9.0, 1.1)[number % 5]
        times.append(at)
    table = sampled(times)
    assert all(table["alone"])
    (panel,), _ = panels(
        (Series("node", "load1", "", "", "vm", tuple(int(BEGIN + time * SECOND) for time in times), (1.0,) * 60),),
        tables.Clock(BEGIN, 400_000),
    )
    assert encodings(panel.charts[0].spec, "circle")


def test_t18_a_held_quantity_that_could_not_be_measured_has_a_gap() -> None:
    times = tuple(BEGIN + second * SECOND for second in (*range(1, 20), *range(60, 80)))
    held = HeldLevel(
        "in_flight",
        "",
        5,
        4,
        6,
        "rate",
        len(times),
        40,
        1.0,
        5,
        0,
        5,
        0,
        times,
        (5.0,) * len(times),
        times,
        (1.0,) * len(times),
    )
    case = replace(pieces.sustained(1, "copy", 0, 90), held=held)
    ((_, data),) = hold.charts(replace(synthetic.simple(), cases=(case,)), tables.Clock(BEGIN, 90_000))
    assert [len(each) for each in runs(data["held_0"])] == [19, 20]
    assert len(runs(data["held_level_0"])) == 1, "a level stands until it is changed"


def test_t18_a_second_without_throughput_is_marked_where_the_axis_is_a_logarithm() -> None:
    slow = replace(line(), bandwidth=(1000.0,) * 14 + (0.0,) + (1000.0,) * 15)
    fast = replace(line(), times=tuple(time + 40 * SECOND for time in line().times), bandwidth=(800_000.0,) * 30)
    cases = [
        replace(pieces.sustained(n, name, 0, 30), timeline=each) for n, name, each in ((1, "a", slow), (2, "b", fast))
    ]
    results = replace(synthetic.simple(), cases=tuple(cases))
    table = tables.timeline(results, tables.clock(results))
    chart = load.bandwidth(table, 80_000)
    assert chart
    (spot,) = encodings(chart.spec, "point")
    assert spot["y"] == {"value": "height"}
    assert not encodings(chart.spec, "area"), "a logarithm has no ground that an area could stand on"
    assert [mark.text for mark in chart.legend] == ["zero"]
    (drawn,) = encodings(chart.spec, "line")
    assert drawn["y"]["scale"]["type"] == "log"


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 1.0], [1.0, 2.0, 3.0]])
def test_few_looks_are_one_run(times: list[float]) -> None:
    found = looks(times)
    assert [place for run in found for place in run] == list(range(len(times)))
    assert len(found) == min(1, len(times))
    assert all(a.stop == b.start for a, b in pairwise(found))
