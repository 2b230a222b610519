"""The file of starts of a load that replays a record: written before the load begins, removed after it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pileup.fleet.starts import StartsFile
from pileup.model.errors import RecordError
from pileup.model.plan import Case
from pileup.record import starts


@contextmanager
def replayed(case: Case, tell: Callable[[str], None]) -> Iterator[StartsFile | None]:
    """Give the starts that a case replays, None when it replays nothing; `tell` gets their digest.

    Raises RecordError when the record is not what the plan was made with, or there is no room.
    """
    found, word = case.replay, case.load.replay
    if found is None or word is None:
        yield None
        return
    with tempfile.NamedTemporaryFile(prefix="pileup-starts-", suffix=".i64") as file:
        try:
            tell(starts.write(found, file))
            file.flush()
        except OSError as problem:
            raise RecordError(f"{file.name} cannot be written: {problem.strerror}", "room on the disk") from problem
        yield StartsFile(file.name, found.count, word.speed, found.pace)
