"""Figures by label: sums of an operation's rows for each value of a label, and which values stand out.

Every operation has the labels `place` and `target`; others are given when it is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from pileup._core._native import Histogram
from pileup.model.breakdown import Breakdown, LabelFigure
from pileup.model.figures import Counts, Figure, Interval
from pileup.model.record import Frame, FrameRow, Phase, labels_of
from pileup.record.tally import Tally, add
from pileup.stats.frames.distribution import deviation, on_one_grid, quantiles
from pileup.stats.frames.totals import begun
from pileup.stats.intervals.confidence import LEVEL, Z
from pileup.stats.intervals.correlated import Dependence

PLACE, TARGET = "place", "target"
NONE = "(none)"
"""Value of a label that an operation does not have, where others of its name have it."""
MOST_VALUES = 50
"""Most values of a label that are listed one by one, besides those that stand out."""
FEWEST = 30
"""Fewest values among which one may differ notably."""
LEAST = 0.1
"""A value that stands out differs by more than this from the others."""
SHARES = (0.5, 0.9, 0.99)
Labels = tuple[tuple[str, str], ...]
Places = Mapping[int, tuple[str, ...]]
"""Number of a place -> what it is called: its name first, then its host, and the number."""


def chosen(frames: Iterable[Frame], labels: Labels, places: Places, target: str | None = None) -> list[Frame]:
    """Return frames with those rows alone that have all these labels; `target` is that of the case.

    What was missed has no labels but place and target.
    """
    wanted = dict(labels)
    place = wanted.pop(PLACE, None)
    if target is not None and wanted.pop(TARGET, target) != target:
        return []
    found = []
    for frame in frames:
        if place is not None and place not in places.get(frame.place, (str(frame.place),)):
            continue
        if wanted:
            rows = tuple(row for row in frame.rows if wanted.items() <= labels_of(row.labels).items())
            found.append(replace(frame, rows=rows, started=0, missed=0))
        else:
            found.append(frame)
    return found


@dataclass(frozen=True, slots=True)
class Whole:
    """What is known of an operation as a whole, and holds for each of its values."""

    seconds: float
    """How long it was measured."""
    timeout: float | None = None
    known: Dependence | None = None


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean and variance of the response times of what passed, ns."""

    n: int
    mean: float
    variance: float


def breakdowns(
    frames: Iterable[Frame],
    places: Places,
    seconds: float,
    timeout: float | None = None,
    dependence: Mapping[tuple[str, bool], Dependence] | None = None,
) -> dict[tuple[str, bool], tuple[Breakdown, ...]]:
    """Return (operation, whether iterations) -> its figures by each label that has several values."""
    sums = _sums(frames)
    found: dict[tuple[str, bool], tuple[Breakdown, ...]] = {}
    for operation in dict.fromkeys((operation, iteration) for operation, iteration, _, _ in sums):
        mine = {key[2:]: tally for key, tally in sums.items() if key[:2] == operation}
        by_label = _by_label(mine, places)
        known = (dependence or {}).get(operation)
        if several := {label: values for label, values in by_label.items() if len(values) > 1}:
            found[operation] = tuple(
                _breakdown(label, values, Whole(seconds, timeout, known)) for label, values in several.items()
            )
    return found


def _sums(frames: Iterable[Frame]) -> dict[tuple[str, bool, int, str], Tally]:
    """Add up rows by operation, place and set of labels; nothing where all are of one place and none has labels."""
    known = list(frames)
    if len({frame.place for frame in known}) <= 1 and not any(row.labels for frame in known for row in frame.rows):
        return {}
    sums: dict[tuple[str, bool, int, str], Tally] = {}
    for frame in known:
        key = _key(frame.place)
        add(frame, sums, key, Tally.of_responses)
    return sums


def _key(place: int) -> Callable[[FrameRow], tuple[str, bool, int, str] | None]:
    def key(row: FrameRow) -> tuple[str, bool, int, str] | None:
        return (row.operation, row.iteration, place, row.labels) if row.phase == Phase.MEASURE else None

    return key


def _by_label(tallies: Mapping[tuple[int, str], Tally], places: Places) -> dict[str, dict[str, Tally]]:
    """Return label -> value -> its sums. Operations without a label that others have are listed as such."""
    labelled = {key: labels_of(key[1]) for key in tallies}
    names = sorted({name for labels in labelled.values() for name in labels})
    found: dict[str, dict[str, Tally]] = {}
    for key, tally in tallies.items():
        values = {PLACE: places.get(key[0], (str(key[0]),))[0]}
        values |= {name: labelled[key].get(name, NONE) for name in names}
        for name, value in values.items():
            found.setdefault(name, {}).setdefault(value, Tally(tally.operation, tally.iteration)).join(tally)
    return found


