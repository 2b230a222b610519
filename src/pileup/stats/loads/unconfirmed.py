"""Levels that were measured and not confirmed: as far as figures go they were trials.

A search measures the level that it found. Where that misses its conditions a lower level is measured, with the same
phases in the record: all before the last one is set aside here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pileup.model.manifest import CaseEntry
from pileup.model.record import Phase
from pileup.record.words import word_of_phase

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ALL = "operations_with_unconfirmed"


def set_aside(connection: DuckDBPyConnection, cases: Iterable[CaseEntry]) -> None:
    """Give what was measured and not confirmed the phase of a trial in the view `operations` of a connection.

    `cases` are entries of run.json.
    """
    since = [
        (case.id, case.find.measuring)
        for case in cases
        if case.find and len(case.find.measurements) > 1 and case.find.measuring is not None
    ]
    if not since:
        return
    measure, trial = word_of_phase(Phase.MEASURE), word_of_phase(Phase.WARM_UP)
    values = ", ".join(map(str, since))
    connection.execute(f"ALTER VIEW operations RENAME TO {ALL}")
    connection.execute(
        f"""CREATE VIEW operations AS SELECT o.* REPLACE (
            CASE WHEN o.phase = '{measure}' AND o.intended < l.since THEN '{trial}' ELSE o.phase END AS phase)
        FROM {ALL} o LEFT JOIN (VALUES {values}) l(number, since) ON o.case_id = l.number"""  # noqa: S608  numbers
    )
