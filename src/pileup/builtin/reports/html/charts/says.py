"""Charts in sentences: the range of each line, its peak and when that was, and when a criterion was crossed.

They are below the charts, and what a screen reader says of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pileup.builtin.reports.html.charts.wanted import Bound, Lines
from pileup.plugin.charts import Columns, Drawing
from pileup.plugin.charts.columns import Number
from pileup.plugin.units import counted, format_count, format_time

COLUMNS = 4
"""Columns of a table that a sentence speaks of, at most."""
TIMES = 3
"""Times that a threshold was crossed which are named one by one."""


def number(value: float) -> str:
    """Return a number for a sentence: three digits, thousands apart."""
    return format_count(round(value)) if abs(value) >= 1000 else f"{value:.3g}"


def moment(ms: float) -> str:
    """Return a time of the run as on the axis: `12.5 s`, `3:20`, `2:05 h`."""
    if ms <= 180_000:
        return f"{ms / 1000:.3g} s"
    seconds = round(ms / 1000)
    if ms <= 10_800_000:
        return f"{seconds // 60}:{seconds % 60:02}"
    return f"{seconds // 3600}:{seconds % 3600 // 60:02} h"


def span(values: Sequence[float], unit: str, told: Callable[[float], str] = number) -> str:
    """Return `7 to 160 /s`, or one value where all are alike."""
    low, high = told(min(values)), told(max(values))
    return " ".join((low if low == high else f"{low} to {high}", unit)).strip()


def line(table: Columns, column: str, name: str, unit: str = "", told: Callable[[float], str] = number) -> str:
    """Return the range of a column against time, with its peak: `passed 0 to 185 /s, most at 12 s`."""
    rows = [(value, at) for value, at in zip(table[column], table["t"], strict=True) if value is not None]
    if not rows:
        return f"{name}: nothing measured"
    values = [value for value, _ in rows]
    said = f"{name} {span(values, unit, told)}"
    return said if min(values) == max(values) else f"{said}, most at {moment(max(rows)[1])}"


def lines(table: Columns, columns: Mapping[str, str], unit: str = "", told: Callable[[float], str] = number) -> str:
    """Return the ranges of several columns of a chart against time."""
    return "; ".join(line(table, column, name, unit, told) for column, name in columns.items()) + "."


def duration(ms: float) -> str:
    """Return a duration of a chart, ms, as everywhere."""
    return format_time(ms * 1e6)


def crossed(table: Columns, column: str, name: str, wants: Lines) -> str:
    """Return when a column was on the wrong side of each threshold of a chart, in a sentence for each."""
    said = []
    for bound, threshold in wants.drawn:
        found = _stretches(table, column, bound, threshold)
        where = "above" if bound.upper else "below"
        if not found:
            said.append(f"{name} is never {where} what {bound.id} asks for ({bound.check.threshold}).")
            continue
        times = ", ".join(f"{moment(a)} to {moment(b)}" for a, b in found[:TIMES])
        more = f" and {counted(len(found) - TIMES, 'more time')}" if len(found) > TIMES else ""
        said.append(f"{name} is {where} what {bound.id} asks for ({bound.check.threshold}) from {times}{more}.")
    return " ".join(said)


def _stretches(table: Columns, column: str, bound: Bound, threshold: float) -> list[tuple[float, float]]:
    """Return begin and end (ms) of the times that a criterion judges in which the values of a column were wrong."""
    found: list[tuple[float, float]] = []
    for a, b, value in sorted(zip(table["a"], table["b"], table[column], strict=True), key=lambda row: row[:2]):
        judged = any(stretch.begin <= (a + b) / 2 <= stretch.end for stretch in bound.stretches)
        if value is None or not judged or not bound.crossed(value, threshold):
            continue
        if found and a - found[-1][1] < 1:
            found[-1] = (found[-1][0], b)
        else:
            found.append((a, b))
    return found


def of(drawing: Drawing, table: Columns) -> str:
    """Return what a chart says of itself, else the ranges of the columns that its numbers have."""
    if drawing.says:
        return drawing.says
    known = {name: heading for name, heading in drawing.columns.items() if _numbers(table.get(name, ()))}
    chosen = dict(list(known.items())[:COLUMNS])
    if drawing.timed and "t" in table:
        return lines(table, chosen, drawing.unit if len(drawing.unit) <= 5 else "") if chosen else ""
    said = "; ".join(f"{heading}: {span(_numbers(table[name]), '')}" for name, heading in chosen.items())
    return f"{said}." if said else ""


def _numbers(values: Sequence[Number | str]) -> list[float]:
    return [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
