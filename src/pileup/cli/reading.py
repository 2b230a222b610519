"""Reading a run folder that may be anybody's: whatever it holds, a command ends with a sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pileup.model.errors import RecordError


@contextmanager
def reading(run: Path) -> Iterator[None]:
    """Turn what a record that pileup did not write makes of pileup into a RecordError that names the folder.

    Only for what reads a run folder: a fault of pileup itself would be told as one of the record, so the place in the
    code is named.
    """
    import duckdb  # slow to import

    try:
        yield
    except duckdb.Error as problem:
        raise RecordError(_told(run, str(problem).splitlines()[0]), "a record as pileup writes it", HINT) from problem
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError) as problem:
        raise RecordError(_told(run, repr(problem)[:300]), "a record as pileup writes it", HINT) from problem
    except (RecursionError, MemoryError) as problem:
        raise RecordError(_told(run, type(problem).__name__), "a record as pileup writes it", HINT) from problem
    except OSError as problem:
        if problem.errno not in (errno.EOVERFLOW, errno.EINVAL, errno.ELOOP):  # numbers that are no times; links
            raise
        raise RecordError(_told(run, str(problem)), "a record as pileup writes it", HINT) from problem


HINT = "`pileup verify` says what is damaged"


def _told(run: Path, what: str) -> str:
    return f"{run} cannot be read: {what}"
