"""Detached operations of one place: the engine's ledger and its frames."""

from __future__ import annotations

from typing import Any

from pileup._core._native import Recorder, now
from pileup.model.record import Frame, FrameRow, Phase


class LedgerFrames:
    """The ledger of a recorder; its frames belong to no interval of a load, so they last 0 ns."""

    def __init__(self, recorder: Recorder, place: int) -> None:
        self.ledger: Any = recorder.ledger()  # type: ignore[attr-defined,unused-ignore]
        self._place = place

    def frames(self) -> list[Frame]:
        """Return a frame of every case with news since the last call."""
        return [frame_of(plain, self._place) for plain in self.ledger.frames()]

    def close(self) -> None:
        """Record what is open as unfinished."""
        self.ledger.close()


class NoLedger(LedgerFrames):
    """Of an engine without one."""

    def __init__(self) -> None:
        self.ledger = None

    def frames(self) -> list[Frame]:
        """Return nothing."""
        return []

    def close(self) -> None:
        """Do nothing."""


def ledger_of(recorder: Recorder, place: int) -> LedgerFrames:
    """Return the ledger of a recorder, one that does nothing when the engine has none."""
    return LedgerFrames(recorder, place) if hasattr(recorder, "ledger") else NoLedger()


def frame_of(plain: dict[str, Any], place: int) -> Frame:
    """Return the news of a ledger about a case as a frame of its place, with the current time."""
    rows = tuple(FrameRow(**row) for row in plain["rows"])
    return Frame(
        time=now(),
        nanoseconds=0,
        place=place,
        case=plain["case"],
        phase=Phase.MEASURE,
        started=0,
        missed=0,
        in_flight=plain["in_flight"],
        clients=0,
        cpu=0,
        late=b"",
        rows=rows,
    )
