"""The table of cases and what the page says about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from pileup.builtin.reports.html import text
from pileup.builtin.reports.html.text import ShownFigure
from pileup.plugin.results import (
    OF_DUE,
    CaseResult,
    Distribution,
    Figure,
    LabelFigure,
    OperationResult,
    RunResults,
    apart_words,
)
from pileup.plugin.units import counted as number_of
from pileup.plugin.units import format_size, format_time

MOST = 200
"""Cases in the table, and in the details: of more, those that did not pass come first. All are in a list."""
OUTPUT = 48_000
"""Characters of one output on the page."""
OUTPUTS = 1_000_000
"""Characters of all outputs on the page."""
FEWEST = 5
LARGE = 0.01
"""Share that did not pass from which on the figures of what passed are shown apart."""
TABLE = (0.5, 0.9, 0.99)
"""Quantiles in the table of cases."""
WORDS = (*OF_DUE[:2], "cancelled", *OF_DUE[2:])
SHARES = {0.5: "p50", 0.9: "p90", 0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of cases, or of the operations of one case."""

    case: CaseResult
    anchor: str
    name: str
    counts: dict[str, int]
    rate: ShownFigure
    throughput: ShownFigure
    quantiles: list[ShownFigure]
    took: str
    passed: list[ShownFigure]
    """The quantiles of what passed alone, where that is not nearly all."""
    detached: bool = False
    """Whether these outlive the iterations of the case, which are in the row above."""


