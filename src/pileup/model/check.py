"""Checks: `FUNCTION(SELECTOR) COMPARISON VALUE [UNIT]`, read by hand, never evaluated as code.

A selector is `test[.operation][.field][label=value,...]`, `monitor.metric[label=value,...]`, or, for monitors that
record operations of a server, `monitor.operation[.field][label=value,...]`; values may be in double quotes. `parse`
needs the text alone; `resolve` knows the names of the suite and says which of the two it is, and whether the value
has the dimension of the figure.

Fields of a test: `response` (from the intended start) and `service` (from the start) are times: quantiles are over all
iterations that were due (begun, for `service`), of which those that did not pass count as slower than any;
`passed_response` and `passed_service` are of passed ones only. `bytes` and `calls` are bytes transferred and calls
made; the outcomes count iterations or operations. `rate(copy)` and `count(copy)` count what passed;
`fraction(copy.failed)` is the share of all that ended (of `missed`: of all that was due). `width` is the largest value
less the smallest, `slope` how fast samples grow: by time, so that of bytes it is a bandwidth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pileup.model import units
from pileup.model.nearest import nearest
from pileup.model.record import OF_DUE

COUNTING = ("count", "rate", "fraction", "sum")
VALUES = ("mean", "min", "max", "first", "last", "width", "slope")
FUNCTIONS = (*COUNTING, *VALUES)
COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
TIMES = ("response", "service", "passed_response", "passed_service")
AMOUNTS = ("bytes", "calls")
FIELDS = (*TIMES, *AMOUNTS, *OF_DUE)
BARE = ""
"""Dimension of a number without a unit: it may be a count, a fraction, a rate, or a value of a monitor."""

_LONGEST = 500
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_LABEL_VALUE = re.compile(r"[^,\]=]+")
_QUANTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,4})?)")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass(frozen=True, slots=True)
class Check:
    """A check as read, before its names are looked up."""

    text: str
    function: str
    """One of FUNCTIONS, or "quantile"."""
    quantile: float | None
    """Between 0 and 1 when the function is a quantile."""
    path: tuple[str, ...]
    """The names of the selector, split at the dots."""
    labels: tuple[tuple[str, str], ...]
    comparison: str
    value: float
    """In the base unit of `dimension`."""
    dimension: str
    """A key of units.DIMENSIONS, or BARE."""
    unit: str
    """As written."""

    @property
    def test(self) -> str:
        """The first name: a test or a monitor."""
        return self.path[0]

    @property
    def figure(self) -> str:
        """The left side as written: `p99(copy.read)`."""
        return self.text.rpartition(")")[0].strip() + ")"

    @property
    def threshold(self) -> str:
        """The right side in words: `< 0.1 %`."""
        if self.dimension == BARE:
            return f"{self.comparison} {units.format_count(self.value)}"
        return f"{self.comparison} {units.format_quantity(self.value, self.dimension)}"

    def holds(self, value: float) -> bool:
        """Return whether the figure, in the base unit, fulfils the check."""
        match self.comparison:
            case "<":
                return value < self.value
            case "<=":
                return value <= self.value
            case ">":
                return value > self.value
            case ">=":
                return value >= self.value
            case "==":
                return value == self.value
        return value != self.value


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A check that cannot be read, and why."""

    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class Selected:
    """What a selector names: a test with operation and field, or a monitor with metric and labels."""

    kind: str
    """"test", "monitor", or "served": operations that a monitor recorded."""
    name: str
    operation: str | None = None
    """None: the iterations."""
    field: str = "response"
    metric: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    dimension: str | None = None
    """Dimension of the figure; None for monitors, whose samples bring their unit."""


def parse(text: str) -> Check:
    """Read a check. Raises ValueError with the column, what was found and what was expected."""
    return _Reader(text).check()


def resolve(
    check: Check, tests: Collection[str], monitors: Collection[str], recording: Collection[str] | None = None
) -> Selected:
    """Look the names of a check up. `recording` are the monitors that record operations; with None what is judged is a
    whole test: labels that select a part of it are refused.

    A figure that may be of samples or of operations is taken for one of samples: `as_served` gives the other.

    Raises ValueError when no test or monitor is meant, when the function does not suit the field, or when the value has
    not the dimension of the figure.
    """
    if check.path[0] in tests:
        return _of_test(check, labelled=recording is not None)
    monitor = _monitor_of(check.path, monitors)
    if monitor is None:
        raise ValueError(
            f"there is no test or monitor {check.path[0]!r}; expected {_near(check.path[0], [*tests, *monitors])}"
        )
    metric = ".".join(check.path)[len(monitor) + 1 :]
    if not metric:
        raise ValueError(f"{monitor!r} is a monitor and no metric is named; expected {monitor}.METRIC")
    of_operation = "." in metric and check.path[-1] in FIELDS  # a word alone names a metric or an operation
    if monitor in (recording or ()) and (check.function in ("rate", "fraction") or of_operation):
        return as_served(check, monitor)
    if check.function in ("rate", "fraction"):
        raise ValueError(f"{check.function} of a monitor's metric; expected {_list((*VALUES, 'count', 'sum', 'p50'))}")
    if check.function == "count" and check.dimension not in (BARE, "count"):
        raise ValueError(mismatch(check, "count"))
    return Selected("monitor", monitor, metric=metric, labels=check.labels)


