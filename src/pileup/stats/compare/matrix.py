"""Places against targets: what each cell took, which of them are slow by themselves, and which targets are slow.

What a cell is expected to take follows from all others. Where the distances are known (`path`) it is `k x RTT + c`,
with one k, the round trips of the operation, and a c for each target; else a time for each place and a time for each
target, added. Both are linear models; `stats/intervals/outlying.py` has the test, and its sources. A cell is slow where
its median is a fifth above that, beyond chance: 5 % for the whole matrix. A target is slow where its c is a fifth above
the mean of its peers, by Student's law for a contrast of the fit and Bonferroni's inequality over the targets.

Outliers are what lies above the outer fence of its cell (J. W. Tukey, Exploratory Data Analysis, 1977, 2D), which moves
with the distance, and above three times its median: where a constant distance is most of the time, the quartiles are
close to each other, and whatever delays the machine a little would be beyond the fence.

Repeats of which pileup itself was the bottleneck (`stats/generator/bottleneck.py`) do not describe a place or a target.
They are left out, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pileup.model import student
from pileup.model.factors import Factor, factors_of
from pileup.model.figures import Figure, Interval
from pileup.model.matrix import Matrix, MatrixCell, MatrixModel, ServerLine
from pileup.model.results import Point
from pileup.stats.cases import CaseData
from pileup.stats.frames.distribution import TOO_FEW, DueDurations, bins, deviation, pooled, quantile
from pileup.stats.intervals import outlying
from pileup.stats.intervals.confidence import LEVEL
from pileup.stats.intervals.correlated import NO_INFLATION, Inflation
from pileup.stats.intervals.outlying import CHANCE, Fit, Floats

PLACE, PLACES, TARGET, COMMON = "place", "places", "target", "options"
"""Words in the names of axes; `place` is that of runs merged from several places, or a variable."""
SLOWER = 0.2
"""How much slower than expected is not worth a word, as a share of that."""
FENCE = 3.0
"""Distances of the quartiles from the third to the outer fence."""
SEVERAL = 3.0
"""How many medians an outlier takes, at least."""
DIGITS = 1e-3
"""Step of values out of histograms, as a share of them."""
SET_ASIDE = 4
"""One cell of so many may be slow by itself, at most."""


@dataclass(frozen=True, slots=True)
class CellTimes:
    """What was measured in a cell: its iterations, and the median of each repeat (ns)."""

    due: DueDurations
    medians: tuple[float, ...]
    known: Inflation = NO_INFLATION


def matrices(
    points: Sequence[Point], data: Sequence[CaseData], limited: frozenset[str] = frozenset()
) -> tuple[Matrix, ...]:
    """Return a matrix for each test that a scan over places and targets, and nothing else, has varied.

    Checks beside loads have none. `limited` names the cases of which pileup was the bottleneck.
    """
    factors = factors_of(points)
    if len(factors) != 2:
        return ()
    number = {tuple(sorted(point.values.items())): point for point in points}
    by_test: dict[str, dict[int, list[CaseData]]] = {}
    for each in data:
        point = number.get(tuple(sorted(each.point.items())))
        if point is not None and each.point and each.measured.iterations():
            by_test.setdefault(each.entry.test, {}).setdefault(point.number, []).append(each)
    loads = [(test, one) for test, cells in by_test.items() for each in cells.values() for one in each]
    pressed = {test for test, one in loads if not one.is_check}
    chosen = {test: cells for test, cells in by_test.items() if test in pressed or not pressed}
    found = (_of_test(test, factors, points, cells, limited) for test, cells in chosen.items())
    return tuple(matrix for matrix in found if matrix is not None)


def _of_test(
    test: str,
    factors: Sequence[Factor],
    points: Sequence[Point],
    data: Mapping[int, Sequence[CaseData]],
    limited: frozenset[str],
) -> Matrix | None:
    place = next((each for each in factors if {PLACE, PLACES, f"{test}.{PLACES}"} & set(each.axes)), None)
    target = next((each for each in factors if {f"{COMMON}.{TARGET}", f"{test}.{TARGET}"} & set(each.axes)), None)
    if place is None or target is None or place is target:
        return None
    cells, times = [], []
    for point in points:
        if cases := data.get(point.number):
            entry = cases[0].entry
            found, left_out = _times(cases, limited)
            made = cell(point.number, place.of(point), target.of(point), entry.latency.get(entry.target), found)
            cells.append(replace(made, left_out=left_out, judged=left_out < len(cases)))
            times.append(found)
    return matrix(test, cells, times)


def _times(cases: Sequence[CaseData], limited: frozenset[str]) -> tuple[CellTimes, int]:
    """Return what was measured in a cell, and how many of its repeats are left out."""
    good = [each for each in cases if each.entry.name not in limited]
    shown = good or cases
    times = CellTimes(pooled([_due(each) for each in shown]), tuple(_medians(good)), _known(shown))
    return times, len(cases) - len(good)


def _due(data: CaseData) -> DueDurations:
    return data.measured.due(data.entry.timeout)


def _medians(cases: Sequence[CaseData]) -> Iterator[float]:
    for each in cases:
        median = _due(each).value(0.5)
        if median is not None:
            yield median


def _known(cases: Sequence[CaseData]) -> Inflation:
    """Return how many values that depend on each other count as one, in the case where that is most."""
    found = [known.factor(0.5) for each in cases for (_, iteration), known in each.dependence.items() if iteration] or [
        NO_INFLATION
    ]
    return Inflation(max(each.factor for each in found), max(each.careful for each in found))


def cell(point: int, place: str, target: str, round_trip: int | None, times: CellTimes) -> MatrixCell:
    """Return the figures of a cell, not yet compared with others."""
    due, passed = times.due, times.due.passed
    n = passed.count
    quartiles = None
    outliers = due.timed_out
    if n:
        low, high = (float(min(passed.quantile(share), passed.max)) for share in (0.25, 0.75))
        quartiles = (low, high)
        outliers += _above(due, _fence(due))
    return MatrixCell(
        point=point,
        place=place,
        target=target,
        round_trip=round_trip,
        passed=n,
        not_passed=1 - due.share,
        mean=passed.mean if n else None,
        deviation=deviation(passed) if n else None,
        median=quantile(due, 0.5, times.known),
        quartiles=quartiles,
        largest=passed.max if n else None,
        outliers=outliers,
    )


def matrix(test: str, cells: Sequence[MatrixCell], times: Sequence[CellTimes]) -> Matrix | None:
    """Return cells compared with each other; `times` are what was measured in each. None without two targets."""
    places = tuple(dict.fromkeys(each.place for each in cells))
    targets = tuple(dict.fromkeys(each.target for each in cells))
    if len(places) < 2 or len(targets) < 2:
        return None
    cells = _scattered(cells, times)
    model = MatrixModel.DISTANCE if _differ(cells) else MatrixModel.PLACES
    measured = [number for number, each in enumerate(times) if each.medians]
    design = _design(model, cells, places, targets)
    slow = _slow(design, times, measured)
    clean = [number for number in measured if number not in slow]
    values = np.array([np.mean(each.medians) if each.medians else 0.0 for each in times])
    found = outlying.fit(design[clean], values[clean]) if clean else None
    if found is None or found.freedom < 1:
        return Matrix(test, places, targets, tuple(cells), (), None)
    expected = design @ found.coefficients
    judged = [
        replace(each, expected=float(expected[number]), slow=number in slow, chance=slow.get(number))
        for number, each in enumerate(cells)
    ]
    servers = _servers(model, judged, times, design, found)
    return Matrix(test, places, targets, tuple(judged), tuple(servers), model)


def _differ(cells: Sequence[MatrixCell]) -> bool:
    """Whether all distances are known, and not all alike."""
    found = {each.round_trip for each in cells}
    return None not in found and len(found) > 1


def _scattered(cells: Sequence[MatrixCell], times: Sequence[CellTimes]) -> list[MatrixCell]:
    """Return the cells with the chance of their outliers: how many answers others have that are late by as much time.

    A machine that stalls for 50 ms makes outliers of a cell of 15 ms, and none of one of 130 ms: were those counted
    beside answers that are late by seconds, they would hide them.
    """
    known = [number for number, each in enumerate(times) if each.medians]
    counts = [cells[number].outliers for number in known]
    numbers = [_due_of(times[number]) for number in known]
    others = []
    for number in known:
        late = _late_from(times[number])
        beside = [times[other] for other in known if other != number]
        others.append((sum(_later(each, late) for each in beside), sum(map(_due_of, beside))))
    chances = dict(zip(known, outlying.larger_shares(counts, numbers, others), strict=True))
    found = [(each, chances.get(number)) for number, each in enumerate(cells)]
    return [
        replace(each, outlier_chance=chance, scattered=each.uneven and chance is not None and chance < CHANCE)
        for each, chance in found
    ]


def _due_of(times: CellTimes) -> int:
    return times.due.passed.count + times.due.timed_out


def _fence(due: DueDurations) -> float:
    """Return above which time an answer is an outlier, ns."""
    low, middle, high = (float(min(due.passed.quantile(share), due.passed.max)) for share in (0.25, 0.5, 0.75))
    return max(high + FENCE * max(high - low, DIGITS * high), SEVERAL * middle)


def _late_from(times: CellTimes) -> float:
    """Return by how much later than the median an answer of a cell is an outlier, ns."""
    return _fence(times.due) - times.due.passed.quantile(0.5) if times.due.passed.count else 0.0


def _later(times: CellTimes, late: float) -> int:
    """Return how many answers of a cell are later than its median by so much, and those that timed out."""
    if not times.due.passed.count:
        return times.due.timed_out
    return times.due.timed_out + _above(times.due, times.due.passed.quantile(0.5) + late)


def _above(due: DueDurations, edge: float) -> int:
    lowest, _, counts = bins(due.passed)
    return int(counts[lowest > edge].sum())


def _design(model: MatrixModel, cells: Sequence[MatrixCell], places: Sequence[str], targets: Sequence[str]) -> Floats:
    """Return a row for each cell: first a column for each target, then the round trips, or each place but the first."""
    rows = []
    farthest = max((each.round_trip or 0 for each in cells), default=0)
    for each in cells:
        row = [float(each.target == target) for target in targets]
        if model is MatrixModel.DISTANCE:
            row.append((each.round_trip or 0) / farthest)  # all columns of one size: else the fit loses digits
        else:
            row += [float(each.place == place) for place in places[1:]]
        rows.append(row)
    return np.array(rows)


def _slow(design: Floats, times: Sequence[CellTimes], measured: Sequence[int]) -> dict[int, float]:
    """Return the cells that are slow by themselves, with the chance that any is by luck."""
    if not measured:
        return {}
    values = np.array([np.mean(times[number].medians) for number in measured])
    errors = np.array([_error(times[number].medians) for number in measured])
    rows = outlying.Rows(design[measured], values, errors)
    found = outlying.above(rows, max(1, len(measured) // SET_ASIDE), SLOWER)
    return {measured[each.row]: each.chance for each in found}


def _error(medians: Sequence[float]) -> float:
    """Return the standard error of the mean over repeats, with the step of the values; of one that of the step."""
    n, middle = len(medians), float(np.mean(medians))
    spread = float(np.var(medians, ddof=1)) if n > 1 else 0.0
    return math.sqrt((spread + (DIGITS * middle) ** 2 / 12) / n)


def _servers(
    model: MatrixModel, cells: Sequence[MatrixCell], times: Sequence[CellTimes], design: Floats, found: Fit
) -> Iterator[ServerLine]:
    targets = list(dict.fromkeys(each.target for each in cells))
    mine = [[number for number, each in enumerate(cells) if each.target == target] for target in targets]
    if model is MatrixModel.DISTANCE:
        levels = np.eye(len(found.coefficients))[: len(targets)]
    else:
        others = design[:, len(targets) :].mean(axis=0)
        levels = np.array([[*row, *others] for row in np.eye(len(targets))])
    for place, target in enumerate(targets):
        peers = np.mean([each for number, each in enumerate(levels) if number != place], axis=0)
        contrast = levels[place] - (1 + SLOWER) * peers
        error, gap = found.error(contrast), float(contrast @ found.coefficients)
        t = gap / error if error else math.copysign(math.inf, gap)
        chance = min(1.0, len(targets) * student.two_sided(t, found.freedom) / 2) if t > 0 else 1.0
        if model is MatrixModel.DISTANCE:
            k, c = line([(cells[at].round_trip or 0, times[at].medians) for at in mine[place] if not cells[at].slow])
        else:
            k, c = Figure(None, "", None, 0, "the distances are not known"), _level(levels[place], found)
        yield ServerLine(target, k, c, chance, chance < CHANCE)


def _level(row: Floats, found: Fit) -> Figure:
    value, half = float(row @ found.coefficients), student.quantile(found.freedom) * found.error(row)
    return Figure(value, "time", Interval(max(0.0, value - half), value + half, LEVEL), found.freedom + len(row))


def line(measured: Sequence[tuple[int, Sequence[float]]]) -> tuple[Figure, Figure]:
    """Return k and c of `time = k x RTT + c` by least squares over the medians of repeats at each round trip (ns).

    Student's law gives the intervals (N. R. Draper, H. Smith, Applied Regression Analysis, 3rd ed., 1998, 1.4).
    """
    rows = [(1.0, float(distance), median) for distance, medians in measured for median in medians]
    design = np.array([row[:2] for row in rows]).reshape(-1, 2)
    found = None
    scale = float(design[:, 1].max(initial=0.0))
    if scale and len({distance for distance, _ in measured}) > 1:
        found = outlying.fit(design / [1.0, scale], np.array([row[2] for row in rows]))
    if found is None or found.freedom < 1:
        few = Figure(None, "", None, len(rows), TOO_FEW)
        return few, replace(few, dimension="time")
    c, k = (float(each) for each in found.coefficients)
    half_c, half_k = (student.quantile(found.freedom) * found.error(row) for row in np.eye(2))
    return (
        Figure(k / scale, "", Interval((k - half_k) / scale, (k + half_k) / scale, LEVEL), len(rows)),
        Figure(c, "time", Interval(c - half_c, c + half_c, LEVEL), len(rows)),
    )
