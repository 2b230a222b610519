"""Reads run folders that may come from anybody: whatever they hold, errors are one sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pileup.model.errors import DamagedRecord


@contextmanager
def reading(run: Path) -> Iterator[None]:
    """Turn what a record that pileup did not write makes of pileup into a DamagedRecord that names the folder.

    Only for what reads a run folder: an internal error of pileup itself would be reported as one of the record, so its
    message is     kept, to be reported.
    """
    import duckdb  # noqa: PLC0415  slow to import

    try:
        yield
    except duckdb.Error as problem:
        raise _damaged(run, "its tables are not as pileup writes them", problem) from problem
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError) as problem:
        raise _damaged(run, "something in it is of another kind, or out of range", problem) from problem
    except (RecursionError, MemoryError) as problem:
        raise _damaged(run, "something in it is too large, or nested too deeply", problem) from problem
    except OSError as problem:
        if problem.errno not in (errno.EOVERFLOW, errno.EINVAL, errno.ELOOP):  # numbers that are not times; links
            raise
        raise _damaged(run, "something in it is not a file or no time", problem) from problem


def _damaged(run: Path, what: str, problem: BaseException) -> DamagedRecord:
    said = (str(problem).splitlines() or [type(problem).__name__])[0][:300]
    hint = f"`pileup verify` says what is damaged; where it finds nothing, please report: {said}"
    return DamagedRecord(f"{run} cannot be read: {what}", "a record as pileup writes it", hint)
