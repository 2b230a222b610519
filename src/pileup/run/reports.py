"""The reports that a run writes when it ends: those of its suite, else every installed one that is a default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pileup.model.errors import PileupError, PluginError
from pileup.model.event import REPORT
from pileup.model.plan import Plan
from pileup.model.results import RunResults
from pileup.plugin import Report
from pileup.plugin.registry import find_all
from pileup.plugin.report import rendered
from pileup.plugin.verdict import mistake
from pileup.record import RunFolder
from pileup.suite import instances


@dataclass(frozen=True, slots=True)
class ReportDue:
    """A report to write. `to` is the name of its file, empty for the one of its own; `asked`: a suite names it."""

    name: str
    make: Callable[[], Report]
    to: str = ""
    asked: bool = False


def write_reports(folder: RunFolder, results: RunResults, plan: Plan | None) -> list[Path]:
    """Write the reports into the run folder and return the files that `pileup run` names.

    One that fails is an event, never the end of the run.
    """
    due = _default(folder) if plan is None or "reports" not in plan.suite.model_fields_set else _of_suite(plan)
    written: dict[str, str] = {}
    named = []
    for each in due:
        try:
            report = each.make()
        except Exception as problem:
            _not_written(folder, f"report {each.name}", problem)
            continue
        name = each.to or report.file_name
        if name in written:
            _not_written(folder, f"report {each.name}", PluginError(f"{name} is that of report {written[name]}"))
            continue
        try:
            folder.write_report(name, rendered(report, results, folder.outputs()))
        except Exception as problem:
            _not_written(folder, name, problem, report=each.name, file=name)
            continue
        written[name] = each.name
        if each.asked or report.for_people:
            named.append(folder.path / name)
    return named


def _not_written(folder: RunFolder, what: str, problem: Exception, **fields: str) -> None:
    said = str(problem) if isinstance(problem, PileupError) else mistake(problem)
    folder.event(REPORT, f"not written: {what}: {said}", **fields)


def _of_suite(plan: Plan) -> Iterator[ReportDue]:
    for spec in plan.suite.reports:
        yield ReportDue(spec.use, partial(instances.make_report, plan, spec), spec.to or "", asked=True)


def _default(folder: RunFolder) -> Iterator[ReportDue]:
    for found in find_all("reports"):
        cls: type[Report] | None = found.cls
        if cls is None:
            _not_written(folder, f"report {found.name}", PluginError(found.reason))
        elif cls.by_default:
            yield ReportDue(found.name, cls)
