"""The reports that a run writes when it ends: those of its suite, else every installed one that is a default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pileup.model.errors import PileupError
from pileup.model.plan import Plan
from pileup.model.results import RunResults
from pileup.plugin import Report
from pileup.plugin.registry import find_all
from pileup.record import RunFolder
from pileup.suite import instances


@dataclass(frozen=True, slots=True)
class Due:
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
            name = each.to or report.file_name
            if name in written:
                folder.event("report", f"report {each.name} is not written: {name} is that of report {written[name]}")
                continue
            folder.write_report(name, report.render(results, folder.outputs()))
        except PileupError as problem:
            folder.event("report", f"report {each.name} cannot be made: {problem}")
        except Exception as problem:
            folder.event("report", f"report {each.name} failed: {type(problem).__name__}: {problem}")
        else:
            written[name] = each.name
            if each.asked or report.for_people:
                named.append(folder.path / name)
    return named


def _of_suite(plan: Plan) -> Iterator[Due]:
    for spec in plan.suite.reports:
        yield Due(spec.use, partial(instances.make_report, plan, spec), spec.to or "", asked=True)


def _default(folder: RunFolder) -> Iterator[Due]:
    for found in find_all("reports"):
        cls: type[Report] | None = found.cls
        if cls is None:
            folder.event("report", f"report {found.name} cannot be made: {found.reason}")
        elif cls.by_default:
            yield Due(found.name, cls)
