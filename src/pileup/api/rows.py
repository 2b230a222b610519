"""A table of a run that is read when somebody asks for it: as pandas, Arrow or numpy, as a whole or in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pileup.api import html
from pileup.model.errors import UsageError
from pileup.suite.problems import near

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

Opened = Callable[[], AbstractContextManager["DuckDBPyConnection"]]
"""Gives a connection that has the tables of a query, for as long as it is read."""
SHOWN = 10
"""Rows that a notebook shows."""
AT_ONCE = 20_000
"""Rows of a chunk."""
INSTALL = "pip install {0}; or .numpy(), which needs nothing else"


class Rows:
    """Rows of a table, read again each time they are asked for: those of a growing run are as they are then.

    `len(rows)` counts them, `for row in rows` yields tuples in bounded memory. Anything that takes Arrow streams
    (`polars.DataFrame(rows)`) takes it, where pyarrow is installed. Times are ns since the epoch, durations ns.
    """

    def __init__(self, opened: Opened, query: str) -> None:
        self._opened = opened
        self._query = query

    @cached_property
    def columns(self) -> dict[str, str]:
        """Names of the columns with their types in DuckDB's words."""
        with self._opened() as connection:
            described = connection.execute(f"DESCRIBE {self._query}").fetchall()
        return {str(row[0]): str(row[1]) for row in described}

    def where(self, **equal: object) -> Rows:
        """Return the rows whose columns have these values; a list or a tuple: one of them.

        Raises UsageError for what is not a column.
        """
        conditions = []
        for name, value in equal.items():
            self._known(name)
            several = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
            conditions.append(f'"{name}" IN ({", ".join(map(_literal, several))})' if several else "FALSE")
        if not conditions:
            return self
        return Rows(self._opened, f"SELECT * FROM ({self._query}) WHERE {' AND '.join(conditions)}")  # noqa: S608

    def select(self, *names: str) -> Rows:
        """Return these columns alone: what is not asked for is not read. Raises UsageError for what is not a column."""
        for name in names:
            self._known(name)
        columns = ", ".join(f'"{name}"' for name in names) or "*"
        return Rows(self._opened, f"SELECT {columns} FROM ({self._query})")  # noqa: S608  names of ours

    def head(self, number: int = SHOWN) -> Rows:
        """Return the first rows."""
        return Rows(self._opened, f"SELECT * FROM ({self._query}) LIMIT {int(number)}")  # noqa: S608

    def df(self) -> pd.DataFrame:
        """Return a DataFrame of pandas. Raises UsageError where that is not installed."""
        _need("pandas", "a DataFrame")
        with self._opened() as connection:
            return connection.sql(self._query).df()

    def arrow(self) -> pa.Table:
        """Return a table of Arrow. Raises UsageError where pyarrow is not installed."""
        _need("pyarrow", "a table of Arrow")
        with self._opened() as connection:
            return connection.sql(self._query).to_arrow_table()

    def numpy(self) -> NDArray[Any]:
        """Return a structured array: text as objects; whole numbers of which some are missing as floats with NaN."""
        with self._opened() as connection:
            return _structured(connection.execute(self._query).fetchnumpy())

    def data(self) -> Any:
        """Return the best that is installed: a DataFrame of pandas, else a table of Arrow, else a numpy array."""
        if find_spec("pandas"):
            return self.df()
        return self.arrow() if find_spec("pyarrow") else self.numpy()

    def chunks(self, size: int = AT_ONCE) -> Iterator[NDArray[Any]]:
        """Yield structured arrays of at most `size` rows, one after another: memory holds one."""
        names = list(self.columns)
        with self._opened() as connection:
            found = connection.execute(self._query)
            while rows := found.fetchmany(size):
                columns = zip(*rows, strict=True)
                yield _structured({name: _array(column) for name, column in zip(names, columns, strict=True)})

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        with self._opened() as connection:
            found = connection.execute(self._query)
            while rows := found.fetchmany(AT_ONCE):
                yield from rows

    def __len__(self) -> int:
        with self._opened() as connection:
            (number,) = connection.execute(f"SELECT count(*) FROM ({self._query})").fetchone() or (0,)  # noqa: S608
        return int(number)

    def __bool__(self) -> bool:
        return True  # `if rows:` must not count millions

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give an Arrow stream to any library that knows of them."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Rows of pileup: {', '.join(self.columns)}; .df(), .arrow(), .numpy() or .data() reads them>"

    def _repr_html_(self) -> str:
        return html.rows(self.columns, list(self.head(SHOWN + 1)), SHOWN)

    def _known(self, name: str) -> None:
        if name not in self.columns:
            raise UsageError(f"there is no column {name!r}", near(name, self.columns, "one of `.columns`"), ".columns")


def _need(library: str, what: str) -> None:
    try:
        import_module(library)
    except ImportError as problem:
        raise UsageError(
            f"{what} needs {library}, which is not installed", library, INSTALL.format(library)
        ) from problem


def _literal(value: object) -> str:
    """Return a value as SQL. Raises UsageError for what no column holds."""
    if isinstance(value, str):
        return "'" + str(value).replace("'", "''") + "'"
    if isinstance(value, (bool, int, float, np.integer, np.floating)):
        return str(value)
    raise UsageError(
        f"no column holds {value!r:.100}", "a text or a number, or a list of them", "`.sql()` can ask more"
    )


def _array(column: Sequence[Any]) -> NDArray[Any]:
    """Return the values of a column: NaN in the place of numbers that are missing, None of all else."""
    kinds = {type(value) for value in column}
    if kinds <= {int, float, type(None)}:
        return np.array([np.nan if value is None else value for value in column])
    return np.array(column, dtype=None if len(kinds) == 1 and str not in kinds else object)


def _structured(found: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    columns = {name: _plain(column) for name, column in found.items()}
    length = max((len(column) for column in columns.values()), default=0)
    rows = np.zeros(length, np.dtype([(name, column.dtype) for name, column in columns.items()]))
    for name, column in columns.items():
        rows[name] = column
    return rows


def _plain(column: Any) -> NDArray[Any]:
    """Return a column without a mask: NaN in the place of numbers that are missing, None of all else."""
    missing = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    values: NDArray[Any] = np.asarray(column.data if missing is not None else column)
    if missing is None or not missing.any():
        return values
    number = values.dtype.kind in "iuf"
    plain = values.astype(float if number else object)
    plain[missing] = np.nan if number else None
    return plain
