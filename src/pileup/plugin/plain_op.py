"""What iterations and ledgers have in common that the engine does not time: of unit tests, and in virtual time."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

from pileup.model.cause import Cause
from pileup.model.record import Labels, Outcome, labels_of
from pileup.plugin.operation import End
from pileup.plugin.recording import text_of

T = TypeVar("T")
CHECKED = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 _-]{0,79}")
"""Allowed names of checks."""


class Ended(NamedTuple):
    """How a detached operation ended."""

    outcome: Outcome
    time: int
    """ns since the epoch."""
    error: str
    bytes: int
    cause: Cause


class PlainBlock(ABC):
    """An operation (plugin.Operation) that is the same with `with` and `async with`."""

    __slots__ = ()

    @abstractmethod
    def __enter__(self) -> Self:
        """Begin it."""

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """End it."""

    async def __aenter__(self) -> Self:
        """Begin it."""
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """End it."""
        self.__exit__(kind, problem, trace)


class Recorded(NamedTuple):
    """An operation that has ended. Times are ns since the epoch."""

    name: str
    key: str
    start: int
    end: int
    outcome: Outcome
    bytes: int = 0
    calls: int = 0
    first_byte: int = 0
    """0: not marked."""
    error: str = ""
    labels: Mapping[str, str] = MappingProxyType({})


class PlainOp(ABC):
    """What an iteration (plugin.Op) does with operations that something else has timed, in plain Python."""

    @abstractmethod
    def now(self) -> int:
        """Return the time, ns since the epoch."""

    @abstractmethod
    def keep(self, found: Recorded) -> None:
        """Take an operation that has ended."""

    def check(self, name: str, ok: object) -> bool:
        """Count a check as an operation. Raises ValueError for a name that no suite can name."""
        if not CHECKED.fullmatch(name):
            raise ValueError(f"a check is called {name!r}; expected at most 80 letters, digits, spaces, _ and -")
        now, outcome = self.now(), Outcome.PASSED if ok else Outcome.FAILED
        self.keep(Recorded(f"check.{name.replace(' ', '_')}", "", now, now, outcome, error="" if ok else name))
        return bool(ok)

    def record(
        self,
        name: str,
        key: str = "",
        *,
        start: int,
        end: int | None = None,
        outcome: int = 0,
        bytes: int = 0,
        calls: int = 0,
        first_byte: int = 0,
        error: str = "",
        labels: Labels | None = None,
    ) -> None:
        """Record an operation that somebody else has timed. Raises ValueError for invalid times and labels."""
        over, told = self.now() if end is None else end, labels_of(text_of(labels or {}))
        if start < 0 or over < 0:
            raise ValueError(f"operation {name!r} from {start} to {over}; expected ns since the epoch")
        known = Outcome(outcome)
        self.keep(Recorded(name, key, start, max(start, over), known, bytes, calls, first_byte, error, told))


class PlainLedger(ABC, Generic[T]):
    """A ledger (plugin.Ledger) in plain Python; `T` is what it keeps of an operation that is open."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], T] = {}

    @abstractmethod
    def now(self) -> int:
        """Return the time, ns since the epoch."""

    @abstractmethod
    def start_of(self, one: T) -> int:
        """Return when an operation began."""

    @abstractmethod
    def close(self, name: str, key: str, one: T, ended: Ended) -> None:
        """Record an operation that has ended."""

    @abstractmethod
    def follow(self, one: T, name: str, key: str, start: int) -> T:
        """Return an operation that begins in the place of one, for the same iteration."""

    def refuse_open(self, name: str, key: str) -> None:
        """Raise ValueError when one of this name and key is open."""
        if (name, key) in self._open:
            raise ValueError(f"operation {name!r} on {key!r} is open already; expected a key that no open one has")

    def end(
        self,
        name: str,
        key: str,
        outcome: int = 0,
        end: int | None = None,
        error: str = "",
        *,
        bytes: int = 0,
        cause: int = 0,
    ) -> bool:
        """End one; False when none is open."""
        known, why, one = Outcome(outcome), Cause(cause), self._open.pop((name, key), None)
        if one is None:
            return False
        over = max(self.start_of(one), self.now() if end is None else end)
        self.close(name, key, one, Ended(known, over, error, bytes, why))
        return True

    def end_many(self, name: str, ends: Sequence[End], *, cause: int = 0) -> int:
        """End several of one name, for one cause; return how many were open."""
        return sum(self.end(name, key, outcome, end, error, cause=cause) for key, outcome, end, error in ends)

    def turn(self, name: str, key: str, to: str, at: int | None = None) -> bool:
        """End one as passed and begin `to` in its place."""
        one = self._open.get((name, key))
        if one is None or (to, key) in self._open:
            return False
        time = max(self.start_of(one), self.now() if at is None else at)
        self.end(name, key, end=time)
        self._open[to, key] = self.follow(one, to, key, time)
        return True

    def open(self, name: str = "") -> int:
        """Return how many are open, of all names when none is given."""
        return sum(not name or name == one for one, _ in self._open)

    def keys(self, name: str, most: int | None = None) -> list[str]:
        """Return the keys of those open, oldest first."""
        return [key for one, key in self._open if one == name][:most]

    def since(self, name: str, key: str) -> int | None:
        """Return when one began; None when none is open."""
        one = self._open.get((name, key))
        return None if one is None else self.start_of(one)
