"""Roles: cases that run alongside others, each in a thread of its own, ended when those have ended."""

from __future__ import annotations

import threading
from collections.abc import Callable

from pileup.model.plan import Case
from pileup.run.case import CaseRun
from pileup.run.machine import CaseEnded

Carry = Callable[[CaseRun], CaseEnded]


class Role:
    """One role under way."""

    def __init__(self, run: CaseRun, ended: threading.Event, carry: Carry) -> None:
        self.run = run
        self._ended = ended
        self._carry = carry
        self._answer: CaseEnded | None = None
        self._thread = threading.Thread(target=self._main, name=f"role {run.case.name}", daemon=True)

    def begin(self) -> None:
        """Begin it beside what goes on."""
        self._thread.start()

    def end(self) -> CaseEnded | None:
        """Ask it to begin nothing more, wait until it has ended, and return how; None when it never began."""
        self._ended.set()
        if self._thread.ident is None:
            return None
        self._thread.join()
        return self._answer

    @property
    def case(self) -> Case:
        """The case that it is."""
        return self.run.case

    def _main(self) -> None:
        self._answer = self._carry(self.run)
