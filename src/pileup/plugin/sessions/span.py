"""One session as its client saw it, and what makes sessions of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pileup.model.record import Outcome

if TYPE_CHECKING:
    from pileup.model.program import ClientSpec, Step


@dataclass(frozen=True, slots=True)
class Span:
    """From the begin of a session to its end. Ns since the epoch."""

    begin: int
    end: int
    error: str = ""
    """Why it did not pass; empty when it did."""
    outcome: Outcome = Outcome.PASSED
    beside: int = 0
    """Redirects that led past the relay."""


Act = Callable[[str, int], list[Span]]
"""Makes sessions through the relay at an address (HOST:PORT), so many, one after another."""


class EngineSessions(Protocol):
    """Makes sessions of the engine."""

    def __call__(self, client: ClientSpec, step: Step, times: int, timeout: int) -> list[Span]:
        """Do a step so many times, one after another, apart from any load; `timeout` (ns) is that of each.

        Raises ValueError for what the engine refuses.
        """
