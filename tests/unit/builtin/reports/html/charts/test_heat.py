"""The heat map: every iteration is in a cell, and its colours are told apart by their lightness alone."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise

import pytest

from pileup.builtin.reports.html.charts import heat, tables
from pileup.builtin.reports.html.charts.wanted import bounds
from tests.unit.builtin.reports import synthetic

Rgb = tuple[float, float, float]
SEEN: dict[str, tuple[Rgb, Rgb, Rgb]] = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
}
"""How colours are seen: G. Machado et al., IEEE Trans. Vis. Comput. Graph. 15 (2009) 1291, severity 1, linear RGB."""


def test_cells_hold_all_that_passed_and_the_strip_all_that_did_not() -> None:
    results = synthetic.rich()
    found = heat.heat_map(results, tables.clock(results))
    assert found
    drawing, data = found
    maps = [case.timeline.responses for case in tables.drawn(results) if case.timeline and case.timeline.responses]
    assert sum(data["heat"]["count"]) == sum(sum(map(sum, each.counts)) for each in maps)
    assert sum(data["heat_not_passed"]["count"]) == sum(sum(each.not_passed) for each in maps)
    assert drawing.legend[-1].text == "did not pass"
    assert "did not pass, the first at" in drawing.says


def test_joined_intervals_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    results = synthetic.rich()
    whole = heat.heat_map(results, tables.clock(results))
    monkeypatch.setattr(heat, "COLUMNS", 9)
    joined = heat.heat_map(results, tables.clock(results))
    assert whole
    assert joined
    assert sum(joined[1]["heat"]["count"]) == sum(whole[1]["heat"]["count"])
    assert len(set(joined[1]["heat"]["a"])) <= 12


def test_colours_are_classes_of_round_rates() -> None:
    assert heat.classes([1, 3, 70, 900]) == [1, 3, 10, 30, 100, 300, 900]
    assert heat.classes([5.0]) == [5.0, 5.0]
    results = synthetic.rich()
    found = heat.heat_map(results, tables.clock(results))
    assert found
    drawing, data = found
    used = sorted(set(data["heat"]["k"]))
    assert used == list(range(len(used)))
    by_class = [[r for r, k in zip(data["heat"]["rate"], data["heat"]["k"], strict=True) if k == one] for one in used]
    assert all(max(low) < min(high) for low, high in pairwise(by_class))
    assert len([mark for mark in drawing.legend if mark.color.startswith("var(--h")]) == len(used)


def test_criteria_on_the_response_time_are_lines() -> None:
    results = synthetic.rich()
    axis = tables.clock(results)
    found = heat.heat_map(results, axis, bounds(results, axis))
    assert found
    assert [row["value"] for row in found[0].spec["datasets"]["wanted_heat"]] == [40]


@pytest.mark.parametrize("eyes", SEEN)
def test_the_ramp_goes_one_way_in_each_theme(eyes: str) -> None:
    style = files("pileup.builtin.reports.html").joinpath("report.css").read_text("utf-8")
    ramps = [re.findall(r"--h\d: (#[0-9a-f]{6})", line) for line in style.splitlines() if "--h0:" in line]
    assert len(ramps) == 4
    for ramp in ramps:
        lights = [luminance(seen(colour, SEEN[eyes])) for colour in ramp]
        assert len(lights) == heat.CLASSES
        steps = [(max(a, b) + 0.05) / (min(a, b) + 0.05) for a, b in pairwise(lights)]
        assert lights in (sorted(lights), sorted(lights, reverse=True))
        assert min(steps) > 1.15, (eyes, ramp)


def linear(colour: str) -> Rgb:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def seen(colour: str, matrix: tuple[Rgb, Rgb, Rgb]) -> Rgb:
    known = linear(colour)
    red, green, blue = (sum(a * b for a, b in zip(row, known, strict=True)) for row in matrix)
    return red, green, blue


def luminance(colour: Rgb) -> float:
    red, green, blue = (min(1.0, max(0.0, part)) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
