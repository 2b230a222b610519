"""Runs against a baseline: for each test, operation and metric the effect with its interval, and a verdict.

Two single cases are compared by what each varies within itself. Where there are several of a test on a side (repeats,
loops, several runs), they are compared by how these vary among each other, which holds also what changes from one to
the next. A difference is believed when it is improbable by chance among all that is looked at (S. Holm, Scand. J.
Stat. 6 (1979) 65): if nothing has changed, 95 of 100 comparisons of whole runs show nothing at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pileup.model.contrast import ALIKE, BETTER, NO_ANSWER, TOO_FEW, WORSE, ComparedSide, Contrast, RunComparison, Side
from pileup.model.figures import Figure, Interval
from pileup.model.results import CaseResult, OperationResult, RunResults
from pileup.stats.compare.comparability import differs, warnings
from pileup.stats.compare.overlays import overlays
from pileup.stats.compare.points import CHANCE, DIGITS, FEWEST, name_of
from pileup.stats.frames.distribution import TOO_FEW as NOT_ENOUGH
from pileup.stats.intervals import effects, paired
from pileup.stats.intervals.confidence import LEVEL

Key = tuple[str, str, str]
"""Test, point in words, operation ("" for iterations)."""
Found = dict[Key, list[OperationResult]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of an operation with its interval within one case."""

    name: str
    dimension: str
    higher_is_better: bool
    of: Callable[[OperationResult], Figure]


def compare_runs(
    baseline: Sequence[RunResults], candidates: Sequence[Sequence[RunResults]], smallest: float
) -> RunComparison:
    """Return each group of runs compared with the first; `smallest` is the relative difference that matters."""
    return RunComparison(
        baseline=side(baseline),
        smallest=smallest,
        against=tuple(_against(baseline, candidate, smallest) for candidate in candidates),
    )


def side(runs: Sequence[RunResults]) -> Side:
    """Return what a group of runs is called."""
    paths = tuple(run.folder for run in runs)
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return Side(paths[0].rpartition("/")[2] + more, paths)


def _against(baseline: Sequence[RunResults], candidate: Sequence[RunResults], smallest: float) -> ComparedSide:
    first, second = _operations(baseline), _operations(candidate)
    levels, others = _levels(baseline), _levels(candidate)
    found = []
    for key in (key for key in first if key in second):
        if key in levels and key in others:
            found.append(_compared_levels(key, levels.pop(key), others[key], smallest))
        found += [
            contrast(key, metric, first[key], second[key], smallest) for metric in _asked(first[key], second[key])
        ]
    # a search that found nothing to measure has no operations
    found += [_compared_levels(key, levels[key], others[key], smallest) for key in levels if key in others]
    contrasts = judged(found)
    return ComparedSide(
        candidate=side(candidate),
        contrasts=tuple(contrasts),
        differs=tuple(differs(baseline, candidate)),
        warnings=tuple(warnings(baseline, candidate, contrasts)),
        overlays=tuple(overlays(baseline, candidate)),
    )


def _operations(runs: Iterable[RunResults]) -> Found:
    """Return what was measured of each operation: one entry for each case, over runs, repeats and loops."""
    found: Found = {}
    for case in (case for run in runs for case in run.cases):
        for each in case.operations:
            if each.counts.ended + each.counts.missed:
                found.setdefault(_key(case, each), []).append(each)
    return found


def _levels(runs: Iterable[RunResults]) -> dict[Key, list[Figure]]:
    """Return the highest levels that were found, with their intervals: one for each case that looked for one."""
    found: dict[Key, list[Figure]] = {}
    for case in (case for run in runs for case in run.cases if case.found is not None):
        found.setdefault((case.test or case.name, name_of(case.point), ""), []).append(_level(case))
    return found


