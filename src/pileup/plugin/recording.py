"""Operations that a monitor records, collected in columns and passed on in batches: no list of them is kept."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pileup.model.record import OTHER_LABELS, Labels, Outcome
from pileup.model.timed import KINDS, NUMBERS, OperationBatch

BATCH = 65_536
"""Most operations in a batch."""
MOST_LABELS = 1000
"""Most different sets of labels of one monitor; further ones are counted as others."""
MOST_NAMES = 4096
"""Most different names of operations."""
OTHER_NAMES = "(other names)"
EARLIEST = 10**18
"""Times before this one, ns since the epoch (2001), are probably seconds, and refused."""
LONGEST = 100
"""Characters of a label's value."""
SEPARATES = str.maketrans(dict.fromkeys(",=]", "_") | {chr(code): "_" for code in (*range(32), 127)})
Each = Sequence[int] | int
"""A number for each operation, or one for all: numpy's arrays of int64, array('q'), lists."""


class Recording:
    """What one monitor records. `take` gets batches; `tell` gets, once, that there are too many labels or names."""

    def __init__(self, take: Callable[[OperationBatch], None], tell: Callable[[str], None]) -> None:
        self._take = take
        self._tell = tell
        self._names: set[str] = set()
        self._labels: dict[tuple[tuple[str, str | int | float], ...], str] = {}
        self._sets: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self._columns = {name: array(kind) for name, kind in KINDS.items()}
        self._texts: dict[str, int] = {"": 0}

    def add(self, name: str, key: str, error: str, labels: Labels | None, numbers: tuple[int, ...]) -> None:
        """Take one; `numbers` in the order of NUMBERS."""
        if numbers[0] < EARLIEST or numbers[1] < EARLIEST:
            raise ValueError(_no_time(min(numbers[:2])))
        columns, texts = self._columns, self._texts
        labelled = self.labels(labels) if labels else ""
        for column, text in (("operation", self.name(name)), ("key", key), ("error", error), ("labels", labelled)):
            columns[column].append(texts.setdefault(text, len(texts)))
        for column, number in zip(NUMBERS, numbers, strict=True):
            columns[column].append(number)
        if len(columns["start"]) >= BATCH:
            self.flush()

    def add_many(
        self,
        names: Sequence[str] | str,
        keys: Sequence[str] | str,
        errors: Sequence[str] | str,
        labels: Sequence[Labels] | Labels | None,
        numbers: Mapping[str, Each],
    ) -> None:
        """Take many: of each a value for every operation, or one for all."""
        size = len(numbers["start"]) if not isinstance(numbers["start"], int) else 1
        found = {name: _column(name, numbers[name], size) for name in NUMBERS}
        earliest = min((min(found[name], default=EARLIEST) for name in ("start", "end")), default=EARLIEST)
        if earliest < EARLIEST:
            raise ValueError(_no_time(earliest))
        several = labels if isinstance(labels, Sequence) else [labels] if labels else None
        told: Sequence[str] | str = "" if several is None else [self.labels(each) for each in several]
        told = told[0] if isinstance(labels, Mapping) and told else told
        known = self.name(names) if isinstance(names, str) else [self.name(name) for name in names]
        for column, texts in (("operation", known), ("key", keys), ("error", errors), ("labels", told)):
            found[column] = self._numbered(column, texts, size)
        for column, values in found.items():
            self._columns[column].extend(values)
        if len(self._columns["start"]) >= BATCH:
            self.flush()

    def note(self, text: str) -> None:
        """Have an event of the run say something."""
        self._tell(text)

    def flush(self) -> None:
        """Pass on what was collected."""
        if self._columns["start"]:
            columns, texts = self._columns, tuple(self._texts)[1:]
            self._begin()
            self._take(OperationBatch(columns, texts))

    def name(self, name: str) -> str:
        """Return the name under which an operation is counted. Raises ValueError for an empty one."""
        if name in self._names:
            return name
        if not name:
            raise ValueError('an operation has an empty name; expected a word (like "GET")')
        if len(self._names) >= MOST_NAMES:
            self._tell(f"more than {MOST_NAMES} names of operations: the others are counted as {OTHER_NAMES!r}")
            return OTHER_NAMES
        self._names.add(name)
        return name

    def labels(self, labels: Labels) -> str:
        """Return a set of labels as text. Raises ValueError for a name that no check could select."""
        key = tuple(labels.items())
        known = self._labels.get(key)
        if known is not None:
            return known
        text = text_of(labels)
        if text and text not in self._sets and len(self._sets) >= MOST_LABELS:
            told = f"more than {MOST_LABELS} sets of labels: the others are counted together under {OTHER_LABELS!r}"
            self._tell(f"{told}; leave out labels that differ in nearly every operation")
            return OTHER_LABELS
        self._sets.add(text)
        if len(self._labels) < 10 * MOST_LABELS:
            self._labels[key] = text
        return text

    def _numbered(self, column: str, texts: Sequence[str] | str, size: int) -> array[int]:
        number = self._texts.setdefault
        known = self._texts
        if isinstance(texts, str):
            return array(KINDS[column], [number(texts, len(known))]) * size
        found = array(KINDS[column], [number(text, len(known)) for text in texts])
        if len(found) != size:
            raise ValueError(
                f"{len(found)} values of {column} for {size} operations; expected one each, or one for all"
            )
        return found


def text_of(labels: Labels) -> str:
    """Return labels as `name=value,...` sorted by name, without those that are empty. Raises ValueError, TypeError."""
    if not isinstance(labels, Mapping):
        raise TypeError(f'labels are {labels!r:.100}; expected a mapping of names to values ({{"server": "a"}})')
    for name in labels:
        if not name.replace("-", "_").isidentifier() or not name.isascii():
            wanted = "letters, digits, _ and -, a letter first"
            raise ValueError(f"label {name!r} is not a name; expected {wanted} (checks select by it: read[server=a])")
    plain = {name: str(value).strip()[:LONGEST].translate(SEPARATES) for name, value in labels.items()}
    return ",".join(f"{name}={value}" for name, value in sorted(plain.items()) if value)


def _column(name: str, values: Any, size: int) -> array[int]:
    kind = KINDS[name]
    if isinstance(values, (int, Outcome)):
        return array(kind, [values]) * size
    if isinstance(values, Iterable) and hasattr(values, "tobytes") and _same(values, kind):
        found = array(kind)
        found.frombytes(values.tobytes())
    else:
        found = array(kind, values)
    if len(found) != size:
        raise ValueError(f"{len(found)} values of {name} for {size} operations; expected one each, or one for all")
    return found


def _same(values: Any, kind: str) -> bool:
    """Whether an array holds its numbers as a column does."""
    type_ = getattr(values, "dtype", None)
    if type_ is None:
        return getattr(values, "typecode", "") == kind
    return str(type_) == {"q": "int64", "Q": "uint64", "I": "uint32", "B": "uint8"}[kind]


def _no_time(time: int) -> str:
    return f"a time is {time}; expected nanoseconds since the epoch (seconds times 1_000_000_000)"
