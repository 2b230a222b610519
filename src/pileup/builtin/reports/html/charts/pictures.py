"""The charts of a page as pictures of their own: SVG or PNG, with title and legend, without a browser or a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import vl_convert

from pileup.builtin.reports.html.charts.assemble import Charts
from pileup.builtin.reports.markup import clean
from pileup.plugin.charts import Columns, Drawing, Mark
from pileup.plugin.charts.drawing import CONFIG

WIDTH, MARGIN, HEAD, LINE = 860, 14, 26, 18
"""Of a chart, of the white around it, of its title, of a line of text below; in pixels."""
SCALE = 2
"""Pixels of a PNG per pixel of a chart."""
FONT = "Liberation Sans, Roboto, DejaVu Sans, Arial, sans-serif"
CHARACTER = 6.3
"""Mean width of a character of a legend."""
PATTERNS = {"dash": "5 3", "dotted": "2 2", "dashdot": "7 2 2 2"}
"""Kind of a line in a legend -> its dashes there."""
VARIABLE = re.compile(r"var\(--([a-z0-9]+)\)")
SIZE = re.compile(r'<svg[^>]*? width="([0-9.]+)" height="([0-9.]+)"')


def pictures(drawn: Charts, form: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each chart; `form` is "svg", "png", or "json" for Vega-Lite with all that it draws."""
    for chart in drawn.all():
        marks = drawn.marks if chart.timed else ()
        if form == "json":
            yield f"{chart.id}.json", _whole(chart, drawn.data, marks).encode()
            continue
        text = _plain(chart, drawn.data)
        picture = _framed(vl_convert.vegalite_to_svg(text, allowed_base_urls=[]), chart, marks)
        made = picture.encode() if form == "svg" else vl_convert.svg_to_png(picture, scale=SCALE)
        yield f"{_file(chart)}.{form}", made


def _file(chart: Drawing) -> str:
    """Return the name of a file: what the chart is called on the page, and its title."""
    title = re.sub(r"[^a-z0-9]+", "-", chart.title.lower())[:60].strip("-")
    return chart.id if title in ("", chart.id) else f"{chart.id}-{title}"


def _plain(chart: Drawing, tables: dict[str, Columns]) -> str:
    """Return the chart alone as Vega-Lite: colours and numbers put in, nothing fetched from anywhere."""
    named = {name: _rows(tables[name]) for name in _names(chart.spec) if name in tables}
    spec = {
        **chart.spec,
        "width": WIDTH,
        "config": {**CONFIG, "font": FONT},
        "datasets": {**chart.spec.get("datasets", {}), **named},
    }
    return VARIABLE.sub(lambda found: _colours().get(found[1], "#000"), json.dumps(spec))


def _whole(chart: Drawing, tables: dict[str, Columns], marks: tuple[Mark, ...]) -> str:
    """Return the chart as Vega-Lite that has its title and its legend in itself."""
    spec = json.loads(_plain(chart, tables))
    legend = (*chart.legend, *marks)
    spec["title"] = {"text": f"{chart.title} ({chart.unit})" if chart.unit else chart.title, "anchor": "start"}
    if chart.about:
        spec["title"]["subtitle"] = chart.about
    _raise_selections(spec)
    if legend and "layer" in spec:
        spec["layer"].append(_key_layer(legend))
        spec["resolve"] = {**spec.get("resolve", {}), "scale": {**spec.get("resolve", {}).get("scale", {}), **APART}}
    return json.dumps(spec)


def _raise_selections(spec: Any) -> None:
    """Say at the top which layer a selection is of: where altair joins charts it looks for them there."""
    for number, layer in enumerate(spec.get("layer", [])):
        if found := layer.pop("params", []):
            layer["name"] = f"layer_{number}"
            spec.setdefault("params", []).extend({**each, "views": [layer["name"]]} for each in found)


APART = {"color": "independent"}