def _breakdown(label: str, values: Mapping[str, Tally], whole: Whole) -> Breakdown:
    histograms = {value: tally.responses.once() for value, tally in values.items()}
    moments = {value: moments_of(histogram) for value, histogram in histograms.items()}
    inflation = _inflation(list(moments.values()), whole.known)
    away = apart(moments, inflation)
    largest = sorted(values, key=lambda value: -values[value].ended)[:MOST_VALUES]
    shown = sorted({*largest, *away}, key=_natural)
    means = {value: _mean(found, inflation) for value, found in moments.items()}
    figures = (_figure(value, values[value], means[value], whole) for value in shown)
    edges, drawn = on_one_grid([histograms[value] for value in shown])
    told = tuple(
        replace(each, deviation=_deviation(moments[each.value]), apart=away.get(each.value), bins=bins)
        for each, bins in zip(figures, drawn, strict=True)
    )
    return Breakdown(label, told, len(values) - len(shown), edges)


def _deviation(found: Moments) -> float | None:
    return math.sqrt(found.variance) if found.n > 1 else None


def _mean(found: Moments, inflation: float) -> Figure:
    if found.n < 2:
        return Figure(found.mean if found.n else None, "time", None, found.n, "" if found.n else "nothing passed")
    half = Z * math.sqrt(found.variance / found.n * inflation)
    return Figure(found.mean, "time", Interval(max(0.0, found.mean - half), found.mean + half, LEVEL), found.n)


def _natural(value: str) -> tuple[bool, int, str]:
    """Order n2 before n10."""
    digits = "".join(each for each in value if each.isdigit())
    return value == NONE, int(digits[:18] or 0), value


def _figure(value: str, tally: Tally, mean: Figure, whole: Whole) -> LabelFigure:
    due = quantiles(begun(tally, whole.timeout), whole.known)
    seconds = whole.seconds
    return LabelFigure(
        value=value,
        counts=Counts(**tally.counts),
        rate=Figure(tally.done / seconds if seconds else None, "rate", None, tally.done),
        throughput=Figure(tally.moved / seconds if seconds else None, "bandwidth", None, tally.done),
        mean=mean,
        deviation=None,
        quantiles={share: due[share] for share in SHARES if share in due},
        apart=None,
    )


def moments_of(histogram: Histogram) -> Moments:
    """Return number, mean and variance of what a histogram holds."""
    n = histogram.count
    if n == 0:
        return Moments(0, 0.0, 0.0)
    return Moments(n, histogram.mean, deviation(histogram) ** 2)


def _inflation(several: Sequence[Moments], known: Dependence | None) -> float:
    """Return how many times the variance of a mean is that of independent values, by what is known of the whole."""
    n = sum(each.n for each in several)
    if known is None or n < FEWEST:
        return 1.0
    whole = _pooled(several)
    return max(1.0, known.error**2 / (whole.variance / n)) if whole.variance else 1.0


def _pooled(several: Sequence[Moments]) -> Moments:
    n = sum(each.n for each in several)
    if n < 2:
        return Moments(n, several[0].mean if several else 0.0, 0.0)
    mean = sum(each.n * each.mean for each in several) / n
    squares = sum((each.n - 1) * each.variance + each.n * (each.mean - mean) ** 2 for each in several if each.n)
    return Moments(n, mean, squares / (n - 1))


def apart(values: Mapping[str, Moments], inflation: float = 1.0) -> dict[str, Figure]:
    """Return the values whose mean stands out from that of the others: by how much, as a fraction of theirs.

    The farthest first, and then among those that are left, so that one that is slow does not make all others look
    fast. By 95 % over all values together (Bonferroni), and by more than 10 %; of two the slower one stands out.
    """
    left = {value: found for value, found in values.items() if found.n >= FEWEST}
    wanted = NormalDist().inv_cdf(1 - 0.025 / max(1, len(left)))
    away: dict[str, Figure] = {}
    while len(left) > 1:
        looks = {value: _against(found, left, value, inflation) for value, found in left.items()}
        farthest = max(looks, key=lambda value: (round(abs(looks[value][1]), 9), looks[value][0]))
        share, score, half = looks[farthest]
        if abs(score) < wanted or abs(share) < LEAST:
            break
        away[farthest] = Figure(share, "fraction", Interval(share - half, share + half, LEVEL), left[farthest].n)
        del left[farthest]
    return away


def _against(found: Moments, known: Mapping[str, Moments], value: str, inflation: float) -> tuple[float, float, float]:
    """Return a mean against that of all others: difference as a fraction, in standard errors, and half its interval."""
    others = _pooled([each for name, each in known.items() if name != value])
    error = math.sqrt((found.variance / found.n + others.variance / others.n) * inflation)
    difference = found.mean - others.mean
    score = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    whole = others.mean or 1.0
    return difference / whole, score, Z * error / whole