def _monitor_of(path: Sequence[str], monitors: Collection[str]) -> str | None:
    """Return the longest monitor's name that the path begins with: names of plug-ins may hold dots."""
    return next((name for end in range(len(path), 0, -1) if (name := ".".join(path[:end])) in monitors), None)


def as_served(check: Check, monitor: str) -> Selected:
    """Return what a check selects of what a monitor recorded. Raises ValueError where it cannot be that."""
    rest = ".".join(check.path)[len(monitor) + 1 :].split(".")
    field = rest.pop() if len(rest) > 1 and rest[-1] in FIELDS else "response"
    if field == "missed":
        raise ValueError(
            f"operations cannot be missed, only iterations can; expected a field like {monitor}.GET.failed"
        )
    dimension = _dimension(check, field)
    if not _fits(check.dimension, dimension, check.value):
        raise ValueError(mismatch(check, dimension))
    return Selected("served", monitor, ".".join(rest), field, ".".join(rest), check.labels, dimension)


def _of_test(check: Check, *, labelled: bool) -> Selected:
    name, *rest = check.path
    of_number = bool(check.labels) and not labelled
    if of_number and (len(rest) != 1 or rest[0] in FIELDS):
        raise ValueError(
            f"{name!r} is a test, whose labels select in criteria alone; expected {name}[.OPERATION][.FIELD]"
        )
    if of_number or _is_reported(check, rest):
        return Selected("monitor", name, metric=rest[0], labels=check.labels)
    field = rest.pop() if rest and rest[-1] in FIELDS else None
    operation = ".".join(rest) or None
    field = field or "response"
    if field == "missed" and operation is not None:
        raise ValueError(f"operations cannot be missed, only iterations can; expected {name}.missed")
    dimension = _dimension(check, field)
    if not _fits(check.dimension, dimension, check.value):
        raise ValueError(mismatch(check, dimension))
    return Selected("test", name, operation, field, labels=check.labels, dimension=dimension)


def _is_reported(check: Check, rest: Sequence[str]) -> bool:
    """Whether `test.word` means a number that the test reported: operations have times, and no first or last one."""
    if len(rest) != 1 or rest[0] in FIELDS or check.function not in ("sum", *VALUES, "quantile"):
        return False
    return check.function in ("first", "last", "slope") or not _fits(check.dimension, "time", check.value)


def _dimension(check: Check, field: str) -> str:
    """Return the dimension of a figure by its function and field. Raises ValueError when they do not go together."""
    if check.function == "slope":
        raise ValueError(f"slope of {field}; expected slope of a monitor's metric, or of a number that a test reports")
    if check.function == "fraction":
        if field not in OF_DUE:
            raise ValueError(f"fraction of {field}; expected fraction of {_list(OF_DUE)}")
        return "fraction"
    if check.function == "rate":
        return "bandwidth" if field == "bytes" else "rate"
    if check.function == "count":
        return "count"
    if field in OF_DUE and check.function != "sum":
        raise ValueError(f"{_written(check)} of {field}; expected {_list(COUNTING)} for a number of {field}")
    if field in TIMES:
        return "time"
    return "size" if field == "bytes" else "count"


def _fits(found: str, wanted: str, value: float) -> bool:
    return found == wanted or (found == BARE and (units.DIMENSIONS[wanted].bare or value == 0))


def mismatch(check: Check, wanted: str) -> str:
    """Return that the value of a check has not the dimension of its figure."""
    found = check.dimension or "number without a unit"
    example = units.DIMENSIONS[wanted].example
    return (
        f"{check.figure} is a {wanted}, the value {_value(check)!r} is a {found}; expected a {wanted} like {example!r}"
    )


def _value(check: Check) -> str:
    return check.text.rpartition(")")[2].strip().lstrip("<>=!").strip()


