"""Values of labels that stand out from the others, in words."""

from __future__ import annotations

from collections.abc import Iterable

from pileup.model.figure_words import apart_words
from pileup.model.results import OperationResult

MOST = 5
"""Values that are reported for one operation."""


def stragglers(operations: Iterable[OperationResult]) -> list[str]:
    """Return a sentence for each value of a label that stands out: `task: drive=d2 is 199 % slower ...`."""
    return [text for each in operations for text in _of(each)]


def _of(operation: OperationResult) -> list[str]:
    away = [
        f"{operation.operation}: {by.label}={value.value} is {apart_words(value.apart)} than the others"
        for by in operation.breakdowns
        for value in by.values
        if value.apart is not None
    ]
    more = len(away) - MOST
    return away[:MOST] + ([f"{operation.operation}: {more} more values stand out by their labels"] if more > 0 else [])
