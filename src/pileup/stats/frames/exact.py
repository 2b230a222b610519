"""Values of single operations out of the record, for the checks that histograms cannot answer: one query a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pileup.model.manifest import CaseEntry
from pileup.stats.frames.labels import PLACE, TARGET, Labels, Places
from pileup.stats.verdicts.resolve import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Column = dict[int, NDArray[np.float64]]
"""Case -> values in the order of their starts."""
Question = tuple[str | None, str, str, str, Labels]
"""Operation, field, test, monitor, labels."""


VALUES = {
    **dict.fromkeys(("response", "passed_response"), '"end" - intended'),
    **dict.fromkeys(("service", "passed_service"), '"end" - start'),
}


class RowValues:
    """Reads the values of one field of one operation for all cases of a test at once, and keeps the last of these.

    `connection` has the view `caused`.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._kept: dict[Question, Column] = {}

    def of(self, case: CaseEntry, monitor: str = "", labels: Labels = (), places: Places | None = None) -> Rows:
        """Return how to get the values of one case (its entry in run.json), or those that a monitor recorded in it."""

        def rows(operation: str | None, field: str) -> NDArray[np.float64]:
            key = (operation, field, "" if monitor else case.test, monitor, labels)
            if key not in self._kept:
                self._kept = {key: self._read(key, places or {})}
            return self._kept[key].get(case.id, np.empty(0))

        return rows

    @staticmethod
    def together(several: Sequence[Rows]) -> Rows:
        """Return how to get the values of several cases, one after another."""

        def rows(operation: str | None, field: str) -> NDArray[np.float64]:
            found = [each(operation, field) for each in several]
            return np.concatenate(found) if found else np.empty(0)

        return rows

    def _read(self, question: Question, places: Places) -> Column:
        operation, field, test, monitor, labels = question
        value = VALUES.get(field, field)
        conditions = ["side = 'server' AND monitor = ?" if monitor else "side = 'client' AND test = ?"]
        conditions += ["parent = 0" if operation is None else "operation = ?"]
        given = [monitor or test] if operation is None else [monitor or test, operation]
        for condition, some in _of_labels(labels, places):
            conditions.append(condition)
            given += some
        query = f"""SELECT case_id, ({value})::DOUBLE AS value FROM caused WHERE {" AND ".join(conditions)}
            AND outcome = 'passed' AND phase = 'measure' ORDER BY case_id, start, id"""  # noqa: S608  words of ours
        found = self._connection.execute(query, given).fetchnumpy()
        cases, values = np.asarray(found["case_id"]), np.asarray(found["value"], dtype=float)
        if not len(cases):
            return {}
        numbers, starts = np.unique(cases, return_index=True)
        return {int(number): part for number, part in zip(numbers, np.split(values, starts[1:]), strict=True)}


def _of_labels(labels: Labels, places: Places) -> list[tuple[str, list[str]]]:
    """Return SQL conditions for labels, with what is given to each."""
    found: list[tuple[str, list[str]]] = []
    for name, value in labels:
        if name == TARGET:
            found.append(("target = ?", [value]))
        elif name == PLACE:
            mine = [place for place, names in places.items() if value in names] or [-1]
            found.append((f"place IN ({', '.join(map(str, mine))})", []))
        else:
            found.append(("list_contains(string_split(labels, ','), ?)", [f"{name}={value}"]))
    return found
