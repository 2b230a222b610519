"""The tables that the charts of a page draw, small enough for one file. Times in ms since the run's start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from pileup.plugin.charts import Clock, Columns
from pileup.plugin.charts.columns import (
    Number,
    buckets,
    combine,
    drawn_runs,
    largest,
    looks,
    mean,
    middle,
    short,
    stretches,
)
from pileup.plugin.results import CaseResult, Detached, Distribution, Phase, RunResults, Timeline

ROWS = 3000
"""Rows of the timeline over all cases, at most."""
POINTS = 160
"""Points of one distribution function, at most."""
MISSING = 0.9e9
"""Time between two intervals of a timeline, ns, in which one is missing: places end theirs not quite together."""
SHORTEST, FEWEST = 1.0, 5
"""Cases that took less than this (s), or began less than this, have no rate worth drawing against time."""
MOST_REASON = 120
PHASES = {
    Phase.SETUP: "set-up",
    Phase.RAMP: "ramp",
    Phase.WARM_UP: "warm-up",
    Phase.COOLDOWN: "cool-down",
    Phase.CLEANUP: "clean-up",
}


def clock(results: RunResults) -> Clock:
    """Return the axis that holds everything measured: from the run's start to its end."""
    starts = [case.started for case in results.cases if case.started]
    ends = [case.ended for case in results.cases if case.ended]
    sampled = [time for series in results.series for time in (*series.times[:1], *series.times[-1:])]
    told = (results.run.started, results.run.ended)
    given = [time for time in told if time is not None and time > 0]
    known = given[:1] or starts or sampled or [0]
    begin = min(known)
    last = max([begin, *ends, *given, *(sampled if not ends else [])])
    return Clock(begin, max(1.0, round((last - begin) / 1e6, 1)))


def when(a: float, b: float) -> str:
    """Return an interval for a tooltip: `12 to 13 s`."""
    return f"{a / 1000:.4g} s" if b - a < 1 else f"{a / 1000:.4g} to {b / 1000:.4g} s"


def label(case: CaseResult) -> str:
    """Return the name of a case for charts: `copy[16, 64 KiB]#2` for `copy[se.threads=16,copy.buffer=64 KiB]#2`."""
    if not case.point:
        return case.name
    behind = case.name.rpartition("]")[2] if case.name.startswith(f"{case.test}[") else ""
    return f"{case.test}[{', '.join(case.point.values())}]{behind}"


def cases(results: RunResults, axis: Clock) -> Columns:
    """Return when each case that was run began and ended."""
    ran = [case for case in results.cases if case.started]
    ends = [axis.ms(case.ended or axis.begin + axis.window * 1e6) for case in ran]
    starts = [axis.ms(case.started or 0) for case in ran]
    return {
        "a": starts,
        "b": ends,
        "n": list(range(len(ran))),
        "case": [label(case) for case in ran],
        "lane": _lanes(ran, starts, ends),
        "outcome": [str(case.outcome) for case in ran],
        "load": [case.load for case in ran],
        "when": [when(a, b) for a, b in zip(starts, ends, strict=True)],
    }


def _lanes(ran: list[CaseResult], starts: list[float], ends: list[float]) -> list[int]:
    """Return 0 for cases that follow one another, 1 for those beside others, whose names would lie upon theirs."""
    lanes = [1 if case.role else 0 for case in ran]
    last = -1.0
    for place in sorted(range(len(ran)), key=lambda place: starts[place]):
        if lanes[place] == 0 and starts[place] >= last:
            last = ends[place]
        else:
            lanes[place] = 1
    return lanes


def backdrop(table: Columns, most: int) -> Columns:
    """Return the cases that charts show behind their lines: of too many, the longest."""
    count = len(table["a"])
    longest = sorted(range(count), key=lambda place: table["a"][place] - table["b"][place])[:most]
    return {name: [values[place] for place in sorted(longest)] for name, values in table.items()}


