"""Whether this user has started a run: nothing of any other run is executed, ended or removed."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.model.errors import UsageError
from pileup.record import RunFolder
from pileup.run.recovery import registry

HINT = "inspect it; --trust executes its journal and its suite anyway"


@dataclass(frozen=True, slots=True)
class Trust:
    """What is known of a run folder from outside of it."""

    entry: registry.Entry | None
    """Its entry in this user's registry; None when it has none."""
    given: bool = False
    """Whether the user says that it is to be trusted."""

    @classmethod
    def of(cls, folder: RunFolder, given: bool = False) -> Trust:
        """Look the folder up."""
        return cls(registry.entry_of(folder), given)

    @property
    def granted(self) -> bool:
        """Whether what the folder says may be acted upon."""
        return self.entry is not None or self.given

    def check(self, folder: RunFolder, what: str) -> None:
        """Raise UsageError when it is not; `what` is not done then."""
        if not self.granted:
            told = f"{folder.path} is not in your registry of runs: {what}"
            raise UsageError(told, "the folder of a run that you started on this machine, at its original path", HINT)