def _written(check: Check) -> str:
    return check.text.partition("(")[0].strip()


def _plain(value: str) -> str:
    """Return the value of a label without the quotes around it."""
    return value[1:-1].strip() if len(value) > 2 and value[0] == value[-1] == '"' else value


class _Reader:
    """Reads one check from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ValueError(f"column 1: {len(text)} characters; expected a check of at most {_LONGEST}")
        self._text = text
        self._at = 0

    def check(self) -> Check:
        function, quantile = self._function()
        self._symbol("(", "after the function")
        path, labels = self._selector()
        self._symbol(")", "after the selector")
        comparison = self._comparison()
        value, dimension, unit = self._quantity()
        return Check(self._text, function, quantile, path, labels, comparison, value, dimension, unit)

    def _function(self) -> tuple[str, float | None]:
        self._skip()
        start = self._at
        word = self._take(_FUNCTION)
        if word in FUNCTIONS:
            return word, None
        match = _QUANTILE.fullmatch(word)
        share = float(match.group(1)) if match else 0.0
        if 0 < share < 100:
            return "quantile", float(Decimal(match.group(1)) / 100) if match else None
        names = (*FUNCTIONS, "p50", "p90", "p99", "p99.9")
        raise self._wrong(start, f"{word!r} is not a function" if word else self._found(), _near(word, names))

    def _selector(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        names = [self._name(_NAME, "the name of a test or monitor")]
        while self._peek() == ".":
            self._at += 1
            names.append(self._name(_SEGMENT, "an operation, a field or a metric after the dot"))
        return tuple(names), self._labels() if self._peek() == "[" else ()

    def _labels(self) -> tuple[tuple[str, str], ...]:
        self._symbol("[", "before labels")
        found: dict[str, str] = {}
        while True:
            start = self._at
            name = self._name(_NAME, "the name of a label")
            if name in found:
                raise self._wrong(start, f"label {name!r} is given twice", "each label once")
            self._symbol("=", "after the name of a label")
            found[name] = _plain(self._name(_LABEL_VALUE, "the value of a label").strip())
            if self._peek() != ",":
                break
            self._at += 1
        self._symbol("]", "after the labels")
        return tuple(sorted(found.items()))

    def _comparison(self) -> str:
        self._skip()
        for symbol in COMPARISONS:
            if self._text.startswith(symbol, self._at):
                self._at += len(symbol)
                return symbol
        raise self._wrong(self._at, self._found(), "a comparison, one of " + " ".join(COMPARISONS))

    def _quantity(self) -> tuple[float, str, str]:
        self._skip()
        start = self._at
        try:
            number, unit = units.split_quantity(self._text[start:])
        except ValueError:
            found = repr(self._text[start:][:40]) if self._text[start:] else "the end"
            raise self._wrong(
                start, f"{found} is not a value", "a number with a unit, like 200 MB/s or 0.1 %"
            ) from None
        dimension = units.dimension_of(unit) if unit else BARE
        if dimension is None:
            raise self._wrong(start, f"unknown unit {unit!r}", _near(unit, _units()))
        value = float(number * units.DIMENSIONS[dimension].units[unit]) if unit else float(number)
        if not math.isfinite(value):
            raise self._wrong(start, f"{self._text[start:]!r} is too large", "a value below 1e308")
        return value, dimension, unit

    def _name(self, pattern: re.Pattern[str], wanted: str) -> str:
        self._skip()
        word = self._take(pattern)
        if not word.strip():
            raise self._wrong(self._at, self._found(), wanted)
        return word

    def _symbol(self, symbol: str, where: str) -> None:
        self._skip()
        if self._peek() != symbol:
            raise self._wrong(self._at, self._found(), f"{symbol!r} {where}")
        self._at += 1

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match.group() if match else ""

    def _skip(self) -> None:
        while self._peek().isspace():
            self._at += 1

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _found(self) -> str:
        return f"found {self._peek()!r}" if self._peek() else "the check ends too early"

    @staticmethod
    def _wrong(at: int, what: str, expected: str) -> ValueError:
        return ValueError(f"column {at + 1}: {what}; expected {expected}")


def _units() -> list[str]:
    return sorted({unit for kind in units.DIMENSIONS.values() for unit in kind.units if unit})


def _near(word: str, known: Iterable[str]) -> str:
    names = list(known)
    close = nearest(word, names)
    if close:
        return "one of " + ", ".join(close) if len(close) > 1 else close[0]
    return _list(names) if names else "a name of the suite"


def _list(names: Sequence[str]) -> str:
    return "one of " + ", ".join(names[:30])
