"""Charts as pictures: complete, drawn in plain colours, with title and legend, nothing from the network."""

import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.charts.assemble import charts
from tests.unit.builtin.reports import pieces, synthetic

SVG = "{http://www.w3.org/2000/svg}"


@cache
def pictures(name: str, *chosen: str) -> dict[str, bytes]:
    """Charts of a run as pictures: all, or those of the kinds that are chosen."""
    report = HtmlReport(charts=list(chosen)) if chosen else HtmlReport()
    return dict(report.charts(getattr(synthetic, name)(), "svg"))


def texts(svg: bytes) -> str:
    return " ".join("".join(each.itertext()) for each in ElementTree.fromstring(svg).iter(f"{SVG}text"))


@pytest.mark.long
def test_there_is_one_for_every_chart() -> None:
    assert len(pictures("eventful")) == len(charts(synthetic.eventful()).all())
    assert {"rates-iterations.svg", "cases.svg", "detached-open-operations.svg"} <= set(pictures("eventful"))
    assert "points0_rate-copy-rate.svg" in pictures("scanned")
    assert pictures("empty") == {}


@pytest.mark.long
@pytest.mark.parametrize("name", ["eventful", "scanned", "hostile"])
def test_each_is_whole_and_plain(name: str) -> None:
    for file, svg in pictures(name).items():
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert float(root.get("width")) > 800
        assert b"var(--" not in svg, file
        assert not re.search(rb'(href|src)="(?!#)', svg), file
        assert b"NaN" not in svg, file


def test_title_unit_legend_and_what_happened_are_there() -> None:
    found = texts(pictures("eventful", "timeline")["rates-iterations.svg"])
    for word in ("Iterations", "per second", "not passed", "fault", "place lost", "cooldown", "Started above passed"):
        assert word in found
    assert "copy.buffer=1 MiB" in texts(pictures("scanned", "points")["points0_p50-copy-p50.svg"])


@pytest.mark.long
def test_starts_in_time_leave_room_on_the_axis_for_those_that_were_late() -> None:
    run = synthetic.simple()
    late = [(each, each.timeline) for each in run.cases if each.timeline and any(each.timeline.late)]
    exact = {each.id: replace(line, late=(0.0, *line.late[1:])) for each, line in late}
    cases = tuple(replace(each, timeline=exact.get(each.id, each.timeline)) for each in run.cases)
    svg = dict(HtmlReport().charts(replace(run, cases=cases), "svg"))["late-scheduling-delay.svg"]
    assert exact
    assert len(re.findall(r"[\d.]+ (?:µs|ms)", texts(svg))) >= 3, texts(svg)


def test_text_of_users_stays_text() -> None:
    assert any(pieces.HOSTILE in texts(svg) for svg in pictures("hostile", "timeline").values())
