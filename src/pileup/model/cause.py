"""Why something did not pass, where more is known than a sentence. Numbers are frozen; see docs/record.md."""

from __future__ import annotations

from enum import IntEnum


class Cause(IntEnum):
    """Why an iteration or an operation did not pass: for what is decided by it; the sentence is for people."""

    NONE = 0
    """No more is known than the sentence says."""
    OPEN_FILES = 1
    """The machine of pileup had no more open files."""
    LOCAL_PORTS = 2
    """The machine of pileup had no more local ports."""
    CANCELLED = 3
    """Somebody has cancelled the job."""

    @property
    def word(self) -> str:
        """Its word in the record; empty for none."""
        return "" if self is Cause.NONE else self.name.lower().replace("_", " ")
