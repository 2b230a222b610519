"""A value that must never reach a record, a log, a report or a traceback."""

from __future__ import annotations

from typing import NoReturn

HIDDEN = "(secret)"


class Secret:
    """Holds a token, key or password; shows itself only to `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value itself, for the one place that sends it to the system under test."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(("Secret", self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled: hand the place a reference to it instead")
