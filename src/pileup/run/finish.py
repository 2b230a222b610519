"""The end of a run: tables to Parquet, figures, verdicts, reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pileup import stats
from pileup.model.plan import Plan
from pileup.model.results import RunResults
from pileup.record import RunFolder
from pileup.run.reports import write_reports


def finish(folder: RunFolder, info: dict[str, Any], plan: Plan | None = None) -> tuple[RunResults, list[Path]]:
    """Close the record: convert it, judge it, write the verdict into run.json and the reports beside it.

    The reports are those of the plan's suite. Return the results, and the reports that `pileup run` names.
    """
    folder.convert()
    results = stats.results(folder)
    info.update(state="ended", exit_code=int(results.exit_code), verdict=results.verdict)
    folder.save(info)
    results = replace(results, run=info)
    reports = write_reports(folder, results, plan)
    folder.close()
    return results, reports