def _level(case: CaseResult) -> Figure:
    told = case.found
    if told is None or told.limit is None or told.low is None or told.high is None:
        return Figure(None, "", None, 0, "none was found")
    # beyond the bounds, or between neighbours that are whole numbers, the interval is none
    interval = Interval(told.low, told.high, LEVEL) if told.low < told.high and not told.beyond else None
    return Figure(told.limit, "rate" if told.by == "rate" else "", interval, len(told.trials))


def _key(case: CaseResult, operation: OperationResult) -> Key:
    # A test that ends some iterations under another name has several rows of iterations: the first speaks for itself,
    # the others are distinguished by their names.
    name = "" if operation.iteration and operation is case.iterations else operation.operation
    return case.test or case.name, name_of(case.point), name


def _asked(first: Sequence[OperationResult], second: Sequence[OperationResult]) -> Iterable[Metric]:
    both = [*first, *second]
    for metric in METRICS:
        if metric.name in ("rate", "throughput") and max(each.counts.passed for each in both) < FEWEST:
            continue
        if metric.name == "throughput" and not any(each.bytes for each in both):
            continue
        if metric.name == "not passed" and all(each.counts.passed == _due(each) for each in both):
            continue
        yield metric


def contrast(
    key: Key, metric: Metric, first: Sequence[OperationResult], second: Sequence[OperationResult], smallest: float
) -> Contrast:
    """Return one metric of two groups of cases compared; the verdict is given by `judged`."""
    figures = [[metric.of(each) for each in group] for group in (first, second)]
    least = 1 / max(1, min(_due(each) for group in (first, second) for each in group))
    return _compared(key, metric, figures, least, smallest)


def _compared_levels(key: Key, first: Sequence[Figure], second: Sequence[Figure], smallest: float) -> Contrast:
    metric = replace(FOUND, dimension=next((each.dimension for each in (*first, *second) if each.dimension), ""))
    return _compared(key, metric, (first, second), 0.0, smallest)


def _compared(key: Key, metric: Metric, figures: Sequence[Sequence[Figure]], least: float, smallest: float) -> Contrast:
    """Return two groups of figures compared; shares come in steps of `least`."""
    values = [[figure.value for figure in group if figure.value is not None] for group in figures]
    censored = [_censored(metric, group) for group in figures]
    over_runs = any(len(group) > 1 for group in values) and all(values) and not any(censored)
    estimates: list[effects.Estimate | None]
    if over_runs:
        estimates = _over_runs(metric, values, least)
        shown = [_pooled(metric, each, group) for each, group in zip(estimates, values, strict=True)]
    else:
        single = [group[0] if len(group) == 1 else _none(metric, group) for group in figures]
        shown = [bound or figure for bound, figure in zip(censored, single, strict=True)]
        estimates = [effects.of_figure(figure) for figure in shown]
    difference, relative, p = _effect(metric, shown, estimates)
    return Contrast(
        *key,
        metric=metric.name,
        dimension=metric.dimension,
        higher_is_better=metric.higher_is_better,
        baseline=shown[0],
        candidate=shown[1],
        difference=difference,
        relative=relative,
        p=p,
        adjusted=None,
        verdict=NO_ANSWER if any(censored) else TOO_FEW,
        matters=_large(relative, difference, smallest),
        alike=_within(relative.interval, smallest),
        over_runs=over_runs,
    )


def _over_runs(metric: Metric, values: list[list[float]], least: float) -> list[effects.Estimate | None]:
    share = metric.dimension == "fraction"
    most = max(max(group) for group in values)
    step = least if share else most * DIGITS
    return list(effects.over_runs(values, step, proportional=not share) or (None, None))


def _pooled(metric: Metric, estimate: effects.Estimate | None, values: list[float]) -> Figure:
    mean = math.fsum(values) / len(values)
    interval = Interval(estimate.low, estimate.high, LEVEL) if estimate else None
    return Figure(mean, metric.dimension, interval, len(values))


