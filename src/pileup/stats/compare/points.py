"""The points of a scan compared: means over repeats, and paired differences within the same repeat.

A point is visited once per repeat, points interleaved; so a repeat is a block in which all points saw the same state of
the world, and differences are taken inside it (R. A. Fisher, The Design of Experiments, 1935: randomised blocks). The
main effect of an axis is the mean over all combinations of the other axes. For intervals and probabilities see
`stats/intervals/paired.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pileup.model.figures import Figure
from pileup.model.manifest import Manifest
from pileup.model.results import CaseResult, Comparison, Difference, Effect, OperationResult, Point, PointFigure
from pileup.stats.frames.distribution import TOO_FEW
from pileup.stats.intervals import paired

FEWEST = 5
"""What passed less often than this in every case has no rate worth comparing."""
CHANCE = 0.05
"""Adjusted probability below which a difference is believed."""
SMALLEST = 0.01
"""Relative difference between points that is not looked for: so much a machine does to what is alike."""
Block = tuple[int, int]
"""Loop and repeat."""
Cells = dict[tuple[int, Block], tuple[float, float]]
"""(point, block) -> value and the step in which such values come."""
DIGITS = 1e-3
"""Steps of rates and durations, as a share of them: histograms have three digits, and clocks and edges no more."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of an operation that points are compared by; `of` gives None where there is none.

    `step` gives the step in which the number comes: its third digit, or what one iteration more would change.
    """

    name: str
    dimension: str
    of: Callable[[OperationResult], float | None]
    step: Callable[[OperationResult], float]
    figure: Callable[[OperationResult], Figure | None] | None = None
    """Of a quantile: all that is known of it."""


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """What is compared: a metric of an operation (empty: of the iterations) of a test, or of a monitor."""

    test: str
    operation: str
    metric: str
    dimension: str


@dataclass(frozen=True, slots=True)
class Row:
    """What one point (or one value of an axis) has in each repeat, and the step of these numbers."""

    values: tuple[float | None, ...]
    step: float


def points(run: Manifest) -> tuple[Point, ...]:
    """Return the points of the scan of a run (run.json), in its order; none without a scan."""
    return tuple(Point(number, name_of(values), dict(values), run.together) for number, values in enumerate(run.points))


def name_of(values: Mapping[str, str]) -> str:
    """Return a point in words: `se.threads=4, copy.buffer=64 KiB`."""
    return ", ".join(f"{axis}={value}" for axis, value in values.items())


def comparisons(
    found: Sequence[Point], cases: Sequence[CaseResult], limited: frozenset[str] = frozenset()
) -> tuple[Comparison, ...]:
    """Return every test and operation compared in every metric over at least two points.

    `limited` names the cases of which pileup was the bottleneck: they are compared, and named.
    """
    number = {tuple(sorted(point.values.items())): point.number for point in found}
    by_test: dict[str, list[tuple[int, CaseResult]]] = {}
    for case in cases:
        place = number.get(tuple(sorted(case.point.items())))
        if place is not None and case.point:
            by_test.setdefault(case.test, []).append((place, case))
    several = ((test, group) for test, group in by_test.items() if len({place for place, _ in group}) > 1)
    return tuple(each for test, group in several for each in _of_test(test, group, found, limited))


def _of_test(
    test: str, group: Sequence[tuple[int, CaseResult]], found: Sequence[Point], limited: frozenset[str]
) -> Iterable[Comparison]:
    blocks = sorted({(case.loop, case.repeat) for _, case in group})
    notes = tuple(_notes(group, limited))
    for operation, metric in _asked(group):
        cells = _cells(group, operation, metric)
        if len({place for place, _ in cells}) > 1:
            rows = [row(cells, point.number, blocks) for point in found]
            head = ComparedMetric(test, operation, metric.name, metric.dimension)
            yield compared(head, rows, found, blocks, notes=(*notes, *_unanswered(group, operation, metric)))


def compared(
    head: ComparedMetric,
    rows: Sequence[Row],
    found: Sequence[Point],
    blocks: Sequence[Block],
    *,
    unit: str | None = None,
    notes: tuple[str, ...] = (),
) -> Comparison:
    """Return rows, one per point, compared. `unit` is given for samples alone: theirs where it is not a known one."""
    mean = paired.amount if unit is None else paired.mean  # a sample may be below nothing
    return Comparison(
        test=head.test,
        operation=head.operation,
        metric=head.metric,
        dimension=head.dimension,
        repeats=tuple(f"{repeat}~{loop}" if loop > 1 else f"{repeat}" for loop, repeat in blocks),
        points=tuple(
            PointFigure(place, mean(row.values, head.dimension, row.step), row.values) for place, row in enumerate(rows)
        ),
        differences=tuple(differences(rows, head.dimension)),
        effects=tuple(effects(found, rows, head.dimension, mean)),
        notes=notes,
        monitor=unit is not None,
        unit=unit or "",
    )


def _cells(group: Sequence[tuple[int, CaseResult]], operation: str, metric: Metric) -> Cells:
    cells: Cells = {}
    for place, case in group:
        one = _operation(case, operation)
        value = metric.of(one) if one else None
        if one and value is not None and math.isfinite(value):
            cells[place, (case.loop, case.repeat)] = value, metric.step(one)
    return cells


def _unanswered(group: Sequence[tuple[int, CaseResult]], operation: str, metric: Metric) -> Iterable[str]:
    """Yield in how many cases a quantile is above all that passed: what is compared is the others alone."""
    figures = [metric.figure(one) for _, case in group if metric.figure and (one := _operation(case, operation))]
    count = sum(each is not None and each.value is None and each.above is not None for each in figures)
    if count:
        yield f"{metric.name} had no answer in {count} of {len(group)} cases: these are slower than what is compared."


def _notes(group: Sequence[tuple[int, CaseResult]], limited: frozenset[str]) -> Iterable[str]:
    slow = sorted({case.name for _, case in group if case.name in limited})
    if slow:
        more = f" and {len(slow) - 3} more" if len(slow) > 3 else ""
        yield f"pileup was the bottleneck of {', '.join(slow[:3])}{more}: those numbers do not describe the system."
    empty = sum(case.iterations is None for _, case in group)
    if empty:
        yield f"{empty} of {len(group)} cases measured nothing."


def _asked(group: Sequence[tuple[int, CaseResult]]) -> Iterable[tuple[str, Metric]]:
    """Yield operation ("" for iterations) and metric, where any case has something to compare."""
    seen: dict[str, list[OperationResult]] = {}
    for _, case in group:
        for each in case.operations:
            seen.setdefault("" if each.iteration else each.operation, []).append(each)
    for operation, results in sorted(seen.items(), key=lambda item: bool(item[0])):
        for metric in METRICS:
            if metric.name == "rate" and max(each.counts.passed for each in results) < FEWEST:
                continue
            if metric.name == "throughput" and not any(each.bytes for each in results):
                continue
            if metric.name == "not passed" and all(each.counts.passed == each.counts.ended for each in results):
                continue
            yield operation, metric


def _operation(case: CaseResult, operation: str) -> OperationResult | None:
    wanted = (each for each in case.operations if (each.operation == operation if operation else each.iteration))
    return next(wanted, None)


def row(cells: Cells, point: int, blocks: Sequence[Block]) -> Row:
    """Return what a point has in each block."""
    found = [cells.get((point, block)) for block in blocks]
    steps = [cell[1] for cell in found if cell]
    return Row(tuple(cell[0] if cell else None for cell in found), max(steps, default=0.0))


def differences(rows: Sequence[Row], dimension: str) -> list[Difference]:
    """Return every row but the first less the first, pair by pair, with probabilities adjusted for their number."""
    first = rows[0]
    compared = [
        paired.compare(row.values, first.values, dimension, (row.step, first.step), SMALLEST) for row in rows[1:]
    ]
    adjusted = paired.holm([each.p for each in compared])
    return [
        Difference(place, each.difference, each.relative, each.p, chance, _verdict(each, chance))
        for place, (each, chance) in enumerate(zip(compared, adjusted, strict=True), 1)
    ]


def _verdict(found: paired.Paired, adjusted: float | None) -> str:
    if adjusted is None or found.difference.value is None:
        return TOO_FEW
    if adjusted >= CHANCE:
        return "no difference shown"
    return "larger" if found.difference.value > 0 else "smaller"


def effects(
    found: Sequence[Point], rows: Sequence[Row], dimension: str, mean: Callable[..., Figure]
) -> Iterable[Effect]:
    """Yield the main effects of all axes with several values; nothing where less than two axes have them.

    Axes that are varied together are one.

    A repeat counts only where it has every point: means over different combinations are not alike.
    """
    named = list(found[0].factors) if found else []
    factors = {point.number: point.factors for point in found}
    axes = {axis: list(dict.fromkeys(each[axis] for each in factors.values())) for axis in named}
    several = {axis: values for axis, values in axes.items() if len(values) > 1}
    if len(several) < 2:
        return
    for axis, values in several.items():
        mine = [[number for number, each in factors.items() if each[axis] == value] for value in values]
        levels = [_averaged(rows, numbers) for numbers in mine]
        gaps: list[Difference | None] = [None, *differences(levels, dimension)]
        for value, level, gap in zip(values, levels, gaps, strict=True):
            yield Effect(axis, value, mean(level.values, dimension, level.step), gap)


def _averaged(rows: Sequence[Row], numbers: Sequence[int]) -> Row:
    """Return the mean of some rows in each repeat that has all rows; rounding averages out like any other error."""
    columns = list(zip(*(row.values for row in rows), strict=True))
    values = [[column[number] for number in numbers] if None not in column else None for column in columns]
    step = math.sqrt(math.fsum(rows[number].step ** 2 for number in numbers)) / len(numbers)
    return Row(tuple(math.fsum(each) / len(each) if each else None for each in map(_known, values)), step)


def _known(values: Sequence[float | None] | None) -> list[float]:
    return [value for value in values or () if value is not None]


def _quantile(name: str, share: float) -> Metric:
    def figure(found: OperationResult) -> Figure | None:
        return found.quantiles.get(share)

    def of(found: OperationResult) -> float | None:
        known = figure(found)
        return known.value if known else None

    return Metric(name, "time", of, _digits(of), figure)


def _not_passed(found: OperationResult) -> float | None:
    """Share of what was due that did not pass; what was missed was due."""
    due = found.counts.ended + found.counts.missed
    return (due - found.counts.passed) / due if due else None


def _digits(of: Callable[[OperationResult], float | None]) -> Callable[[OperationResult], float]:
    return lambda found: (of(found) or 0.0) * DIGITS


def _quantity(name: str, dimension: str, of: Callable[[OperationResult], float | None]) -> Metric:
    return Metric(name, dimension, of, _digits(of))


METRICS = (
    _quantity("rate", "rate", lambda found: found.rate.value),
    _quantity("throughput", "bandwidth", lambda found: found.throughput.value),
    _quantity("mean", "time", lambda found: found.response.mean if found.response else None),
    _quantile("p50", 0.5),
    _quantile("p90", 0.9),
    _quantile("p99", 0.99),
    Metric("not passed", "fraction", _not_passed, lambda found: 1 / max(1, found.counts.ended + found.counts.missed)),
)
