"""What happened to the run on every time chart, the points of a scan, and runs of very many cases on the page."""

from dataclasses import replace

import pytest

from pileup.builtin.reports.html import HtmlReport, points
from pileup.builtin.reports.html.charts import marks, tables
from pileup.builtin.reports.html.charts.assemble import charts
from pileup.model.event import Event
from tests.unit.builtin.reports import pieces, synthetic
from tests.unit.builtin.reports.html.test_page import Page, page, rendered


def layers(chart: dict, table: str) -> list[dict]:
    return [layer for layer in chart["spec"]["layer"] if layer.get("data", {}).get("name") == table]


def test_every_chart_with_a_time_axis_shows_what_happened() -> None:
    data = page("eventful").data
    timed = {name: chart for name, chart in data["charts"].items() if chart["timed"]}
    assert len(timed) > 10
    for name, chart in timed.items():
        kinds = [layer["mark"]["type"] for layer in layers(chart, "events")]
        assert kinds.count("rect") == 4, name
        assert kinds.count("rule") == 4, name
    assert not any(layers(chart, "events") for chart in data["charts"].values() if not chart["timed"])


def test_bands_lie_upon_those_of_the_cases_and_below_the_lines() -> None:
    spec = page("eventful").data["charts"]["rates"]["spec"]
    names = [layer["data"]["name"] for layer in spec["layer"]]
    first = names.index("events")
    assert set(names[:first]) == {"cases", "phases"}
    assert "timeline" in names[first:]


@pytest.mark.long
def test_a_legend_names_the_kinds_that_there_are() -> None:
    assert [mark.text for mark in marks.legend(synthetic.eventful())] == [
        "fault", "place lost", "setting changed", "cooldown",
    ]  # fmt: skip
    assert marks.legend(synthetic.rich()) == ()
    assert "events" not in page("rich").data["tables"]


def test_events_are_listed_with_the_numbers_of_the_charts() -> None:
    text = page("eventful").text
    assert "1 +9.0 s fault se is restarted (TERM) 2 s" in text
    assert "5 +44.2 s cooldown last(node.load1) < 1 holds after 1.6 s 1.6 s" in text
    assert "monitor node was too slow" in text
    assert page("eventful").data["tables"]["events"]["n"] == ["1", "2", "3", "4", "5"]


def test_operations_that_outlive_their_iterations_stand_beside_the_others() -> None:
    text = page("eventful").text
    assert "↳ job asynchronous operation" in text
    assert "820 0 0 0 18 12 0" in text, "unfinished and lost ones are seen"
    data = page("eventful").data
    assert max(data["tables"]["detached"]["open"]) == max(pieces.waiting(1, "x", 0).detached[0].open)
    assert "detached" in data["charts"]
    assert "detached" not in page("rich").data["charts"]


def test_points_have_charts_with_a_line_for_each_value_of_the_other_axis() -> None:
    data = page("scanned").data
    (name,) = [name for name in data["charts"] if name.startswith("points") and name.endswith("_rate")]
    table = data["tables"][name]
    assert len(table["mean"]) == 6
    assert all(low < mean < high for low, mean, high in zip(table["low"], table["mean"], table["high"], strict=True))
    assert page("scanned").text.index("Points of the scan") < page("scanned").text.index("Cases 24")


def test_what_grows_together_is_one_axis_labelled_by_its_values() -> None:
    run = synthetic.scanned()
    found = tuple(
        replace(
            each,
            values={"n": each.values["se.threads"], "size": f"{each.number // 2} GiB", **each.values},
            together=(("n", "size", "se.threads"),),
        )
        for each in run.points
    )
    data = Page(HtmlReport().render(replace(run, points=found), synthetic.outputs()).decode()).data
    (name,) = [name for name in data["charts"] if name.startswith("points") and name.endswith("_rate")]
    assert data["tables"][name]["x"] == [
        *["4 / 0 GiB / 4", "4 / 0 GiB / 4", "16 / 1 GiB / 16", "16 / 1 GiB / 16", "64 / 2 GiB / 64", "64 / 2 GiB / 64"]
    ]
    assert set(data["tables"][name]["line"]["words"]) == {"copy.buffer=64 KiB", "copy.buffer=1 MiB"}
    spec = str(data["charts"][name]["spec"])
    assert "n / size / se.threads" in spec


