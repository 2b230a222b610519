"""Takes lines of a log apart: patterns with named fields, to operations as columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pileup.builtin.database.slow_log import LONGEST, kind_of
from pileup.builtin.logs.times import UNITS, Times, number_of, numbers_of
from pileup.plugin import Outcome
from pileup.plugin.recording import EARLIEST

MOST_OPEN = 100_000
"""Operations that have begun and not ended, of which the lines are kept; the oldest are given up."""
TIMES = ("time", "begin", "end", "first_byte")
FIELDS = (*TIMES, "took", "operation", "key", "id", "client", "status", "bytes", "calls", "error")
STATEMENT = "statement"
"""Field with a statement of SQL: the operation is its kind, without literals."""
"""Fields with a meaning; others are for `join` and `labels`."""
NOTHING = ("", "-")
"""What servers write for a value that is not there."""
ABSENT = (None, *NOTHING)
MOST_BYTES, MOST_CALLS, MOST_ID, MOST_CLIENT = 2**62, 2**32 - 1, 2**64 - 1, 2**31
Row = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines are read: what the options of the monitor say."""

    patterns: tuple[re.Pattern[str], ...]
    """One for operations of a line each, else that of the line that begins one, and that of the line that ends it."""
    join: tuple[str, ...]
    times: Mapping[str, Times]
    stamp: str
    """"begin" or "end": what the field `time` of a single line says."""
    unit: str
    clock: int
    """ns by which the clock of the log is ahead."""
    operation: str
    prefix: str
    failed: re.Pattern[str] | None
    labels: tuple[str, ...]
    continued: re.Pattern[str] | None = None
    """Of lines that belong to the one before."""

    def problem(self) -> str:
        """Return what is missing in the patterns; empty if they say when each operation began and ended."""
        groups = [set(pattern.groupindex) for pattern in self.patterns]
        if len(groups) == 2:
            lacking = [name for name in self.join if not all(name in each for each in groups)]
            if lacking:
                return f"`begins` and `ends` do not both have a field {lacking[0]!r}, which joins them"
            if "time" not in groups[0] and "begin" not in groups[0]:
                return "`begins` has no field `time`"
            if not groups[1] & {"time", "end", "took"}:
                return "`ends` has no field `time`"
        elif not groups[0] & {"time", "begin", "end"}:
            return "`pattern` has no field `time`, `begin` or `end`"
        elif "took" not in groups[0] and not {"begin", "end"} <= groups[0]:
            return "`pattern` does not say how long an operation took: no field `took`, and not both `begin` and `end`"
        known = set().union(*groups)
        strange = [name for name in self.labels if name not in known]
        return f"`labels` has {strange[0]!r}, which is no field of a pattern" if strange else ""


@dataclass(frozen=True, slots=True)
class Columns:
    """Some operations, as `Monitor.record_many` takes them."""

    names: list[str]
    keys: list[str]
    numbers: dict[str, list[int]]
    errors: list[str]
    labels: list[dict[str, str]] | None

    def __len__(self) -> int:
        return len(self.names)


