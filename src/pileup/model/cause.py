"""Why something did not pass, as data and not only as text. Numbers must not change; see docs/record.md."""

from __future__ import annotations

from enum import IntEnum


class Cause(IntEnum):
    """Why an iteration or an operation did not pass: code decides by this; the sentence is for people."""

    NONE = 0
    """Only the sentence is known."""
    OPEN_FILES = 1
    """The machine of pileup had no more open files."""
    LOCAL_PORTS = 2
    """The machine of pileup had no more local ports."""
    CANCELLED = 3
    """The job was cancelled."""
    TOKEN_EXPIRED = 4
    """The system refused, and the token that it was shown had expired."""
    FORGOTTEN = 5
    """The system does not know any more what it has accepted."""

    @property
    def word(self) -> str:
        """Its word in the record; empty for none."""
        return "" if self is Cause.NONE else self.name.lower().replace("_", " ")
