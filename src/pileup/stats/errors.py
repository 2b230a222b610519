"""Errors of a run, equal messages together."""

from __future__ import annotations

import re
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
LAST = 2**63 - 1


def errors(connection: DuckDBPyConnection, run: Manifest) -> tuple[ErrorGroup, ...]:
    """Return the groups of equal errors, the most frequent first, at most 200.

    An iteration that failed because an operation inside it did is reported by that operation alone.
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
        ErrorGroup(
            case,
            operation,
            outcome,
            said(message, operation),
            int(number),
            int(first),
            places.get(place, str(place)),
            cause,
        )
        for case, operation, outcome, message, number, first, place, cause in rows
    )


def said(text: str, operation: str) -> str:
    """Return a message without the name of its operation before it: tables name that in a column of its own."""
    return re.sub(rf"^(?:{re.escape(operation)}: )+", "", text)


def commonest_error(folder: RunFolder, case: int, phase: int = Phase.MEASURE) -> str:
    """Return the most frequent message of what did not pass in a case of a run that goes on; empty for none.

    Of equally many the one that came first: that of an operation before that of the iteration which it failed.
    """
    found: dict[tuple[str, bool], tuple[int, int]] = {}  # message, whether of iterations -> how many, the first end
    for rows, texts in folder.operations().rows():
        wrong = rows[(rows["case"] == case) & (rows["phase"] == phase) & (rows["outcome"] != Outcome.PASSED)]
        wrong = wrong[(wrong["error"] != 0)]
        for iterations in (False, True):
            some = wrong[(wrong["parent"] == 0) == iterations]
            for number, count in zip(*np.unique(some["error"], return_counts=True), strict=True):
                key = texts.get(int(number), ""), iterations
                before, first = found.get(key, (0, LAST))
                found[key] = before + int(count), min(first, int(some["end"][some["error"] == number].min()))
    return min(found, key=lambda key: (-found[key][0], found[key][1], key[1]), default=("", False))[0]