def _censored(metric: Metric, figures: Sequence[Figure]) -> Figure | None:
    """Return the bound of the mean of a side of which some case had no answer; None where all had one.

    To compare the others alone would compare survivors.
    """
    if not any(figure.value is None and figure.above is not None for figure in figures):
        return None
    bounds = [figure.value if figure.value is not None else figure.above for figure in figures]
    least = math.fsum(bound or 0.0 for bound in bounds) / len(bounds)
    return Figure(None, metric.dimension, None, max(figure.n for figure in figures), NO_ANSWER, above=least)


def _none(metric: Metric, figures: Sequence[Figure]) -> Figure:
    """Return why a side has no figure: several cases, of which none has one."""
    note = next((figure.note for figure in figures if figure.note), NOT_ENOUGH)
    return Figure(None, metric.dimension, None, max((figure.n for figure in figures), default=0), note)


def _effect(
    metric: Metric, shown: Sequence[Figure], estimates: Sequence[effects.Estimate | None]
) -> tuple[Figure, Figure, float | None]:
    """Return difference, relative difference and probability of the second against the first."""
    n = min(figure.n for figure in shown)
    (before, after), (first, second) = (figure.value for figure in shown), estimates
    if before is None or after is None:
        note = next(figure.note for figure in shown if figure.value is None)
        return Figure(None, metric.dimension, None, n, note), Figure(None, "fraction", None, n, note), None
    gap = after - before
    change = after / before - 1 if before > 0 else None
    if first is None or second is None:
        plain = Figure(gap, metric.dimension, None, n, NOT_ENOUGH)
        return plain, Figure(change, "fraction", None, n, NOT_ENOUGH), None
    ratio = effects.ratio(second, first)
    bounds = Interval(ratio.low - 1, ratio.high - 1, LEVEL) if ratio else None
    return (
        Figure(gap, metric.dimension, effects.difference(second, first), n),
        Figure(change, "fraction", bounds, n, "" if change is not None else "the baseline is zero"),
        effects.probability(second, first),
    )


def _large(relative: Figure, difference: Figure, smallest: float) -> bool:
    if relative.value is None:
        return bool(difference.value)
    return abs(relative.value) >= smallest


def _within(interval: Interval | None, smallest: float) -> bool:
    return interval is not None and -smallest < interval.low and interval.high < smallest


def judged(found: Sequence[Contrast]) -> list[Contrast]:
    """Return contrasts with their verdicts, each judged among all of them."""
    adjusted = paired.holm([each.p for each in found])
    return [_judged(each, chance) for each, chance in zip(found, adjusted, strict=True)]


def _judged(found: Contrast, chance: float | None) -> Contrast:
    if chance is None or found.difference.value is None:
        return replace(found, matters=False)
    if chance >= CHANCE or found.difference.value == 0:
        return replace(found, adjusted=chance, verdict=ALIKE, matters=False)
    better = (found.difference.value > 0) == found.higher_is_better
    return replace(found, adjusted=chance, verdict=BETTER if better else WORSE)


def _quantile(share: float) -> Callable[[OperationResult], Figure]:
    def of(found: OperationResult) -> Figure:
        return found.quantiles.get(share) or Figure(None, "time", None, 0, NOT_ENOUGH)

    return of


def _mean(found: OperationResult) -> Figure:
    if found.response is None:
        return Figure(None, "time", None, 0, NOT_ENOUGH)
    return Figure(found.response.mean, "time", found.response.mean_interval, found.response.n)


def _due(found: OperationResult) -> int:
    return found.counts.ended + found.counts.missed


METRICS = (
    Metric("rate", "rate", True, lambda found: found.rate),
    Metric("throughput", "bandwidth", True, lambda found: found.throughput),
    Metric("mean", "time", False, _mean),
    Metric("p50", "time", False, _quantile(0.5)),
    Metric("p90", "time", False, _quantile(0.9)),
    Metric("p99", "time", False, _quantile(0.99)),
    Metric("not passed", "fraction", False, lambda found: found.not_passed),
)
"""All that is compared, and which direction is better."""
FOUND = Metric("found", "", True, lambda found: found.rate)
"""The highest level of a search: a figure of the case, of a rate or of clients."""
