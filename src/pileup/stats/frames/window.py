"""When a case was measured.

The definition of a rate is here: what ended in the measured time, by that time. Frames count what passed, and the bytes
that came, by the clock of the load (`FrameRow.done`, `FrameRow.moved`), and say when the load is measured. There is no
credit for waiting: what is under way at an edge counts where it ends, and its bytes when they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup.model.manifest import CaseEntry
from pileup.model.record import Frame

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(slots=True)
class Window:
    """The measured time of a case, ns since the epoch."""

    begin: int
    end: int
    parts: tuple[tuple[int, int], ...] = ()
    """What is measured in between, (begin, end) each, when that is not all: ramps between levels are left out."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Its parts, one when there is no other."""
        return self.parts or ((self.begin, self.end),)

    @property
    def seconds(self) -> float:
        """Its length."""
        return sum(end - begin for begin, end in self.spans) / 1e9


def windows(
    connection: DuckDBPyConnection, cases: Iterable[CaseEntry], frames: Mapping[int, Sequence[Frame]] | None = None
) -> dict[int, Window]:
    """Return the window of every case that was measured; `connection` has the view `operations`."""
    rows = _Rows(connection)
    found = {}
    for case in cases:
        number = case.id
        told = (frames or {}).get(number, ())
        window = _told(case, told, rows) or _recorded(case, rows.seen(number))
        if window is not None:
            found[number] = window
    return found


class _Rows:
    """The first and the last of the measured iterations: the rows are looked at only where frames do not say it."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._seen: dict[int, tuple[int, int]] | None = None

    def seen(self, case: int) -> tuple[int, int] | None:
        """Return when the first should have started and the last ended; None of a case without any."""
        if self._seen is None:
            rows = self._connection.execute(
                """SELECT case_id, min(intended), max("end") FROM operations
                WHERE parent = 0 AND phase = 'measure' AND side = 'client' GROUP BY case_id"""
            ).fetchall()
            self._seen = {int(number): (int(begin), int(end)) for number, begin, end in rows}
        return self._seen.get(case)


def _told(case: CaseEntry, frames: Sequence[Frame], rows: _Rows) -> Window | None:
    """Return the measured time as the places reported it; None if none did, or it had not come yet."""
    since = (case.find.measuring or 0) if case.find else 0
    last = {frame.place: frame for frame in frames if frame.measured_from and frame.time > since}
    if not last or (case.find and not since):
        return None
    begin = min(frame.measured_from for frame in last.values())
    end = max(frame.measured_to for frame in last.values())
    news = max(frame.time for frame in last.values())
    if not all(frame.measured_to for frame in last.values()):
        seen = rows.seen(case.id)
        end = seen[1] if seen else news
    if not case.ended:
        end = min(end, news)
    return _window(case, begin, end) if end > begin else None


def going_on(newest: Iterable[Frame], spans: Sequence[tuple[int, int]]) -> Window | None:
    """Return the measured time of a case up to now, by the newest frame of each place; None where none says it.

    `spans` are those of its entry in run.json: what is measured of several levels.
    """
    last = [frame for frame in newest if frame.measured_from]
    if not last:
        return None
    begin, news = min(frame.measured_from for frame in last), max(frame.time for frame in last)
    end = min(max(frame.measured_to or news for frame in last), news)
    return _spanned(begin, end, spans) if end > begin else None


def _recorded(case: CaseEntry, seen: tuple[int, int] | None) -> Window | None:
    """Return the same of an older record: from the first start, as long as asked if the record goes on for so long."""
    if seen is None:
        return None
    begin, end = seen
    wanted = case.spans[-1][1] if case.spans else case.for_
    asked = begin + wanted if wanted else end
    # A load that was stopped ends early; one that ran to its end has its last start a little before.
    return _window(case, begin, max(begin + 1, asked if end >= begin + 0.9 * (asked - begin) else end))


def _window(case: CaseEntry, begin: int, end: int) -> Window:
    return _spanned(begin, end, case.spans)


def _spanned(begin: int, end: int, spans: Sequence[tuple[int, int]]) -> Window:
    parts = tuple((begin + first, min(begin + last, end)) for first, last in spans if begin + first < end)
    return Window(begin, end, parts if len(parts) > 1 else ())
