"""All charts of a page with the tables they draw: what the installed plug-ins make of the results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from altair.utils.schemapi import debug_mode

from pileup.builtin.reports.html import ALL, points
from pileup.builtin.reports.html.charts import marks, says, tables
from pileup.plugin import PluginError, registry
from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.drawing import with_marks
from pileup.plugin.results import RunResults

SECTIONS = ("points", "load", "times", "monitors", "self")
BEHIND = 200
"""Cases behind the lines of a chart, at most."""
ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(slots=True)
class Charts:
    """What the page shows, in its order."""

    axis: Clock
    sections: dict[str, list[Group]] = field(default_factory=dict)
    """Section -> its groups: those of SECTIONS, then others by their headings."""
    points: list[points.Group] = field(default_factory=list)
    data: dict[str, Columns] = field(default_factory=dict)
    short: tuple[str, ...] = ()
    """Cases that were over too soon to be drawn against time."""
    marks: tuple[Mark, ...] = ()
    """What the marks on the charts with a time axis mean; none when nothing happened to the run."""
    problems: list[str] = field(default_factory=list)
    """Charts that could not be drawn, with the reason."""

    def all(self) -> list[Drawing]:
        """Return every drawing in the order of the page."""
        return [drawing for groups in self.sections.values() for group in groups for drawing in group.drawings]

    def shows(self, section: str) -> bool:
        """Whether there is something to see in a section."""
        return any(group.drawings or group.heading for group in self.sections.get(section, ()))

    @property
    def beside_points(self) -> list[Group]:
        """Groups of the section of points that are of no test."""
        tests = {each.test for each in self.points}
        return [group for group in self.sections["points"] if group.heading not in tests]

    @property
    def others(self) -> dict[str, list[Group]]:
        """Sections that are of plug-ins alone."""
        return {heading: groups for heading, groups in self.sections.items() if heading not in SECTIONS}


def charts(results: RunResults, names: Sequence[str] = (ALL,), folder: Path = Path()) -> Charts:
    """Draw everything that the results have figures for.

    `names` are the charts to draw, as `pileup list charts` has them, or ./file.py:Class relative to `folder`.
    """
    with debug_mode(False):  # tests check every chart against the schema; it takes most of the time
        return _drawn(results, list(_chosen(names, folder)))


def _chosen(names: Sequence[str], folder: Path) -> Iterator[tuple[str, type[Chart] | PluginError]]:
    """Yield name and class of each chart, or why it cannot be loaded."""
    for name in names:
        if name == ALL:
            for found in registry.find_all("charts"):
                yield found.name, found.cls or PluginError(f"it is unavailable: {found.reason}")
            continue
        try:
            yield name, registry.load("charts", name, folder)
        except PluginError as problem:
            yield name, problem


def _drawn(results: RunResults, chosen: list[tuple[str, type[Chart] | PluginError]]) -> Charts:
    made = Charts(tables.clock(results), {section: [] for section in SECTIONS})
    made.data["phases"] = tables.phases(results, made.axis)
    made.data["cases"] = tables.backdrop(tables.cases(results, made.axis), BEHIND)
    seen: set[str] = set()
    for name, cls in sorted(chosen, key=lambda each: (getattr(each[1], "place", 0), each[0])):
        try:
            if isinstance(cls, PluginError):
                raise cls
            groups = [_checked(group, made, seen) for group in cls().draw(results, made.axis)]
        except Exception as problem:  # of somebody's package: the page is made without it
            told = str(problem) if isinstance(problem, PluginError) else f"{type(problem).__name__}: {problem}"
            made.problems.append(f"Chart {name} is not drawn: {told}")
            continue
        for group in map(_said, groups):
            made.sections.setdefault(group.section or cls.section, []).append(group)
            made.data |= group.tables
            seen.update(drawing.id for drawing in group.drawings)
    made.short = tuple(
        tables.label(case) for case in results.cases if case.timeline and case not in tables.drawn(results)
    )
    if marks.drawn(results):
        _mark(made, results)
    made.points = points.groups(results, made.sections["points"])
    return made


def _checked(group: Group, made: Charts, seen: set[str]) -> Group:
    """Return a group that the page can hold. Raises PluginError for one that it cannot."""
    for drawing in group.drawings:
        if not ID.fullmatch(drawing.id) or drawing.id in seen:
            raise PluginError(f"the id of a drawing is {drawing.id!r}", "an id of its own: letters, digits, _ and -")
        if drawing.table not in (*group.tables, *made.data):
            raise PluginError(f"drawing {drawing.id!r} has no table {drawing.table!r}", "one of the group's `tables`")
    for name, table in group.tables.items():
        if made.data.get(name, table) is not table:
            raise PluginError(f"there is a table {name!r} already", "a name of its own")
        if len({len(values) for values in table.values()}) > 1:
            raise PluginError(f"the columns of table {name!r} differ in length", "columns of one length")
    try:
        json.dumps([*(drawing.spec for drawing in group.drawings), dict(group.tables)], allow_nan=False)
    except ValueError as problem:
        raise PluginError(f"it is no JSON: {problem}", "finite numbers, None, texts and lists") from problem
    return group


def _said(group: Group) -> Group:
    """Return a group each of whose drawings says what is to be seen."""
    told = [replace(each, says=says.of(each, group.tables.get(each.table, {}))) for each in group.drawings]
    return replace(group, drawings=told)


def _mark(made: Charts, results: RunResults) -> None:
    """Draw what happened to the run on every chart with a time axis."""
    made.marks = marks.legend(results)
    made.data["events"] = marks.table(results, made.axis)
    layers = marks.layers(results)

    def marked(drawing: Drawing) -> Drawing:
        return replace(drawing, spec=with_marks(drawing.spec, *layers)) if drawing.timed else drawing

    for groups in made.sections.values():
        groups[:] = [replace(group, drawings=[marked(each) for each in group.drawings]) for group in groups]
