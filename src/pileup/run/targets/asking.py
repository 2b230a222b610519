"""Calls of a target's methods: a mistake in its class makes that target unavailable, and never ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pileup.model.errors import PileupError, TargetError
from pileup.plugin import Target
from pileup.plugin.userfile import MEND
from pileup.plugin.verdict import mistake


@contextmanager
def asked(name: str, method: str, expected: str) -> Iterator[None]:
    """While it lasts, a method of the target of this name is called. Raises TargetError for a mistake in it.

    What is meant (PileupError) and what the system says (OSError) goes through as it is.
    """
    try:
        yield
    except (PileupError, OSError):
        raise
    except Exception as problem:
        raise TargetError(f"the {method} of target {name} raised {mistake(problem)}", expected, MEND) from problem


def probe(name: str, target: Target) -> str:
    """Reach a target and return what it is. Raises TargetError, other PileupError, OSError."""
    with asked(name, "probe", "a text or TargetError"):
        about: object = target.probe()
    if not isinstance(about, str):
        raise TargetError(f"the probe of target {name} returned {about!r:.100}", "a text or TargetError", MEND)
    return about