class Reader:
    """Reads the lines of one log and of what rotation made of it; several logs have a reader each."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._rows = self._pairs if len(layout.patterns) == 2 else self._single
        self._names = _names(layout)
        self._began: dict[Row, Row] = {}
        self._outcomes: dict[tuple[str | None, bool], Outcome] = {}
        self._sets: dict[Row, dict[str, str]] = {}
        stamps = ("begin", "end") if len(layout.patterns) == 2 else ("",)
        self._get: list[Callable[[Any], Row]] = [
            _getter(pattern, self._names, stamp) for pattern, stamp in zip(layout.patterns, stamps, strict=True)
        ]
        self._join = [_getter(pattern, layout.join) for pattern in layout.patterns]
        self._pending: str | None = None
        self.other = 0
        """Lines that no pattern found."""
        self.unreadable = 0
        """Lines whose fields are no times or numbers."""
        self.unpaired = 0
        """Lines that begin an operation whose end never came, or end one that did not begin."""

    @property
    def open(self) -> int:
        """Operations that have begun and not ended."""
        return len(self._began)

    def read(self, lines: Sequence[str]) -> Columns:
        """Return the operations that these lines complete."""
        continued = self._layout.continued
        rows = self._rows(self._whole(lines, continued) if continued else lines)
        try:
            return self._columns(rows)
        except (ValueError, OverflowError):
            kept = [row for row in rows if self._readable(row)]
            self.unreadable += len(rows) - len(kept)
            return self._columns(kept)

    def _whole(self, lines: Sequence[str], continued: re.Pattern[str]) -> list[str]:
        """Put lines together that continue others. The last waits for what may follow, until a call without lines."""
        pending, found = self._pending, []
        for line in lines:
            if pending is not None and continued.search(line):
                if len(pending) < LONGEST:
                    pending = f"{pending}\n{line}"
                continue
            if pending is not None:
                found.append(pending)
            pending = line
        if not lines and pending is not None:
            found.append(pending)
            pending = None
        self._pending = pending
        return found

    def _readable(self, row: Row) -> bool:
        try:
            self._columns([row])
        except (ValueError, OverflowError):
            return False
        return True

    def _single(self, lines: Sequence[str]) -> list[Row]:
        search, get = self._layout.patterns[0].search, self._get[0]
        found = [get(match) for line in lines if (match := search(line)) is not None]
        self.other += len(lines) - len(found)
        return found

    def _pairs(self, lines: Sequence[str]) -> list[Row]:
        begins, ends = self._layout.patterns
        began, found = self._began, []
        for line in lines:
            if (match := begins.search(line)) is not None:
                key = self._join[0](match)
                self.unpaired += key in began
                began[key] = self._get[0](match)
                if len(began) > MOST_OPEN:
                    del began[next(iter(began))]
                    self.unpaired += 1
            elif (match := ends.search(line)) is not None:
                first = began.pop(self._join[1](match), None)
                if first is None:
                    self.unpaired += 1
                else:
                    second = self._get[1](match)
                    found.append(tuple(b if b is not None else a for a, b in zip(first, second, strict=True)))
            else:
                self.other += 1
        return found

    def _columns(self, rows: Sequence[Row]) -> Columns:
        """Return rows as columns. Raises ValueError, OverflowError if a field of one is no time or number."""
        layout = self._layout
        texts: dict[str, Sequence[str | None]] = dict(
            zip(self._names, zip(*rows, strict=True) if rows else [()] * len(self._names), strict=True)
        )
        size = len(rows)
        begin, end = self._spans(texts, size)
        first = self._times(texts, "first_byte", size)
        numbers = {
            "start": begin,
            "end": end,
            "first_byte": [time - layout.clock if time else 0 for time in first],
            "bytes": _numbers(texts.get("bytes"), size, MOST_BYTES),
            "calls": _numbers(texts.get("calls"), size, MOST_CALLS),
            "parent": _numbers(texts.get("id"), size, MOST_ID),
            "client": _numbers(texts.get("client"), size, MOST_CLIENT, -1),
        }
        errors = _texts(texts.get("error"), size)
        status = texts.get("status") or [None] * size
        numbers["outcome"] = [self._outcome(*each) for each in zip(status, map(bool, errors), strict=True)]
        names = self._operations(texts, size)
        keys = [self._key(each) for each in _texts(texts.get("key"), size)]
        labels = None
        if layout.labels:
            labels = [self._set(each) for each in zip(*(texts[name] for name in layout.labels), strict=True)]
        return Columns(names, keys, numbers, errors, labels)

    def _operations(self, texts: Mapping[str, Sequence[str | None]], size: int) -> list[str]:
        """Return names of operations: of statements their kinds."""
        default = self._layout.operation
        if STATEMENT in texts:
            return [kind_of(each[:LONGEST]) or default if each else default for each in texts[STATEMENT]]
        return [each or default for each in texts.get("operation") or [None] * size]

    def _spans(self, texts: Mapping[str, Sequence[str | None]], size: int) -> tuple[list[int], list[int]]:
        """Return begins and ends; of what is not written the rest of the three gives it."""
        begin, end = (self._times(texts, name, size) for name in ("begin", "end"))
        stamps = self._times(texts, "time", size, needed=not ("begin" in texts and "end" in texts))
        unit, told = UNITS[self._layout.unit], texts.get("took")
        took = _numbers(told, size, MOST_BYTES, -1, unit)
        by_begin = self._layout.stamp == "begin"
        clock = self._layout.clock
        begins, ends = [], []
        for at in range(size):
            first, last = begin[at], end[at]
            if stamps[at] and not first and not last:
                first, last = (stamps[at], 0) if by_begin else (0, stamps[at])
            if not last:
                last = first + took[at] if first and took[at] >= 0 else 0
            elif not first:
                first = last - took[at] if took[at] >= 0 else 0
            if min(first, last) - clock < EARLIEST or last > MOST_BYTES:
                raise ValueError("an operation without begin or end, or before 2001")
            begins.append(first - clock)
            ends.append(max(first, last) - clock)
        return begins, ends

    def _times(
        self, texts: Mapping[str, Sequence[str | None]], name: str, size: int, *, needed: bool = True
    ) -> list[int]:
        """Return a column of times, 0 where there is none."""
        told = texts.get(name)
        if not told or not needed:
            return [0] * size
        times = self._layout.times[name]
        if any(nothing in told for nothing in ABSENT):
            return [0 if each is None or each in NOTHING else times.column([each])[0] for each in told]
        return times.column(told)  # type: ignore[arg-type]  # none is None

    def _outcome(self, status: str | None, failed: bool) -> Outcome:
        known = self._outcomes.get((status, failed))
        if known is None:
            wrong = self._layout.failed
            bad = failed or (status is not None and wrong is not None and wrong.fullmatch(status) is not None)
            known = Outcome.FAILED if bad else Outcome.PASSED
            if len(self._outcomes) < 1000:
                self._outcomes[status, failed] = known
        return known

    def _key(self, key: str) -> str:
        if key.startswith('"'):
            key = key[1:-1].replace('""', '"')
        key = key.removeprefix(self._layout.prefix)
        return unquote(key) if "%" in key else key

    def _set(self, values: Row) -> dict[str, str]:
        known = self._sets.get(values)
        if known is None:
            named = zip(self._layout.labels, values, strict=True)
            known = {name: value for name, value in named if value is not None and value not in NOTHING}
            if len(self._sets) < 10_000:
                self._sets[values] = known
        return known


def _names(layout: Layout) -> tuple[str, ...]:
    """Return the fields that are looked at. Of two lines `time` is the begin in one, and the end in the other."""
    groups = set().union(*(pattern.groupindex for pattern in layout.patterns))
    if len(layout.patterns) == 2:
        groups = (groups | {"begin", "end"}) - {"time"}
    return tuple(dict.fromkeys(name for name in (*FIELDS, STATEMENT, *layout.labels) if name in groups))


def _getter(pattern: re.Pattern[str], names: Sequence[str], stamp: str = "") -> Callable[[re.Match[str]], Row]:
    """Return what takes fields out of a match, None for those it has not; `stamp`: what its field `time` is."""
    at = pattern.groupindex
    numbers = [at.get(name) or (at.get("time", 0) if name == stamp else 0) for name in names]
    if len(numbers) > 1 and all(numbers):
        return lambda match: match.group(*numbers)
    return lambda match: tuple(match[number] if number else None for number in numbers)


def _texts(column: Sequence[str | None] | None, size: int) -> list[str]:
    if not column:
        return [""] * size
    if None in column or "-" in column:
        return ["" if each is None or each == "-" else each for each in column]
    return list(column)  # type: ignore[arg-type]  # none is None


def _numbers(column: Sequence[str | None] | None, size: int, most: int, none: int = 0, unit: int = 1) -> list[int]:
    """Return a column of numbers, `none` where there is none. Raises ValueError for what is none, or too large."""
    if not column:
        return [none] * size
    if any(nothing in column for nothing in ABSENT):
        found = [none if each is None or each in NOTHING else number_of(each, unit) for each in column]
    else:
        found = numbers_of(column, unit)  # type: ignore[arg-type]  # none is None
    if max(found, default=0) > most:
        raise ValueError("a number is out of bounds")
    return found
