"""Results to one HTML file: verdicts, tables, charts, outputs. Everything is text until the template escapes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape

from pileup.builtin.reports.html import cases, points, submissions, text
from pileup.builtin.reports.html.bundle import bundle
from pileup.builtin.reports.html.charts import marks, tables
from pileup.builtin.reports.html.charts.assemble import Charts
from pileup.builtin.reports.html.fault_table import fault_table
from pileup.plugin.charts import Columns
from pileup.plugin.charts.drawing import CONFIG
from pileup.plugin.results import (
    ERROR,
    FAILED,
    PASSED,
    Host,
    Manifest,
    MonitorEntry,
    RunResults,
    ServerClock,
    TargetEntry,
    bottlenecks_by_point,
    headline,
    mark,
    states_of,
)
from pileup.plugin.units import format_count, format_size, format_time

ERRORS = 200
"""Rows of the table of errors."""
SERVED = 25
"""Rows of the table of what servers did."""
SUITE = 200_000
"""Characters of the suite."""
FEW = 12
"""Cases that need no folding."""
LIST = {"case": "case", "outcome": "outcome", "took": "took, ms", "passed": "passed", "other": "not passed"} | {
    "p50": "p50, ms",
    "reason": "reason",
}
"""Columns of the list of all cases."""


def render(results: RunResults, outputs: Mapping[str, str], drawn: Charts) -> str:
    """Return the page of a run."""
    lists = {}
    if len(results.cases) > cases.MOST:
        drawn.data["all_cases"] = tables.all_cases(results)
        lists["all_cases"] = {"table": "all_cases", "columns": LIST}
    shown = results.criteria
    outcomes, absent = cases.counted(results)
    context: dict[str, object] = {
        "run": results.run,
        "results": results,
        "bottlenecks": bottlenecks_by_point(results),
        "title": results.run.title or "A run without a title",
        "sentence": str(headline(results)),
        "facts": _facts(results, drawn),
        "notes": (*results.notes, *drawn.problems),
        "criteria": shown,
        "met": sum(each.verdict.met for each in shown),
        "level": text.level([each.figure for each in shown]),
        "cases": cases.rows(results),
        "outcomes": outcomes,
        "states": states_of(results.jobs),
        "absent": absent,
        "opened": _opened(results),
        "audits": submissions.audited(results, drawn.axis.begin),
        "more_cases": max(0, len(results.cases) - cases.MOST),
        "told_cases": min(len(results.cases), cases.MOST),
        "watched": points.watched(results),
        "fold_cases": _fold(results),
        "fault_table": fault_table(results),
        "events": marks.listed(results, drawn.axis.begin),
        "crowds": marks.crowds(results, drawn.axis.begin),
        "more_events": max(0, len(results.events) - marks.LISTED),
        "details": cases.details(results, outputs, drawn.axis.begin),
        "charts": drawn,
        "served": results.served[:SERVED],
        "more_served": max(0, len(results.served) - SERVED),
        "clocks": [_clock(each) for each in results.clocks],
        "one_sided": [(each, ", ".join(each.keys)) for each in results.one_sided[:SERVED]],
        "more_one_sided": max(0, len(results.one_sided) - SERVED),
        "errors": results.errors[:ERRORS],
        "more_errors": max(0, len(results.errors) - ERRORS),
        "begin": drawn.axis.begin,
        "suite": _suite(results),
        "environment": _environment(results.run),
        "data": _script(_payload(drawn, lists)),
        "style": Markup(_resource("report.css")),  # noqa: S704  # our own file
        "theme": Markup(_resource("theme.js")),  # noqa: S704  # our own file
        "script": Markup(_resource("report.js")),  # noqa: S704  # our own file
        "bundle": Markup(bundle() if drawn.all() else ""),  # noqa: S704  # nothing in it ends a script: see there
    }
    return _template().render(context)


@cache
def _template() -> jinja2.Template:
    strict = jinja2.StrictUndefined
    environment = jinja2.Environment(autoescape=True, undefined=strict, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "figure": text.show,
        "point_figure": points.show,
        "count": format_count,
        "duration": format_time,
        "offset": text.offset,
        "code": _code,
        "tone": lambda word: mark(str(word)).tone,
        "sign": lambda word: mark(str(word)).sign,
    }
    return environment.from_string(_resource("report.html.jinja"))


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _script(value: object) -> Markup:
    """Return JSON that can be inside a script element: nothing in it can end the element or begin a comment."""
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return Markup(plain)  # noqa: S704  # escaped in the line above


def _code(plain: str) -> Markup:
    """Return text whose parts between backticks are code."""
    parts = (escape(part) for part in plain.split("`"))
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


def _payload(drawn: Charts, lists: Mapping[str, object]) -> dict[str, object]:
    return {
        "window": drawn.axis.window,
        "config": CONFIG,
        "tables": {name: _packed(columns) for name, columns in drawn.data.items()},
        "lists": lists,
        "charts": {
            each.id: {"spec": each.spec, "table": each.table, "timed": each.timed, "columns": each.columns}
            for each in drawn.all()
        },
    }


def _packed(columns: Columns) -> dict[str, object]:
    """Columns of text that repeat become a list of words and places in it."""
    packed: dict[str, object] = {}
    for name, values in columns.items():
        words = sorted({value for value in values if isinstance(value, str)})
        if words and len(words) * 2 < len(values):
            at = {word: place for place, word in enumerate(words)}
            packed[name] = {"words": words, "at": [at[str(value)] for value in values]}
        else:
            packed[name] = values
    return packed


def _facts(results: RunResults, drawn: Charts) -> list[tuple[str, str]]:
    run = results.run
    hosts = ", ".join(host.name for host in run.hosts)
    targets = ", ".join(f"{target.name} ({target.kind})" for target in run.targets)
    length = format_time(drawn.axis.window * 1e6) if results.cases else ""
    facts = [
        ("Started", text.moment(run.started)),
        ("Took", length),
        ("From", hosts),
        ("Targets", targets),
        ("Made with", f"pileup {run.versions.get('pileup', '')}".strip()),
        ("Exit code", f"{int(results.exit_code)}"),
        ("Run folder", results.folder),
    ]
    return [(name, value) for name, value in facts if value and value != text.ABSENT]


def _fold(results: RunResults) -> bool:
    """Whether the table of cases is closed at first: the points of a scan say it in short, and nothing went wrong."""
    return bool(results.comparisons) and len(results.cases) > FEW and all(c.outcome is PASSED for c in results.cases)


def _opened(results: RunResults) -> set[int]:
    """Return the cases whose details are open from the start: the first that went wrong."""
    wrong = [case.id for case in results.cases if case.outcome in {FAILED, ERROR}]
    return set(wrong[:3])


def _suite(results: RunResults) -> dict[str, str]:
    suite = results.run.suite
    values = ", ".join(f"{name}={value}" for name, value in suite.values.items())
    return {
        "text": text.cut(suite.text, SUITE, "run.json"),
        "source": suite.source,
        "digest": suite.digest,
        "set": values,
    }


def _clock(each: ServerClock) -> str:
    """Return how a clock of a server was off, in a sentence."""
    side = "ahead" if each.ahead > 0 else "behind"
    error = format_time(each.error)
    return f"{each.monitor}: its clock was {format_time(abs(each.ahead))} {side}, within {error}; corrected."


def _environment(run: Manifest) -> list[tuple[str, list[dict[str, str]]]]:
    """Return tables of what the run ran on: heading and rows."""
    tables = [
        ("Hosts", [_row(_named(host)) for host in run.hosts]),
        ("Targets", [_row(_named(target)) for target in run.targets]),
        ("Monitors", [_row(_named(monitor)) for monitor in run.monitors]),
        ("Versions", [_row(run.versions)]),
        ("Run", [_row({"seed": run.seed, **run.labels})]),
    ]
    return [(name, [row for row in rows if row]) for name, rows in tables if any(rows)]


def _named(entry: Host | TargetEntry | MonitorEntry) -> dict[str, object]:
    """Return the fields of an entry by their names."""
    return {each.name: getattr(entry, each.name) for each in fields(entry)}


def _row(values: Mapping[str, object]) -> dict[str, str]:
    return {
        str(name).replace("_", " "): _cell(str(name), value)
        for name, value in values.items()
        if value not in (None, "", ())
    }


def _cell(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    forms = {"memory": format_size, "every": format_time}
    if name in forms and isinstance(value, (int, float)):
        return forms[name](value)
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