@dataclass(frozen=True, slots=True)
class Times:
    """Response or service times of one operation in a row of figures."""

    operation: str
    kind: str
    n: int
    smallest: str
    mean: ShownFigure
    deviation: str
    quantiles: list[ShownFigure]
    largest: str


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One value of a label in a table by label."""

    value: str
    passed: int
    not_passed: int
    rate: ShownFigure
    mean: ShownFigure
    deviation: str
    quantiles: list[ShownFigure]
    apart: str


@dataclass(frozen=True, slots=True)
class LabelTable:
    """An operation by the values of a label."""

    operation: str
    label: str
    rows: list[LabelRow]
    more: int


@dataclass(frozen=True, slots=True)
class Output:
    """What a case wrote."""

    path: str
    text: str
    lines: int


@dataclass(frozen=True, slots=True)
class Detail:
    """All about one case below its heading."""

    row: Row
    facts: list[tuple[str, str]]
    operations: list[Row]
    times: list[Times]
    outputs: list[Output]
    labels: list[LabelTable]


def rows(results: RunResults) -> list[Row]:
    """Return the lines of the table of cases: the iterations of each, and what outlived them."""
    found = []
    for case in shown(results):
        found.append(_row(case, case.iterations, case.name))
        found += [_row(case, each, each.operation) for each in case.operations if each.detached]
    return found


def shown(results: RunResults) -> list[CaseResult]:
    """Return the cases that the page shows one by one, in their order."""
    wanted = sorted(results.cases, key=lambda case: case.outcome == "passed")[:MOST]
    numbers = {case.id for case in wanted}
    return [case for case in results.cases if case.id in numbers]


def counted(results: RunResults) -> tuple[list[str], list[str]]:
    """Return the outcomes worth a column, and those that are zero in every case and need none."""
    found = [_counts(each) for case in results.cases for each in case.operations]
    seen = {word for counts in found for word in WORDS if counts[word]}
    columns = [word for word in WORDS if word in seen | {"passed", "failed", "missed"}]
    return columns, [word for word in WORDS if word not in (*columns, "cancelled")]


def _counts(found: OperationResult) -> dict[str, int]:
    """Return what became of an operation; jobs that were cancelled are apart from those that failed."""
    told = asdict(found.counts)
    return told | {"failed": told["failed"] - found.cancelled, "cancelled": found.cancelled}


def details(results: RunResults, outputs: Mapping[str, str], begin: int) -> list[Detail]:
    """Return what the page says about each case. `outputs` maps paths in the run folder to texts."""
    told = shown(results)
    paths = [path for case in told for path in _written(case) if outputs.get(path)]
    limit = min(OUTPUT, OUTPUTS // max(1, len(paths)))
    return [_detail(case, outputs, begin, limit) for case in told]


def _written(case: CaseResult) -> tuple[str, ...]:
    """Return the paths of all that was written of a case."""
    return case.stdout, case.stderr, case.tracebacks


def _detail(case: CaseResult, outputs: Mapping[str, str], begin: int, limit: int) -> Detail:
    operations = [_row(case, each, each.operation) for each in case.operations]
    times = [line for each in case.operations for line in _all_times(each)]
    written = [
        Output(path, text.cut(outputs[path], limit, path), outputs[path].count("\n") or 1)
        for path in _written(case)
        if outputs.get(path)
    ]
    head = _row(case, case.iterations, case.name)
    return Detail(head, _facts(case, begin), operations if len(operations) > 1 else [], times, written, _by_label(case))


def _by_label(case: CaseResult) -> list[LabelTable]:
    return [
        LabelTable(each.operation, by.label, [_label_row(value) for value in by.values], by.more)
        for each in case.operations
        for by in each.breakdowns
    ]


def _label_row(value: LabelFigure) -> LabelRow:
    counts, deviation = value.counts, value.deviation
    return LabelRow(
        value.value,
        counts.passed,
        counts.ended - counts.passed,
        text.show(value.rate),
        text.show(value.mean),
        format_time(deviation) if deviation is not None else text.ABSENT,
        _quantiles(value.quantiles, TABLE),
        apart_words(value.apart) if value.apart is not None else "",
    )


def _row(case: CaseResult, found: OperationResult | None, name: str) -> Row:
    return Row(
        case=case,
        anchor=f"case-{case.id}",
        name=name,
        counts=_counts(found) if found else {},
        rate=text.show(found.rate) if found and _many(found) else ShownFigure(text.ABSENT),
        throughput=_throughput(found),
        quantiles=_quantiles(found.quantiles if found else {}, TABLE),
        passed=_of_passed(found),
        took=_took(case),
        detached=bool(found and found.detached),
    )


def _many(found: OperationResult) -> bool:
    """Whether there is a rate to speak of: one iteration in 5 ms is no 200 a second."""
    return max(found.counts.passed, found.rate.n) >= FEWEST


def _throughput(found: OperationResult | None) -> ShownFigure:
    if found is None or not found.bytes:
        return ShownFigure(text.ABSENT)
    shown = text.show(found.throughput)
    return shown if _many(found) else ShownFigure(shown.value, note=shown.note)


def _took(case: CaseResult) -> str:
    return format_time(case.ended - case.started) if case.started and case.ended else text.ABSENT


def _quantiles(found: Mapping[float, Figure], shares: tuple[float, ...]) -> list[ShownFigure]:
    return [text.show(found.get(share)) for share in shares]


def _of_passed(found: OperationResult | None) -> list[ShownFigure]:
    if found is None or found.response is None or not _some_missing(found):
        return []
    return _quantiles(found.response.quantiles, TABLE)


def _some_missing(found: OperationResult) -> bool:
    return (found.not_passed.value or 0.0) > LARGE


def _all_times(found: OperationResult) -> Iterator[Times]:
    """Yield the rows of an operation: over all that was due, and of what passed alone where that is not nearly all."""
    for kind, passed, whole in (
        ("response", found.response, found.quantiles),
        ("service", found.service, found.service_quantiles),
    ):
        n = next(iter(whole.values())).n if whole else 0
        if n < FEWEST:
            continue
        if passed is not None and not _some_missing(found):
            yield _times(found.operation, kind, passed, whole)
            continue
        absent = text.ABSENT
        shown = _quantiles(whole, tuple(SHARES))
        yield Times(found.operation, kind, n, absent, ShownFigure(absent), absent, shown, absent)
        if passed is not None:
            yield _times(found.operation, f"{kind} of what passed", passed, passed.quantiles)


def _times(operation: str, kind: str, found: Distribution, quantiles: Mapping[float, Figure]) -> Times:
    mean = text.show(Figure(found.mean, "time", found.mean_interval, found.n))
    ends = [format_time(value) for value in (found.smallest, found.largest)]
    deviation = format_time(found.deviation)
    return Times(operation, kind, found.n, ends[0], mean, deviation, _quantiles(quantiles, tuple(SHARES)), ends[1])


def _artefacts(case: CaseResult) -> str:
    if not case.artefacts:
        return ""
    folder = case.artefacts[0].rpartition("/")[0].rpartition("/")[0]
    return f"{number_of(len(case.artefacts), 'file')} in {folder}"


def _facts(case: CaseResult, begin: int) -> list[tuple[str, str]]:
    iterations = case.iterations
    moved = format_size(iterations.bytes) if iterations and iterations.bytes else ""
    facts = [
        ("Test", case.use),
        ("Targets" if case.targets else "Target", case.aim),
        ("Load", case.load),
        ("Began", text.offset(case.started, begin)),
        ("Took", _took(case)),
        ("Point", ", ".join(f"{axis}={value}" for axis, value in case.point.items())),
        ("Repeat", str(case.repeat) if case.point else ""),
        ("Measured", format_time(iterations.seconds * 1e9) if iterations else ""),
        ("Moved", moved),
        ("Artefacts", _artefacts(case)),
    ]
    return [(name, value) for name, value in facts if value and value != text.ABSENT]