def test_differences_are_told_with_their_intervals() -> None:
    (group,) = points.groups(synthetic.scanned(), [])
    assert group.table.headings[0] == "Rate"
    first, second = group.table.points[:2]
    assert (first.cells[0].said, second.cells[0].tone) == ("", "bad")
    assert second.cells[0].gap.value == "\N{MINUS SIGN}19.6 %"
    assert second.cells[0].said.startswith("smaller, p = ")
    assert [line.name for line in group.table.effects][:3] == ["se.threads=4", "se.threads=16", "se.threads=64"]
    slower = group.table.points[1].cells[group.table.headings.index("p50")]
    assert (slower.gap.value[0], slower.tone) == ("+", "bad"), "more is not better everywhere"


def test_one_repeat_is_told_to_be_too_few() -> None:
    text = Page(HtmlReport().render(synthetic.scanned(repeats=1), {}).decode()).text
    assert "One repeat: how much the figures vary from repeat to repeat is not known" in text


def test_a_criterion_shows_its_points() -> None:
    assert "6 points, repeats pooled" in page("scanned").text


def test_names_of_cases_on_charts_are_short() -> None:
    names = [tables.label(case) for case in synthetic.scanned().cases]
    assert names[:2] == ["copy[4, 64 KiB]#1", "copy[4, 1 MiB]#1"]
    assert len(set(names)) == len(names)


def many(number: int = 2000) -> object:
    cases = [pieces.once(n, f"case-{n}", 0.002 * n) for n in range(1, number)]
    cases[1500] = pieces.once(1501, "broken", 3.0, "failed", "no answer")
    return replace(synthetic.simple(), cases=tuple(cases))


@pytest.fixture(scope="module")
def crowd() -> str:
    outputs = {f"output/case-{n}/stdout.txt": "hello\n" * 20 for n in range(2000)}
    return HtmlReport().render(many(), outputs).decode()


@pytest.mark.long
def test_two_thousand_cases_stay_a_small_page(crowd: str) -> None:
    assert len(crowd) < 3_000_000
    assert len(crowd) - len(rendered("empty")) < 2_000_000


def test_of_many_cases_those_that_did_not_pass_are_told_and_all_are_listed(crowd: str) -> None:
    found = Page(crowd)
    assert "✗ failed broken" in found.text
    assert "All 1,999 cases" in found.text
    listed = found.data["tables"]["all_cases"]
    assert len(listed["case"]) == 1999
    assert found.data["lists"]["all_cases"]["columns"].keys() == listed.keys()
    assert found.ids.count("case-1501") == 1
    assert crowd.count('<details class="case"') == 200


@pytest.mark.long
def test_charts_of_many_cases_show_the_longest_behind_their_lines() -> None:
    drawn = charts(many())
    assert len(drawn.data["cases"]["a"]) == 200
    assert "cases" not in [chart.id for chart in drawn.all()]


def test_what_monitors_saw_is_a_table_with_a_column_for_each_point() -> None:
    full = synthetic.scanned()
    first = full.comparisons[0]
    seen = replace(first, test="node", operation="load1", metric="mean", dimension="", monitor=True)
    rest = replace(seen, test="cooldown", operation="time_to_idle", unit="odd")
    found = points.watched(replace(full, comparisons=(*full.comparisons, seen, rest)))
    assert [(each.name, each.opened) for each in found] == [("cooldown", True), ("node", False)]
    assert found[0].lines[0].name == "time_to_idle, odd"
    assert found[1].headings[0] == "4, 64 KiB"
    assert [cell.tone for cell in found[1].lines[0].cells] == ["none", *["some"] * 5], "more may be good or bad"
    groups = points.groups(replace(full, comparisons=(*full.comparisons, seen)), [])
    assert [group.test for group in groups] == ["copy"]


def test_a_crowd_of_one_kind_is_shaded_and_told_in_one_line() -> None:
    one = Event("generator", "pileup was the bottleneck", 10**9, 3 * 10**9)
    results = replace(synthetic.eventful(), events=(*synthetic.eventful().events, *[one] * (marks.CROWD + 1)))
    assert set(marks.numbers(results)) == {"1", "2", "3", "4", "5", ""}
    assert marks.numbers(results).count("") == marks.CROWD + 1
    (crowd,) = marks.crowds(results, 0)
    assert crowd.summary == f"{marks.CROWD + 1} times: pileup was the bottleneck, {2 * (marks.CROWD + 1)} s added up"
    assert [told.kind for told in marks.listed(results, 0)].count("pileup was the bottleneck") == 0
    assert len(crowd.rows) == marks.CROWD + 1