def all_cases(results: RunResults) -> Columns:
    """Return every case in one line of numbers, for a list that is made when it is opened."""
    found = [(case, case.iterations) for case in results.cases]
    counts = [each.counts if each else None for _, each in found]
    medians = [each.response.box[2] / 1e6 if each and each.response else None for _, each in found]
    return {
        "case": [case.name for case, _ in found],
        "outcome": [str(case.outcome) for case, _ in found],
        "reason": [case.reason[:MOST_REASON] for case, _ in found],
        "took": [
            short((case.ended - case.started) / 1e6) if case.started and case.ended else None for case, _ in found
        ],
        "passed": [each.passed if each else None for each in counts],
        "other": [each.ended - each.passed if each else None for each in counts],
        "p50": [short(value) for value in medians],
    }


def detached(results: RunResults, axis: Clock) -> Columns:
    """Return how many asynchronous operations were open, and ended per second, case by case.

    A row stands for the interval `a` to `b` in which something happened; there is none for the time in between.
    """
    columns: dict[str, list[Number]] = {name: [] for name in ("a", "b", "t", "open", "ended")}
    names: list[str] = []
    found = [(case, line) for case in results.cases for line in case.detached if line.times]
    for case, line in found:
        for begin, end, places in _slots(line, max(2, ROWS // len(found))):
            names.append(f"{label(case)} · {line.operation}" if line.operation else label(case))
            columns["a"].append(max(0.0, axis.ms(begin)))
            columns["b"].append(min(axis.window, axis.ms(end)))
            columns["t"].append(columns["b"][-1])
            columns["open"].append(largest([line.open[place] for place in places]))
            columns["ended"].append(short(sum(line.ended[place] for place in places) * 1e9 / (end - begin)))
    times = [when(a or 0, b or 0) for a, b in zip(columns["a"], columns["b"], strict=True)]
    return {**columns, "case": names, "when": times}


def _slots(line: Detached, limit: int) -> Iterator[tuple[int, int, list[int]]]:
    """Yield begin and end (ns) of equal intervals in which something happened, at most `limit`, with their entries."""
    one = line.seconds * 10**9
    first = line.times[0] - one
    size = one * max(1, -(-((line.times[-1] - first) // one) // limit))
    for number, group in groupby(range(len(line.times)), key=lambda place: (line.times[place] - 1 - first) // size):
        begin = first + number * size
        yield begin, begin + size, list(group)


def phases(results: RunResults, axis: Clock) -> Columns:
    """Return the parts of cases that do not enter the figures; `n` is the row of the case in `cases`."""
    ran = [(number, case) for number, case in enumerate(each for each in results.cases if each.started)]
    rows = [(number, *row) for number, case in ran if case.timeline for row in _phases(case, case.timeline, axis)]
    return {name: [row[place] for row in rows] for place, name in enumerate(("n", "a", "b", "case", "phase"))}


def began_in(case: CaseResult, timeline: Timeline) -> list[int]:
    """Return the phase in which each interval began. The record says that at its end; the load, that of the first."""
    if not timeline.phase:
        return []
    first = timeline.phase[0]
    if " ramp" in case.load:
        first = Phase.RAMP
    elif first == Phase.MEASURE and (" warm-up" in case.load or " settling" in case.load):
        first = Phase.WARM_UP
    return [first, *timeline.phase[:-1]]


def _phases(case: CaseResult, timeline: Timeline, axis: Clock) -> Iterator[tuple[float, float, str, str]]:
    phases, name = began_in(case, timeline), label(case)
    for phase, group in groupby(range(len(timeline.times)), key=phases.__getitem__):
        places = list(group)
        if phase in PHASES:
            begin = timeline.times[places[0]] - timeline.seconds[places[0]] * 1e9
            yield axis.ms(begin), axis.ms(timeline.times[places[-1]]), name, PHASES[Phase(phase)]


def drawn(results: RunResults) -> list[CaseResult]:
    """Return the cases that lasted long enough, and did enough, to be drawn second by second."""
    return [case for case in results.cases if case.timeline and _worth_drawing(case.timeline)]


def _worth_drawing(line: Timeline) -> bool:
    if sum(line.seconds) < SHORTEST:
        return False
    return sum(rate * seconds for rate, seconds in zip(line.started, line.seconds, strict=True)) >= FEWEST


def timeline(results: RunResults, axis: Clock) -> Columns:
    """Return all cases interval by interval: rates as means, clients and p90, p99 as the largest of a bucket."""
    found = drawn(results)
    columns: dict[str, list[Number]] = {name: [] for name in TIMELINE}
    names: list[str] = []
    runs: list[range] = []
    total = sum(len(case.timeline.times) for case in found if case.timeline)
    for case in found:
        if case.timeline:
            share = max(2, ROWS * len(case.timeline.times) // max(total, ROWS))
            rows, mine = _rows(case.timeline, axis, share)
            runs += mine
            names += [label(case)] * len(rows["a"])
            for name, values in rows.items():
                columns[name] += [short(value) for value in values] if name not in "abt" else values
    times = [when(a or 0, b or 0) for a, b in zip(columns["a"], columns["b"], strict=True)]
    return {**columns, **drawn_runs(runs), "case": names, "when": times}


RATES = ("started", "passed", "not_passed", "missed", "bandwidth")
LEVELS = ("in_flight", "clients")
DURATIONS = ("p50", "p90", "p99", "latest")
TIMELINE = ("a", "b", "t", *RATES, *LEVELS, *DURATIONS)


def _rows(line: Timeline, axis: Clock, limit: int) -> tuple[dict[str, list[Number]], list[range]]:
    """Return the rows of one case, and which of them follow each other without a gap in what was measured."""
    begins = [time - seconds * 1e9 for time, seconds in zip(line.times, line.seconds, strict=True)]
    parts: list[range] = []
    runs = []
    for run in stretches(begins, line.times, MISSING):
        share = max(1, limit * len(run) // len(line.times))
        inside = [range(run.start + part.start, run.start + part.stop) for part in buckets(len(run), share)]
        before = len(parts)
        parts += _joined(line, inside)
        runs.append(range(before, len(parts)))
    starts = [axis.ms(line.times[part[0]] - line.seconds[part[0]] * 1e9) for part in parts]
    ends = [axis.ms(line.times[part[-1]]) for part in parts]
    middles = [(a + b) / 2 for a, b in zip(starts, ends, strict=True)]
    rows: dict[str, list[Number]] = {"a": [*starts], "b": [*ends], "t": [*middles]}
    for name in RATES:
        rows[name] = [_weighted(getattr(line, name), line.seconds, part) for part in parts]
    for name in LEVELS:
        rows[name] = combine(getattr(line, name), parts, largest)
    for name in DURATIONS:
        found = combine(getattr(line, name), parts, middle if name == "p50" else largest)
        rows[name] = [None if value is None else value / 1e6 for value in found]
    return rows, runs


def _joined(line: Timeline, parts: list[range]) -> list[range]:
    """Join a last interval of less than half a second with the one before: its rate would be noise."""
    if len(parts) > 1 and sum(line.seconds[place] for place in parts[-1]) < SHORTEST / 2:
        return [*parts[:-2], range(parts[-2].start, parts[-1].stop)]
    return parts


def _weighted(values: tuple[float, ...], seconds: tuple[float, ...], part: range) -> float:
    length = sum(seconds[place] for place in part)
    return sum(values[place] * seconds[place] for place in part) / length if length > 0 else 0.0


def measured(results: RunResults, least: int, most: int) -> list[CaseResult]:
    """Return the cases with at least `least` durations, in order; at most `most` of them, those with the most."""
    found = [case for case in results.cases if (got := response(case)) and got.n >= least]
    chosen = sorted(found, key=lambda case: -(getattr(response(case), "n", 0)))[:most]
    return [case for case in found if case in chosen]


def response(case: CaseResult) -> Distribution | None:
    """Return the response times of a case's iterations."""
    return case.iterations.response if case.iterations else None


def ecdf(chosen: list[CaseResult]) -> Columns:
    """Return distribution functions: case, kind of time, duration (ms), share at or below, share above."""
    names: list[str] = []
    kinds: list[str] = []
    durations: list[Number] = []
    shares: list[Number] = []
    for case in chosen:
        for kind in ("response", "service"):
            found = getattr(case.iterations, kind)
            points = _thinned(found) if found else []
            names += [label(case)] * len(points)
            kinds += [kind] * len(points)
            durations += [short(duration / 1e6) for duration, _ in points]
            shares += [short(share, 6) for _, share in points]
    above: list[Number] = [short(1 - (share or 0), 4) for share in shares]
    return {"case": names, "kind": kinds, "ms": durations, "share": shares, "above": above}


def _thinned(found: Distribution) -> list[tuple[float, float]]:
    """Keep every k-th point of the body and all of the last twentieth, where the tail is read."""
    points = [point for point in found.ecdf if point[0] > 0]
    body = [point for point in points if point[1] < 0.95]
    tail = points[len(body) :]
    half = POINTS // 2
    return [*body[:: max(1, -(-len(body) // half))], *tail[:: max(1, -(-len(tail) // half))], *points[-1:]]


def histogram(found: Distribution) -> Columns:
    """Return the bins of a distribution: from, to (ms), count, and the share they hold."""
    bins = zip(pairwise(found.edges), found.counts, strict=True)
    rows = [(low, high, n) for (low, high), n in bins if high > low > 0]
    return {
        "low": [short(low / 1e6) for low, _, _ in rows],
        "high": [short(high / 1e6) for _, high, _ in rows],
        "count": [n for _, _, n in rows],
        "share": [short(100 * n / max(1, found.n), 3) for _, _, n in rows],
    }


def boxes(results: RunResults, most: int) -> Columns:
    """Return box plots of response times of iterations and of the operations inside them (ms), as many as have room."""
    rows = []
    for case in results.cases:
        for each in case.operations:
            if each.response and each.response.n >= 5:
                rows.append((label(case) if each.iteration else f"{label(case)} · {each.operation}", each.response))
    rows = rows[:most]
    columns: Columns = {"row": [name for name, _ in rows], "n": [found.n for _, found in rows]}
    for place, name in enumerate(("low", "q1", "median", "q3", "high")):
        columns[name] = [short(found.box[place] / 1e6) for _, found in rows]
    columns["mean"] = [short(found.mean / 1e6) for _, found in rows]
    return columns


def sampled(times: list[int], columns: list[list[Number]], axis: Clock, limit: int) -> Columns:
    """Return samples of one group of metrics, a column each, as means of buckets; `run` marks gaps between them."""
    order = sorted(range(len(times)), key=times.__getitem__)
    offsets = [axis.ms(times[place]) for place in order]
    found = looks(offsets)
    several = any(len(run) > 1 for run in found)
    parts: list[range] = []
    runs = []
    for run in found if several else [range(len(order))]:
        share = max(1, limit * len(run) // len(order))
        before = len(parts)
        parts += [range(run.start + part.start, run.start + part.stop) for part in buckets(len(run), share)]
        runs += [range(before, len(parts))] if several else [range(place, place + 1) for place in range(len(parts))]
    centre = [sum(offsets[place] for place in part) / len(part) for part in parts]
    rows: Columns = {"t": [short(time, 8) for time in centre]}
    rows |= {name: [short(time, 8) for time in at] for name, at in zip("ab", _edges(centre, runs), strict=True)}
    rows["when"] = [f"{t / 1000:.4g} s" for t in centre]
    for number, values in enumerate(columns):
        sorted_values = [values[place] for place in order]
        rows[f"s{number}"] = [short(value) for value in combine(sorted_values, parts, mean)]
    return rows | drawn_runs(runs)


def _edges(centre: list[float], runs: list[range]) -> tuple[list[float], list[float]]:
    """Return where the pointer finds each row: from half way after the one before to half way to the next of a run."""
    nearest = min((b - a for a, b in pairwise(centre)), default=1000.0) / 2
    starts, ends = [], []
    for run in runs:
        mine = [centre[place] for place in run]
        bounds = [(a + b) / 2 for a, b in pairwise(mine)]
        edge = bounds[0] - mine[0] if bounds else nearest
        starts += [mine[0] - edge, *bounds]
        ends += [*bounds, mine[-1] + edge]
    return starts, ends