def _key_layer(marks: tuple[Mark, ...]) -> Any:
    """Return a layer that draws nothing and has the legend of what the others draw."""
    names = [mark.text for mark in marks]
    colours = [VARIABLE.sub(lambda found: _colours().get(found[1], "#000"), mark.color) for mark in marks]
    scale = {"domain": names, "range": colours}
    legend = {"title": None, "symbolOpacity": 1, "symbolType": "stroke", "orient": "bottom", "labelLimit": 400}
    color = {"field": "text", "type": "nominal", "scale": scale, "legend": legend}
    return {
        "data": {"values": [{"text": name} for name in names]},
        "mark": {"type": "point", "opacity": 0, "size": 0},
        "encoding": {"color": color},
    }


def _names(part: Any) -> set[str]:
    """Return the tables that a specification names."""
    if isinstance(part, list):
        return {name for each in part for name in _names(each)}
    if not isinstance(part, dict):
        return set()
    data = part.get("data")
    own = {data["name"]} if isinstance(data, dict) and "name" in data else set()
    return own | {name for each in part.values() for name in _names(each)}


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@cache
def _colours() -> dict[str, str]:
    """Return the colours of the light theme by the names of their variables."""
    style = files("pileup.builtin.reports.html").joinpath("report.css").read_text("utf-8")
    light = style[style.index("{") : style.index("}")]
    return {name: value.strip() for name, value in re.findall(r"--([a-z0-9-]+):([^;]+);", light)}


def _framed(svg: str, chart: Drawing, marks: tuple[Mark, ...]) -> str:
    """Return a chart with title and unit above, legend and a sentence on how to read it below, on white."""
    found = SIZE.search(svg)
    width, height = (float(found[1]), float(found[2])) if found else (WIDTH, 200.0)
    legend = _legend((*chart.legend, *marks), width)
    lines = [*legend, *([_text(0, LINE - 4, chart.about, "muted")] if chart.about else [])]
    below = "".join(
        f'<g transform="translate({MARGIN},{MARGIN + HEAD + height + LINE * number:.0f})">{line}</g>'
        for number, line in enumerate(lines)
    )
    whole = (width + 2 * MARGIN, height + HEAD + LINE * len(lines) + 2 * MARGIN)
    unit = f'<tspan fill="{_colours()["muted"]}" font-weight="normal" dx="8">{_safe(chart.unit)}</tspan>'
    title = f'<text x="{MARGIN}" y="{MARGIN + 12}" font-size="14" font-weight="bold">{_safe(chart.title)}{unit}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]:.0f}" height="{whole[1]:.0f}" '
        f'font-family="{FONT}" fill="{_colours()["ink"]}"><rect width="100%" height="100%" fill="#ffffff"/>{title}'
        f'<g transform="translate({MARGIN},{MARGIN + HEAD})">{svg}</g>{below}</svg>\n'
    )


def _legend(marks: tuple[Mark, ...], width: float) -> list[str]:
    """Return the lines of a legend, each as wide as the chart at most."""
    lines: list[str] = []
    place = 0.0
    for mark in marks:
        needed = 34 + len(mark.text) * CHARACTER
        if not lines or place + needed > width:
            lines.append("")
            place = 0.0
        lines[-1] += (
            f'<g transform="translate({place:.0f},0)">{_sign(mark)}{_text(20, LINE - 4, mark.text, "muted")}</g>'
        )
        place += needed
    return lines


def _sign(mark: Mark) -> str:
    colour = escape(VARIABLE.sub(lambda found: _colours().get(found[1], "#000"), mark.color))
    match mark.kind:
        case "area":
            return f'<rect x="2" y="5" width="10" height="10" rx="2" fill="{colour}"/>'
        case "tick":
            return f'<rect x="6" y="4" width="2" height="12" fill="{colour}"/>'
        case "dot":
            return f'<circle cx="7" cy="10" r="3" fill="none" stroke="{colour}"/>'
    pattern = PATTERNS.get(mark.kind)
    dash = f' stroke-dasharray="{pattern}"' if pattern else ""
    return f'<line x1="0" x2="14" y1="10" y2="10" stroke="{colour}" stroke-width="2"{dash}/>'


def _text(x: float, y: float, text: str, colour: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="11" fill="{_colours()[colour]}">{_safe(text)}</text>'


def _safe(text: str) -> str:
    return escape(clean(text))
