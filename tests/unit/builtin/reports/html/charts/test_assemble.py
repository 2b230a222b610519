"""Charts as plug-ins: which are drawn, where they are on the page, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.charts.assemble import charts
from pileup.model.results import RunResults
from pileup.plugin import PluginError, registry
from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group
from tests.unit.builtin.reports import synthetic

TABLE: Columns = {"x": [1, 2], "y": [3, None]}


def drawing(name: str = "mine", **words: Any) -> Drawing:
    given: dict[str, Any] = {"timed": False, "spec": {"mark": "point", "data": {"name": "mine"}}, "table": "mine"}
    return Drawing(**{"id": name, "title": f"Title of {name}", "unit": "", **given, **words})


class Mine(Chart):
    """One drawing in the section of loads."""

    place = 15
    groups: tuple[Group, ...] = (Group([drawing()], {"mine": TABLE}, notes=["A note of mine."]),)

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        yield from self.groups


class Apart(Mine):
    """A section of its own."""

    section = "Something else"


class Failing(Mine):
    """Fails in the midst."""

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        yield from self.groups
        raise ZeroDivisionError("no cases")


class NotFinite(Mine):
    """No JSON."""

    groups = (Group([drawing()], {"mine": {"x": [float("nan")]}}),)


class Uneven(Mine):
    """Columns of two lengths."""

    groups = (Group([drawing()], {"mine": {"x": [1], "y": []}}),)


class Outside(Mine):
    """An id that is a path."""

    groups = (Group([drawing("../mine")], {"mine": TABLE}),)


class Twice(Mine):
    """The id of another."""

    groups = (Group([drawing("rates")], {"mine": TABLE}),)
    place = 99


class Taken(Mine):
    """The table of another."""

    groups = (Group([drawing()], {"mine": TABLE, "timeline": TABLE}),)
    place = 99


class NoTable(Mine):
    """A table that is nowhere."""

    groups = (Group([drawing()]),)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a chart of this file beside those that are."""
    real = registry._entries

    def install(name: str) -> None:
        own = EntryPoint(name.lower(), f"{__name__}:{name}", "pileup.charts")
        found = [*real("charts"), own]
        monkeypatch.setattr(registry, "_entries", lambda kind: found if kind == "charts" else real(kind))

    return install


def page() -> str:
    return HtmlReport().render(synthetic.simple(), {}).decode()


@pytest.mark.long
def test_a_chart_is_where_it_says(beside: Callable[[str], None]) -> None:
    before = [each.id for each in charts(synthetic.simple()).all()]
    beside("Mine")
    after = [each.id for each in charts(synthetic.simple()).all()]
    place = before.index("rates")
    assert after == [*before[:place], "mine", *before[place:]]
    text = page()
    assert text.index('id="chart-cases"') < text.index('id="chart-mine"') < text.index("A note of mine.")
    assert text.index("A note of mine.") < text.index('id="chart-rates"')


def test_a_section_of_its_own_is_behind_the_others(beside: Callable[[str], None]) -> None:
    beside("Apart")
    text = page()
    assert text.index('id="monitors"') < text.index("<h2>Something else</h2>") < text.index('id="chart-mine"')


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Failing", "ZeroDivisionError: no cases"),
        ("NotFinite", "it is no JSON"),
        ("Uneven", "the columns of table 'mine' differ in length"),
        ("Outside", "the id of a drawing is '../mine'"),
        ("Twice", "the id of a drawing is 'rates'"),
        ("Taken", "there is a table 'timeline' already"),
        ("NoTable", "drawing 'mine' has no table 'mine'"),
        ("Missing", "it is unavailable: "),
    ],
)
def test_one_that_fails_is_left_out_and_the_page_says_why(
    beside: Callable[[str], None], name: str, reason: str
) -> None:
    before = charts(synthetic.simple())
    beside(name)
    after = charts(synthetic.simple())
    assert [each.id for each in after.all()] == [each.id for each in before.all()]
    (told,) = after.problems
    assert told.startswith(f"Chart {name.lower()} is not drawn: {reason}")
    assert f"Chart {name.lower()} is not drawn" in page()


@pytest.mark.long
def test_only_what_is_named_is_drawn() -> None:
    report = HtmlReport(charts=["boxes", "cases"])
    assert [name.partition("-")[0] for name, _ in report.charts(synthetic.simple(), "svg")] == ["cases.svg", "boxes"]
    assert list(HtmlReport(charts=[]).charts(synthetic.simple(), "svg")) == []
    with pytest.raises(
        PluginError, match=r"Chart \./none\.py:Mine is not drawn: there is no file .*none\.py; expected"
    ):
        HtmlReport(charts=["./none.py:Mine"]).charts(synthetic.simple(), "svg")
    page = HtmlReport(charts=["cases", "./none.py:Mine"]).render(synthetic.simple(), {}).decode()
    assert "Chart ./none.py:Mine is not drawn: there is no file" in page
    assert 'id="chart-cases"' in page
    with pytest.raises(ValueError, match=r"there is no chart 'boxen'; expected one of all, .*boxes, cases, "):
        HtmlReport(charts=["boxen"])
