"""The words of raw rows: small tables in DuckDB say for each number in a row which text it stands for.

Where a column has few different words they are an ENUM, which goes to Parquet as it is: as texts they would be hashed
row by row, which is most of the time that writing them takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pileup.model.cause import Cause
from pileup.model.manifest import Manifest
from pileup.model.record import SEPARATOR, Outcome, Phase, Side
from pileup.record import older
from pileup.record.tables import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FEW = 1000
"""Most different words of a column that are an ENUM: each row group of its Parquet file has a list of them."""
Columns = dict[str, NDArray[Any]]
"""Name -> values, one for each row."""
AT_ONCE = 4096
"""Rows that are taken apart at once."""
TEXTS = ("key", "error", "operation", "labels", "monitor")
"""Columns of raw rows with numbers of texts."""
NUMBERS = ("id", "parent", "intended", "start", "first_byte", "end", "bytes", "client", "calls", "place")
"""Columns that are the same in the record."""
COLUMNS = (
    *NUMBERS[:7], "key", "error", "operation", "case", "case_id", "client", "calls", "test", "target", "place",
    "side", "phase", "outcome", "cause", "labels", "monitor",
)  # fmt: skip
"""Columns of the record."""
_PHASE_WORDS = {
    Phase.SETUP: "set-up",
    Phase.RAMP: "ramp",
    Phase.WARM_UP: "warm-up",
    Phase.MEASURE: "measure",
    Phase.COOLDOWN: "cool-down",
    Phase.CLEANUP: "clean-up",
}


def word_of_phase(phase: Phase) -> str:
    """Return the word of a phase in Parquet and exports."""
    return _PHASE_WORDS[phase]


def apart(rows: Rows) -> Columns:
    """Return the columns of rows, each in memory of its own.

    Some rows at a time, which stay in the caches: to fetch a row for one number costs as much as to fetch all of it.
    """
    made = {name: np.empty(len(rows), rows.dtype[name]) for name in rows.dtype.names or () if name != "pad"}
    for begin in range(0, len(rows), AT_ONCE):
        some = slice(begin, begin + AT_ONCE)
        for name, column in made.items():
            column[some] = rows[some][name]
    return made


def used(columns: Columns, texts: dict[int, str]) -> dict[int, str]:
    """Return the texts that rows name: later ones of the table may take their place in `texts`."""
    named = [name for name in TEXTS if name in columns]
    return {number: texts.get(number, "") for number in set().union(*(_different(columns[name]) for name in named))}


class Words:
    """The words of one chunk of raw rows after another, in one connection."""

    def __init__(self, connection: DuckDBPyConnection, run: Manifest) -> None:
        self._connection = connection
        self._targets = {number: target.name for number, target in enumerate(run.targets)}
        self._cases = {case.id: case for case in run.cases}
        self._known: dict[str, dict[int, str]] = {}

    @contextmanager
    def query(self, columns: Columns, texts: dict[int, str]) -> Iterator[str]:
        """Give SQL for rows with the columns of the record, while the block lasts; `texts` are those that they name."""
        different = {name: _different(column) for name, column in columns.items() if name not in NUMBERS}
        sql = {name: f'r."{name}"' for name in NUMBERS} | {"case_id": 'r."case"'}
        joins: list[str] = []

        def column(name: str, source: str, word: Callable[[int], str]) -> None:
            words = {number: word(number) for number in different[source]}
            self._tell(name, words)
            if len(set(words.values())) == 1:
                # one for all rows: nothing to join. A constant would be REQUIRED in Parquet, and what is joined is not
                sql[name] = f"(SELECT any_value(word) FROM _word_{name})"  # noqa: S608  a name of ours
                return
            joins.append(f'LEFT JOIN _word_{name} ON r."{source}" = _word_{name}.number')
            sql[name] = f"_word_{name}.word"

        for name in TEXTS:
            if name in columns and name != "operation":
                column(name, name, texts.__getitem__)
        column("operation", "operation", lambda number: texts[number].partition(SEPARATOR)[0])
        if "labels" not in columns:
            column("labels", "operation", lambda number: _labels(texts[number]))
        column("side", "side", _word_of({int(side): side.name.lower() for side in Side}))
        column("phase", "phase", _word_of({int(phase): word for phase, word in _PHASE_WORDS.items()}))
        column("outcome", "outcome", _word_of({int(outcome): outcome.name.lower() for outcome in Outcome}))
        column("case", "case", lambda number: self._cases[number].name if number in self._cases else "")
        column("test", "case", lambda number: self._cases[number].test if number in self._cases else "")
        self._target(different["case"], column, sql)
        if "cause" in columns:
            column("cause", "cause", _word_of({int(cause): cause.word for cause in Cause}, ""))
        else:
            sql["cause"] = older.cause(*(f"CAST({sql[name]} AS VARCHAR)" for name in ("error", "outcome")))
        sql.setdefault("monitor", "CAST('' AS ENUM (''))")
        self._connection.register("_rows", columns)
        try:
            told = ", ".join(f'{sql[name]} AS "{name}"' for name in COLUMNS)
            yield f"SELECT {told} FROM _rows r {' '.join(joins)}"  # noqa: S608  names and words of ours
        finally:
            self._connection.unregister("_rows")

    def _target(self, cases: list[int], column: Callable[..., None], sql: dict[str, str]) -> None:
        """The target of a case that is known is that of the case; of others it is in the row."""
        unknown = [number for number in cases if number not in self._cases]
        column("target", "case", lambda number: self._cases[number].target if number in self._cases else "")
        if unknown:
            by_case = sql["target"]
            column("of_row", "target", lambda number: self._targets.get(number, ""))
            known = ", ".join(map(str, unknown))
            told = f"CAST({sql.pop('of_row')} AS VARCHAR)"
            sql["target"] = f'CASE WHEN r."case" IN ({known}) THEN {told} ELSE CAST({by_case} AS VARCHAR) END'

    def _tell(self, column: str, words: dict[int, str]) -> None:
        """Make the table of a column, where the last one is another."""
        if self._known.get(column) == words:
            return
        different = list(dict.fromkeys(words.values()))
        run = self._connection.execute
        run(f"DROP TABLE IF EXISTS _word_{column}")
        run(f"DROP TYPE IF EXISTS _kind_{column}")
        kind = "VARCHAR"
        if len(different) <= FEW:
            kind = f"_kind_{column}"
            self._given({"word": _array(different)}, f"CREATE TYPE {kind} AS ENUM (SELECT word FROM _given)")  # noqa: S608
        numbers = np.fromiter(words, np.uint32, len(words))
        select = f"SELECT number, CAST(word AS {kind}) AS word FROM _given"  # noqa: S608  a name of ours
        self._given(
            {"number": numbers, "word": _array(list(words.values()))}, f"CREATE TEMP TABLE _word_{column} AS {select}"
        )
        self._known[column] = words

    def _given(self, arrays: dict[str, NDArray[Any]], statement: str) -> None:
        self._connection.register("_given", arrays)
        try:
            self._connection.execute(statement)
        finally:
            self._connection.unregister("_given")


def _labels(text: str) -> str:
    return text.split(SEPARATOR)[1] if SEPARATOR in text else ""


def _word_of(words: dict[int, str], unknown: str = "?") -> Callable[[int], str]:
    return lambda number: words.get(number, unknown)


def _different(column: NDArray[Any]) -> list[int]:
    """Return the different values of a column: most have one."""
    if len(column) and (column == column[0]).all():
        return [int(column[0])]
    found: list[int] = np.unique(column).tolist()
    return found


def _array(words: list[str]) -> NDArray[Any]:
    made = np.empty(len(words), dtype=object)
    made[:] = words
    return made
