"""How loads and runs end: a kind for code, a sentence for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EndingKind(StrEnum):
    """What ended a load. The engine gives the first five (`_native.ENDINGS`), places the others."""

    FINISHED = "finished"
    """It ran to its end."""
    STOPPED = "stopped"
    """It was stopped from outside."""
    LIMIT = "limit"
    """A limit of the suite: operations, errors in a row."""
    UNREADABLE = "unreadable"
    """The starts that it replays could not be read."""
    ENGINE = "engine"
    """The engine could not go on: no thread, no timer."""
    SET_UP_FAILED = "set-up failed"
    """A client could not be set up, or all places were lost before anything was done."""
    PLACE_LOST = "place lost"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a load ended, and why; the reason is empty where it went on to its end."""

    kind: EndingKind = EndingKind.FINISHED
    why: str = ""

    @property
    def early(self) -> bool:
        """Whether it ended before its end."""
        return self.kind is not EndingKind.FINISHED

    def __str__(self) -> str:
        named = self.kind in (EndingKind.LIMIT, EndingKind.SET_UP_FAILED)
        return f"{self.kind}: {self.why}" if named else self.why


FINISHED = Ending()


class StoppedBy(StrEnum):
    """Who or what stopped a run before its end."""

    USER = "user"
    LIMIT = "limit"
    """A limit of the suite."""
    INTERNAL = "internal"
    """A failure of pileup itself, or a disk that does not take the record."""
