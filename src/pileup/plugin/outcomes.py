"""The outcomes that a kind of target assigns to the exceptions of its library, and checks of these."""

from __future__ import annotations

from typing import Any

from pileup.model.record import Outcome

MEANINGS = {"refused": Outcome.REFUSED, "ambiguous": Outcome.AMBIGUOUS}
"""Class attribute of a target with exceptions -> the outcome that they mean."""


def meaning_of(target: Any, problem: BaseException) -> object:
    """Return the outcome that a target assigns to an exception (None: none), or what its `outcome_of` returned."""
    told: object = target.outcome_of(problem)
    if told is None:
        told = next((outcome for name, outcome in MEANINGS.items() if isinstance(problem, getattr(target, name))), None)
    return told


def wrong_meanings(cls: type) -> tuple[str, str] | None:
    """Return what is wrong with the exceptions that a target declares, and what is expected; None if they are valid."""
    for name in MEANINGS:
        found = getattr(cls, name, ())
        if not isinstance(found, tuple):
            return f"{name} of {cls.__name__} is {found!r:.100}", f"a tuple of exceptions: `{name} = (SomeError,)`"
        for each in found:
            if not (isinstance(each, type) and issubclass(each, BaseException)):
                return f"{name} of {cls.__name__} has {each!r:.100}", "classes of exceptions alone"
    return None
