"""The end of a run: tables to Parquet, figures, verdicts, reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pileup import stats
from pileup.model.errors import PileupError
from pileup.model.results import RunResults
from pileup.plugin import Report, registry
from pileup.record import RunFolder

REPORTS = ("html", "junit", "json", "xml")


def finish(folder: RunFolder, info: dict[str, Any]) -> RunResults:
    """Close the record: convert it, judge it, write the verdict into run.json and the reports beside it."""
    folder.convert()
    results = stats.results(folder)
    info.update(state="ended", exit_code=int(results.exit_code), verdict=results.verdict)
    folder.save(info)
    results = replace(results, run=info)
    for name in REPORTS:
        write_report(folder, results, name)
    folder.close()
    return results


def write_report(folder: RunFolder, results: RunResults, name: str) -> None:
    """Write one report into the run folder; one that fails is an event, never the end of the run."""
    try:
        report: Report = registry.load("reports", name)()
        folder.write_report(report.file_name, report.render(results, folder.outputs()))
    except PileupError as problem:
        folder.event("report", f"report {name} cannot be made: {problem}")
    except Exception as problem:
        folder.event("report", f"report {name} failed: {type(problem).__name__}: {problem}")
