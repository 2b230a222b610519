"""The tables behind the charts: buckets, units, ticks, exact times."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.builtin.reports.html import text
from pileup.builtin.reports.html.charts import stacks, tables
from pileup.builtin.reports.html.charts.monitors import groups, panels
from pileup.model.figures import Figure, Interval, Note
from pileup.plugin.charts import Drawing
from pileup.plugin.charts.columns import buckets, linear_ticks, log_ticks, mean, scaled, short
from pileup.plugin.charts.drawing import amount_scale
from tests.unit.builtin.reports import pieces, synthetic

BEGIN, SECOND = pieces.BEGIN, pieces.SECOND


@given(st.integers(0, 10_000), st.integers(1, 500))
def test_buckets_hold_everything_once(count: int, limit: int) -> None:
    found = buckets(count, limit)
    assert len(found) <= limit
    assert [place for part in found for place in part] == list(range(count))


@given(st.floats(1e-6, 1e9), st.floats(1, 1e12))
def test_ticks_stay_inside_and_few(low: float, factor: float) -> None:
    found = log_ticks(low, low * factor, 7)
    assert len(found) <= 7
    assert all(low * 0.99 <= tick <= low * factor * 1.01 for tick in found)


def test_ticks_are_the_ones_people_expect() -> None:
    assert log_ticks(0.8, 60, 7) == [1, 2, 5, 10, 20, 50]
    assert log_ticks(0.8, 6000, 7) == [1, 10, 100, 1000]
    assert log_ticks(0, 5) == []


@pytest.mark.parametrize(
    ("unit", "size", "expected"),
    [("B", 3 * 2**30, (2**30, "GiB")), ("B/s", 2.5e6, (1e6, "MB/s")), ("B", 10, (1, "B")), ("%", 80, (1, "%"))],
)
def test_units_suit_the_numbers(unit: str, size: float, expected: tuple[float, str]) -> None:
    assert scaled(unit, size) == expected


def test_short_numbers_are_finite_and_whole_where_they_can_be() -> None:
    assert short(float("nan")) is None
    assert short(float("inf")) is None
    assert short(123456.7) == 123460
    assert isinstance(short(5.0), int)
    assert mean([None, float("nan")]) is None


def test_rates_of_joined_intervals_weigh_their_lengths() -> None:
    case = pieces.sustained(1, "copy", 0, 5)
    assert case.timeline
    line = replace(case.timeline, seconds=(1.0, 1.0, 1.0, 1.0, 0.25), passed=(10.0, 10.0, 10.0, 10.0, 90.0))
    results = replace(synthetic.simple(), cases=(replace(case, timeline=line),))
    found = tables.timeline(results, tables.clock(results))
    assert found["passed"] == [
        10,
        10,
        10,
        26,
    ]  # (1 x 10 + 0.25 x 90) / 1.25: a last quarter second is no point of its own


def test_short_cases_are_not_drawn_against_time() -> None:
    assert [case.name for case in tables.drawn(synthetic.rich())] == ["copy", "stat", "disk-read"]


def test_an_interval_belongs_to_the_phase_in_which_it_began() -> None:
    case = pieces.sustained(1, "copy", 0, 5, load="closed, 8 clients for 3 s after 1 s warm-up")
    assert case.timeline
    line = replace(case.timeline, phase=(3, 3, 3, 4, 4))  # as frames tell it: the phase at the end of each second
    assert tables.began_in(case, line) == [2, 3, 3, 3, 4]


def test_t18_amounts_far_apart_are_drawn_on_a_logarithm_without_a_zero() -> None:
    assert not amount_scale([150.0, 40.0, 900.0], [40.0, 900.0])[2]
    scale, axis, logarithmic = amount_scale([20.0, 50_000.0], [4.0, 20.0, 50_000.0])
    assert logarithmic
    assert scale.to_dict()["type"] == "log"
    assert min(axis.to_dict()["values"]) > 0


def test_of_equal_series_one_is_drawn() -> None:
    one = [series for series in pieces.monitors(2) if series.monitor == "server" and series.metric == "rss"]
    same = tuple(replace(series, values=one[0].values) for series in one)
    (panel,), _ = panels(same, tables.Clock(BEGIN, 2000))
    assert [mark.text for mark in panel.charts[0].legend] == ["all = mean = largest"]


def test_legends_have_the_order_that_people_expect() -> None:
    found, _ = panels(pieces.monitors(2), tables.Clock(BEGIN, 2000))
    legends = {chart.title: [mark.text for mark in chart.legend] for panel in found for chart in panel.charts}
    assert legends["Load average"] == ["1 min", "5 min", "15 min"]
    assert legends["Memory"] == ["used", "available", "total"]


def test_the_clock_begins_with_the_run_and_ends_with_all_that_was_measured() -> None:
    results = synthetic.rich()
    axis = tables.clock(results)
    assert axis.begin == BEGIN
    assert axis.window == 62_000
    crashed = replace(results, run=replace(results.run, ended=None))
    assert tables.clock(crashed).window == 61_050


def test_an_ecdf_keeps_its_ends() -> None:
    case = synthetic.rich().cases[2]
    found = tables.ecdf([case])
    response = [share for share, kind in zip(found["share"], found["kind"], strict=True) if kind == "response"]
    assert response[-1] == 1
    assert len(response) <= tables.POINTS + 1
    assert response == sorted(response)


def test_a_histogram_holds_every_iteration() -> None:
    distribution = pieces.distribution(1000, 2e7, 0.4)
    assert sum(tables.histogram(distribution)["count"]) == 1000


def test_samples_become_means_of_equal_parts() -> None:
    axis = tables.Clock(BEGIN, 10_000)
    times = [BEGIN + i * SECOND for i in range(10)]
    found = tables.sampled(times, [[float(i) for i in range(10)]], axis, 5)
    assert found["s0"] == [0.5, 2.5, 4.5, 6.5, 8.5]
    assert found["t"] == [500, 2500, 4500, 6500, 8500]
    assert found["a"][1:] == found["b"][:-1]


def test_load_averages_share_a_chart_and_hosts_do_not() -> None:
    series = pieces.monitors(5)
    loads = [group for group in groups(series) if group.metric == "load"]
    assert [len(group.series) for group in loads] == [3]
    other = replace(series[0], host="elsewhere")
    assert len(groups((series[0], other))) == 2


def test_idle_is_not_stacked_and_each_chart_has_its_unit() -> None:
    found, data = panels(pieces.monitors(5), tables.Clock(BEGIN, 60_000))
    charts = {chart.title: chart for panel in found for chart in panel.charts if panel.scope == "node on wn042"}
    assert [mark.text for mark in charts["CPU"].legend][:-1] == ["user", "system", "iowait"]
    assert charts["Memory"].unit == "GiB"
    assert charts["Network"].unit == "MB/s"
    assert max(data[charts["Memory"].table]["s2"]) == pytest.approx(8.3e9 / 2**30, rel=1e-4)


def charts_of(scope: str) -> dict[str, Drawing]:
    found, _ = panels(pieces.monitors(30), tables.Clock(BEGIN, 60_000))
    return {chart.title: chart for panel in found for chart in panel.charts if panel.scope == f"{scope} on wn042"}


def layers_of(chart: Drawing, kind: str) -> list[dict[str, Any]]:
    return [each for each in chart.spec["layer"] if each["mark"]["type"] == kind]


def test_cpu_of_processes_is_stacked_by_mode_without_a_whole() -> None:
    charts = charts_of("server")
    assert [(mark.text, mark.kind) for mark in charts["CPU"].legend][:2] == [("user", "area"), ("system", "area")]
    (area,) = layers_of(charts["CPU"], "area")
    assert [each["stack"] for each in area["transform"] if "stack" in each] == ["value"]
    assert (area["encoding"]["y"]["field"], area["encoding"]["y2"]["field"]) == ("low", "high")
    assert "domain" not in area["encoding"]["y"]["scale"]  # processes may take several cores
    (whole,) = layers_of(charts_of("node")["CPU"], "area")
    assert whole["encoding"]["y"]["scale"]["domain"] == [0, 100]
    assert [mark.text for mark in charts["CPU by process"].legend] == ["all", "mean", "largest"]


def test_one_process_needs_no_second_chart_of_cpu() -> None:
    series = [each for each in pieces.monitors(5) if each.monitor == "server" and each.metric == "cpu"]
    alike = tuple(replace(each, values=series[0].values) if each.labels.startswith("of=") else each for each in series)
    found, _ = panels(alike, tables.Clock(BEGIN, 60_000))
    assert [chart.title for chart in found[0].charts] == ["CPU"]


def test_jobs_are_stacked_by_state_and_those_that_ended_apart() -> None:
    charts = charts_of("slurm")
    assert [mark.text for mark in charts["Jobs"].legend] == ["running", "queued"]
    assert len(layers_of(charts["Jobs"], "area")) == 1
    assert not layers_of(charts["Jobs that have ended"], "area")


@pytest.mark.long
def test_the_queue_is_drawn_over_cpu_with_an_axis_of_its_own() -> None:
    for monitor in ("server", "node"):
        cpu = charts_of(monitor)["CPU"]
        assert cpu.legend[-1].text == "queued jobs (slurm), right"
        assert cpu.spec["resolve"] == {"scale": {"y": "independent"}}
        (line,) = layers_of(cpu, "line")
        assert (line["data"]["name"], line["encoding"]["y"]["axis"]["orient"]) == (stacks.TABLE, "right")
    _, data = panels(pieces.monitors(30), tables.Clock(BEGIN, 60_000))
    assert max(data[stacks.TABLE]["s0"]) == pytest.approx(5100, abs=60)
    without = tuple(each for each in pieces.monitors(5) if each.monitor != "slurm")
    found, data = panels(without, tables.Clock(BEGIN, 60_000))
    assert stacks.TABLE not in data
    assert all("resolve" not in chart.spec for panel in found for chart in panel.charts)


def test_states_of_a_computing_element_are_stacked_too() -> None:
    base = next(each for each in pieces.monitors(5) if each.metric == "jobs")
    states = ("accepted", "inlrms", "mine", "preparing")
    found, _ = panels(tuple(replace(base, labels=f"state={state}") for state in states), tables.Clock(BEGIN, 60_000))
    assert [mark.text for mark in found[0].charts[0].legend] == ["inlrms", "preparing", "accepted", "mine"]


def test_states_that_are_no_queue_are_lines() -> None:
    base = next(each for each in pieces.monitors(5) if each.metric == "jobs")
    numbers = tuple(replace(base, labels=f"state={number}") for number in range(3))
    found, data = panels(numbers, tables.Clock(BEGIN, 60_000))
    (chart,) = found[0].charts
    assert not layers_of(chart, "area")
    assert stacks.TABLE not in data


def test_what_was_measured_once_is_told_in_words() -> None:
    base = pieces.monitors(2)[0]
    level = replace(base, monitor="read", host="", metric="found_low", unit="/s", labels="")
    level = replace(level, times=(BEGIN,), values=(187.25,))
    data = replace(level, metric="moved", unit="B", labels="of=all", values=(3.0 * 2**20,))
    line = replace(level, metric="queue", times=(BEGIN, BEGIN + 10**9), values=(1.0, 2.0))
    (panel,), drawn = panels((level, data, line), tables.Clock(BEGIN, 2000))
    assert [chart.title for chart in panel.charts] == ["Queue"]
    assert len(drawn) == 1
    assert panel.once == ("found low 187.2 /s", "moved (of=all) 3 MiB")


def test_more_metrics_than_room_are_counted() -> None:
    base = pieces.monitors(2)[0]
    many = tuple(replace(base, metric=f"m{number}", labels="") for number in range(60))
    found, data = panels(many, tables.Clock(BEGIN, 2000))
    assert len(data) == 48
    assert found[0].left_out == 12


@pytest.mark.parametrize(
    ("figure", "value", "interval"),
    [
        (Figure(2e7, "time", Interval(1.9e7, 2.1e7)), "20 ms", "19 \N{EN DASH} 21 ms"),
        (Figure(2e7, "time", Interval(9e5, 2.1e7)), "20 ms", "0.9 \N{EN DASH} 21 ms"),
        (Figure(0.005, "fraction", Interval(0.004, 0.006)), "0.5 %", "0.4 \N{EN DASH} 0.6 %"),
        (Figure(None, "time", note=Note.TOO_FEW), "too few", ""),
        (Figure(math.inf, "rate"), text.ABSENT, ""),
        (None, text.ABSENT, ""),
    ],
)
def test_figures_in_words(figure: Figure | None, value: str, interval: str) -> None:
    shown = text.show(figure)
    assert (shown.value, shown.interval) == (value, interval)


def test_a_narrow_range_has_ticks_too() -> None:
    assert linear_ticks(10.2, 15.5) == [11, 12, 13, 14, 15]
    assert linear_ticks(0.0102, 0.0103) == pytest.approx([0.0102, 0.01022, 0.01024, 0.01026, 0.01028, 0.0103])
    assert linear_ticks(5, 5) == []
    for low, high in ((10.2, 11), (10.2, 40), (1e-3, 1.1e-3), (9.99, 10.01)):
        assert len([tick for tick in linear_ticks(low, high) if low <= tick <= high]) >= 3
