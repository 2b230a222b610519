"""Values of single operations out of the record, for the checks that histograms cannot answer: one query a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pileup.model.manifest import CaseEntry
from pileup.stats.verdicts.resolve import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Column = dict[int, NDArray[np.float64]]
"""Case -> values in the order of their starts."""


VALUES = {
    **dict.fromkeys(("response", "passed_response"), '"end" - intended'),
    **dict.fromkeys(("service", "passed_service"), '"end" - start'),
}


class RowValues:
    """Reads the values of one field of one operation for all cases of a test at once, and keeps the last of these.

    `connection` has the view `operations`.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._kept: dict[tuple[str | None, str, str], Column] = {}

    def of(self, case: CaseEntry) -> Rows:
        """Return how to get the values of one case (its entry in run.json)."""

        def rows(operation: str | None, field: str) -> NDArray[np.float64]:
            key = (operation, field, case.test)
            if key not in self._kept:
                self._kept = {key: self._read(operation, field, key[2])}
            return self._kept[key].get(case.id, np.empty(0))

        return rows

    def _read(self, operation: str | None, field: str, test: str) -> Column:
        value = VALUES.get(field, field)
        which = "parent = 0" if operation is None else "operation = ?"
        query = f"""SELECT case_id, ({value})::DOUBLE AS value FROM operations WHERE test = ? AND {which}
            AND outcome = 'passed' AND phase = 'measure' AND side = 'client' ORDER BY case_id, start, id"""  # noqa: S608
        found = self._connection.execute(query, [test] if operation is None else [test, operation]).fetchnumpy()
        cases, values = np.asarray(found["case_id"]), np.asarray(found["value"], dtype=float)
        if not len(cases):
            return {}
        numbers, starts = np.unique(cases, return_index=True)
        return {int(number): part for number, part in zip(numbers, np.split(values, starts[1:]), strict=True)}
