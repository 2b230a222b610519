"""What went wrong, equal messages together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pileup.model.manifest import Manifest
from pileup.model.record import Outcome, Phase
from pileup.model.results import ErrorGroup
from pileup.record import RunFolder
from pileup.record.operations import BROKEN_OFF

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_GROUPS = 200


def errors(connection: DuckDBPyConnection, run: Manifest) -> tuple[ErrorGroup, ...]:
    """Return the groups of equal errors, the most frequent first, at most 200.

    An iteration that failed because an operation inside it did is told by that operation alone.
    """
    places = {place.number: place.name for place in run.places}
    rows = connection.execute(
        f"""WITH wrong AS (
            SELECT * FROM caused WHERE outcome <> 'passed' AND side = 'client' AND phase <> '{BROKEN_OFF}')
        SELECT "case", operation, outcome, error, count(*) AS number, min(start), arg_min(place, start), cause
        FROM wrong WHERE NOT (parent = 0 AND id IN (SELECT parent FROM wrong WHERE parent <> 0))
        GROUP BY "case", operation, outcome, error, cause ORDER BY number DESC, min(start) LIMIT {MOST_GROUPS}"""  # noqa: S608
    ).fetchall()
    return tuple(
        ErrorGroup(case, operation, outcome, message, int(number), int(first), places.get(place, str(place)), cause)
        for case, operation, outcome, message, number, first, place, cause in rows
    )


def first_error(folder: RunFolder, case: int, phase: int = Phase.MEASURE) -> str:
    """Return the message of the first act of a case that did not pass, of a run that goes on; empty for none."""
    for rows, texts in folder.operations().rows():
        wrong = rows[(rows["case"] == case) & (rows["phase"] == phase) & (rows["outcome"] != Outcome.PASSED)]
        wrong = wrong[(wrong["error"] != 0)]
        if len(wrong):
            first = wrong[np.lexsort((wrong["parent"] == 0, wrong["end"]))[0]]
            return texts.get(int(first["error"]), "")
    return ""
