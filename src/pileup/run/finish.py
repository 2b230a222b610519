"""The end of a run: tables to Parquet, figures, verdicts, reports."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pileup import stats
from pileup.model.errors import RecordError
from pileup.model.event import REPORT
from pileup.model.manifest import Manifest, RunState
from pileup.model.plan import Plan
from pileup.model.results import RunResults
from pileup.record import RunFolder
from pileup.run.reports import write_reports
from pileup.stats.events import not_written


def finish(folder: RunFolder, run: Manifest, plan: Plan | None = None) -> tuple[RunResults, list[Path]]:
    """Close the record: convert it, judge it, write the verdict into run.json and the reports beside it.

    The reports are those of the plan's suite. Return the results, and the reports that `pileup run` names.
    """
    folder.convert()
    results, found = stats.worked_out(folder)
    run = replace(run, state=RunState.ENDED, exit_code=int(results.exit_code), verdict=results.verdict)
    folder.save(run)
    with suppress(RecordError):  # it can be computed again
        folder.keep_dependence(found)
    results = replace(results, run=run)
    reports = write_reports(folder, results, plan)
    before = [event for event in results.events if event.kind != REPORT]
    results = replace(results, events=(*before, *not_written(folder)))
    folder.close()
    return results, reports
