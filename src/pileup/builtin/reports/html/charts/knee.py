"""Throughput and response time against the load that was offered, with the knee: where more load buys waiting alone.

The knee is the level with the largest power, throughput divided by response time (L. Kleinrock, Power and deterministic
rules of thumb for probabilistic problems in computer communications, ICC 1979; R. Jain, The Art of Computer Systems
Performance Analysis, 1991, 3.3). A load that looks for a level by itself has its own answer, which is shown instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

import altair as alt

from pileup.builtin.reports.html.charts import tables, wanted
from pileup.builtin.reports.html.charts.wanted import Bound
from pileup.plugin.charts import Clock, Columns, Drawing, Group, Mark
from pileup.plugin.charts.columns import log_ticks, positive, short
from pileup.plugin.charts.drawing import (
    INK,
    MUTED,
    STYLES,
    YAxis,
    amount_axis,
    color,
    finish,
    layer_of,
    log_time,
    named,
)
from pileup.plugin.results import CaseEntry, CaseResult, FoundLevel, Phase, RunResults, Timeline
from pileup.plugin.units import format_count, format_time

TESTS = 6
"""Tests that are drawn, at most: the first."""
LEVELS, APART = 3, 1.5
"""Levels that a curve needs, and how many times the largest must be the least."""
BINS = 12
"""Levels that seconds of a load without levels of its own are put into."""
RISES = 1.3
"""Past the knee the response time grows by so many times at least."""
PRESSED = (Phase.RAMP, Phase.WARM_UP, Phase.MEASURE)
RAMP = 10
"""Seconds of a ramp that are levels."""
SHORT, EDGE = 0.5, 2e8
"""Seconds that are shorter (s) have no rate; how far a second may reach out of its level, ns."""
KINDS = ("line", "dash", "dashdot")
"""Of the lines of one chart; those of p99 are dotted."""
FAR = 8.0
"""Levels so many times apart are drawn on a logarithm."""
HEIGHT = 200
HEADING = "Throughput and response time against the load"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at a level: `x` offered, `rate` passed per second, times in ms; None where they are too few."""

    x: float
    rate: float
    p50: float | None
    p99: float | None
    line: str = ""
    level: float | None = None
    """To which level it belongs; None: to the one that it is nearest to."""


@dataclass(frozen=True, slots=True)
class Level:
    """All that was seen at one level: medians, with the middle half of what was seen."""

    x: float
    line: str
    rate: tuple[float, float, float]
    """From, median, to."""
    p50: tuple[float, float, float] | None
    p99: float | None

    @property
    def power(self) -> float:
        """Throughput by response time; 0 where that is not known."""
        return self.rate[1] / self.p50[1] if self.p50 and self.p50[1] > 0 else 0.0


@dataclass(slots=True)
class Curve:
    """A test against its load."""

    test: str
    by: str
    """"clients" or "rate"."""
    what: str
    """What one point is: "second", "trial" or "run"."""
    seen: list[Seen]
    found: FoundLevel | None = None
    levels: list[Level] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.levels = list(_levels(self.seen))

    @property
    def of(self) -> str:
        """What its levels are, in words."""
        return "offered per second" if self.by == "rate" else "clients"

    @property
    def worth(self) -> bool:
        """Whether it has levels enough, far enough apart."""
        places = {level.x for level in self.levels}
        return len(places) >= LEVELS and max(places) >= APART * min(places) > 0

    @property
    def lines(self) -> list[str]:
        """Names of its lines."""
        return list(dict.fromkeys(level.line for level in self.levels))

    def knees(self) -> dict[str, Level]:
        """Return line -> its knee, for those that have one: more load was tried, and the response time grew there."""
        found = {}
        for line in self.lines:
            mine = [level for level in self.levels if level.line == line and level.power]
            best = max(mine, key=lambda level: level.power, default=None)
            past = [level for level in mine if best and level.x > best.x and level.p50]
            if best and best.p50 and past and past[-1].p50 and past[-1].p50[1] >= RISES * best.p50[1]:
                found[line] = best
        return found


def groups(results: RunResults, axis: Clock) -> Iterator[Group]:
    """Yield one group with two drawings for each test whose load has several levels."""
    bounds = wanted.bounds(results, axis)
    curves = [curve for curve in _curves(results) if curve.worth]
    drawings: list[Drawing] = []
    data: dict[str, Columns] = {}
    for number, curve in enumerate(curves[:TESTS]):
        made, mine = _drawn(number, curve, [each for each in bounds if each.selected.name == curve.test])
        drawings += made
        data |= mine
    if drawings:
        notes = [f"Not drawn: {', '.join(curve.test for curve in curves[TESTS:])}."] if len(curves) > TESTS else []
        yield Group(drawings, data, HEADING, notes, paired=True)


def _curves(results: RunResults) -> Iterator[Curve]:
    entries = {entry.id: entry for entry in results.run.cases}
    drawn = tables.drawn(results)
    for test in dict.fromkeys(case.test for case in drawn):
        mine = [(case, entries[case.id]) for case in drawn if case.test == test and case.id in entries]
        for case, entry in mine:
            if case.found is not None and case.timeline is not None:
                yield Curve(case.test, case.found.by, "trial", list(_trials(case, entry)), case.found)
        steady = [(case, entry) for case, entry in mine if case.found is None]
        if not steady:
            continue
        by = "rate" if steady[0][1].load_kind == "open" else "clients"
        fixed = [seen for case, entry in steady if (seen := _fixed(case, entry, by)) is not None]
        whole = Curve(test, by, "run", _apart(results, steady, fixed))
        seconds = [each for one in steady if _changes(*one) for each in _seconds(*one, by)]
        yield whole if whole.worth else Curve(test, by, "second", seconds)


def _changes(case: CaseResult, entry: CaseEntry) -> bool:
    """Whether a load goes through several levels, one of which may be a ramp that is long enough."""
    ramp = case.timeline.phase.count(Phase.RAMP) if case.timeline else 0
    return len(entry.levels) >= LEVELS or ramp >= RAMP


def _fixed(case: CaseResult, entry: CaseEntry, by: str) -> Seen | None:
    """Return what a case at one level has shown as a whole; None for one with other levels, or without figures."""
    x = entry.rate if by == "rate" else entry.clients
    got = case.iterations
    if not x or got is None or got.rate.value is None or entry.spans:
        return None
    p50, p99 = (_value(got.quantiles.get(share)) for share in (0.5, 0.99))
    return Seen(float(x), got.rate.value, p50, p99, level=float(x))


def _value(figure: Any) -> float | None:
    return None if figure is None or figure.value is None else figure.value / 1e6


def _apart(results: RunResults, cases: list[tuple[CaseResult, CaseEntry]], seen: list[Seen]) -> list[Seen]:
    """Give each point of a scan its line: the factors by which the load does not change."""
    if len(seen) != len(cases) or not results.points:
        return seen
    factors = {tuple(sorted(point.values.items())): point.factors for point in results.points}
    placed = [factors.get(tuple(sorted(case.point.items())), {}) for case, _ in cases]
    names = list(placed[0])
    lines = [name for name in names if not _moves(name, placed, seen)]
    told = [", ".join(f"{name}={values.get(name, '')}" for name in lines) for values in placed]
    several = len(set(told)) > 1
    return [
        Seen(e.x, e.rate, e.p50, e.p99, line if several else "", e.level) for e, line in zip(seen, told, strict=True)
    ]


def _moves(name: str, placed: list[dict[str, str]], seen: list[Seen]) -> bool:
    """Whether the load changes with a factor while all others stay."""
    levels: dict[tuple[tuple[str, str], ...], set[float]] = {}
    for values, each in zip(placed, seen, strict=True):
        others = tuple(sorted((key, value) for key, value in values.items() if key != name))
        levels.setdefault(others, set()).add(each.x)
    return any(len(found) > 1 for found in levels.values())


def _trials(case: CaseResult, entry: CaseEntry) -> Iterator[Seen]:
    """Yield what the seconds of each trial have shown once they had settled."""
    assert case.found is not None and case.timeline is not None and entry.find is not None  # noqa: S101
    for trial in (*case.found.trials, *case.found.measurements):
        within = [
            place
            for place, time in enumerate(case.timeline.times)
            if trial.begin + entry.find.settle < time <= trial.end + 10**8
        ]
        if within:
            rate = sum(case.timeline.passed[place] for place in within) / len(within)
            times = [[getattr(case.timeline, name)[place] for place in within] for name in ("p50", "p99")]
            p50, p99 = (median(known) / 1e6 if (known := [v for v in each if v]) else None for each in times)
            yield Seen(trial.level, rate, p50, p99, level=trial.level)


def _seconds(case: CaseResult, entry: CaseEntry, by: str) -> Iterator[Seen]:
    """Yield the seconds of a load that changes, each with its level where the load has some."""
    line = case.timeline
    if line is None:
        return
    levels = _at_levels(line, entry)
    for place, phase in enumerate(line.phase):
        x = levels.get(place, _offered(line, place, by))
        whole = phase in PRESSED and x > 0 and line.seconds[place] > SHORT
        if whole and (place in levels or not levels):
            p50, p99 = (value / 1e6 if value else None for value in (line.p50[place], line.p99[place]))
            yield Seen(x, line.passed[place], p50, p99, level=levels.get(place))


def _offered(line: Timeline, place: int, by: str) -> float:
    return line.started[place] + line.missed[place] if by == "rate" else float(line.clients[place])


def _at_levels(line: Timeline, entry: CaseEntry) -> dict[int, float]:
    """Return place in the timeline -> level of the load, for the seconds that are whole at one level."""
    begin = line.times[0] - line.seconds[0] * 1e9
    return {
        place: level
        for first, last, level in entry.levels
        for place, (time, seconds) in enumerate(zip(line.times, line.seconds, strict=True))
        if first - EDGE <= time - seconds * 1e9 - begin and time - begin <= last + EDGE
    }


def _levels(seen: Sequence[Seen]) -> Iterator[Level]:
    """Yield levels in their order, line by line."""
    if not seen:
        return
    low, high = min(each.x for each in seen), max(each.x for each in seen)
    width = (high - low) / BINS or 1.0
    known: dict[tuple[str, float], list[Seen]] = {}
    for each in seen:
        place = each.level if each.level is not None else low + width * min(BINS - 1, int((each.x - low) / width))
        known.setdefault((each.line, place), []).append(each)
    for (line, place), mine in sorted(known.items()):
        if len(mine) == 1 and mine[0].level is None:
            continue
        x = place if mine[0].level is not None else median(each.x for each in mine)
        tails = [each.p99 for each in mine if each.p99 is not None]
        p50 = _middle([each.p50 for each in mine if each.p50 is not None])
        rate = _middle([each.rate for each in mine])
        if rate:
            yield Level(x, line, rate, p50, median(tails) if tails else None)


def _middle(values: list[float]) -> tuple[float, float, float] | None:
    """Return the middle half of some values: from, median, to."""
    if not values:
        return None
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, mid, high = quantiles(values, n=4, method="inclusive")
    return low, mid, high


def _drawn(number: int, curve: Curve, bounds: Sequence[Bound]) -> tuple[list[Drawing], dict[str, Columns]]:
    names = (f"load{number}_seen", f"load{number}_levels", f"load{number}_knee")
    data = dict(zip(names, (_seen_table(curve), _level_table(curve), _knee_table(curve)), strict=True))
    levels = names[1]
    durations = positive(data[levels], "p50", "p99", "p50_low", "p50_high") or [1.0]
    times = [each for each in bounds if each.of_iterations(("response",), ("quantile",))]
    slower = wanted.lines("", times, durations, lambda _: 1e6)
    scale, axis = log_time([*durations, *positive(data[names[0]], "p50"), *slower.values])
    amount = YAxis(alt.Scale(zero=True, nice=True), amount_axis(tickCount=5))
    duration = YAxis(scale, axis)
    x = _x(curve)
    rates = [each for each in bounds if each.of_iterations(("response", "passed"), ("rate",))]
    wants = wanted.lines("", rates, positive(data[levels], "rate"), lambda _: 1.0)
    rate = [
        *_asked(levels, curve, x, amount),
        *wants.across(amount.axis, amount.scale),
        *_layers(data, curve, x, "rate", amount),
    ]
    time = [
        _tail(levels, curve, x, duration),
        *slower.across(duration.axis, duration.scale),
        *_layers(data, curve, x, "p50", duration),
    ]
    knee = (Mark(_knee_word(curve), INK, "tick"),) if data[names[2]]["x"] else ()
    lines = tuple(Mark(line, color(place), _kind(place)) for place, line in enumerate(curve.lines) if line)
    shade = INK if lines else color(0)
    offered = (Mark("all that was offered", MUTED, "dash"),) if curve.by == "rate" else ()
    tail = (Mark("p99", shade, "dotted"),) if positive(data[levels], "p99") else ()
    about = f"A dot is a {curve.what}; the line goes through the medians of the levels, a bar has their middle half."
    return [
        Drawing(
            f"load{number}_rate",
            f"{curve.test}: throughput",
            f"passed per second, by {curve.of}",
            finish([layer_of(each) for each in rate], HEIGHT),
            legend=(*lines, *offered, *knee),
            about=about,
            says=_says(curve),
            timed=False,
            table=levels,
            columns=_columns(curve),
        ),
        Drawing(
            f"load{number}_time",
            f"{curve.test}: response time",
            f"by {curve.of}, log scale",
            finish([layer_of(each) for each in time], HEIGHT),
            legend=(*lines, Mark("p50", shade), *tail, *knee),
            about="" if curve.found else "Knee: where throughput divided by response time is largest.",
            says=_says_times(curve),
            timed=False,
            table=levels,
            columns=_columns(curve),
        ),
    ], data


def _tail(levels: str, curve: Curve, x: alt.X, how: YAxis) -> Any:
    """Return the line of p99."""
    tail = named(levels).transform_filter("isValid(datum.p99)").mark_line(strokeDash=STYLES["dotted"], strokeWidth=1.3)
    return tail.encode(x=x, y=how.of("p99"), stroke=_stroke(curve))


def _x(curve: Curve, column: str = "x") -> alt.X:
    places = [level.x for level in curve.levels]
    low, high = min(places), max(places)
    if high <= FAR * low:
        scale, axis = alt.Scale(zero=False, nice=True, padding=14), amount_axis(tickCount=6, grid=False)
    else:
        scale = alt.Scale(type="log", nice=False, padding=14)
        axis = amount_axis(values=log_ticks(low / 2, high * 2, 9), grid=False)
    return alt.X(f"{column}:Q", scale=scale, axis=axis, title=None)


def _kind(number: int) -> str:
    """Return the kind of the line with that number."""
    return KINDS[number % len(KINDS)]


def _stroke(curve: Curve) -> alt.Stroke:
    shades = [color(number) for number, _ in enumerate(curve.lines)]
    return alt.Stroke("line:N", scale=alt.Scale(domain=curve.lines, range=shades), legend=None)


def _layers(data: dict[str, Columns], curve: Curve, x: alt.X, column: str, how: YAxis) -> list[Any]:
    """Return the layers of one figure: the knee behind, what was seen, the medians with their bars."""
    points, levels, marks = data
    shades = [color(number) for number, _ in enumerate(curve.lines)]
    fill = alt.Fill("line:N", scale=alt.Scale(domain=curve.lines, range=shades), legend=None)

    tips = [alt.Tooltip("x:Q", title="load", format=",.4~r"), alt.Tooltip("rate:Q", title="passed /s", format=",.4~r")]
    tips += [alt.Tooltip(f"{name}:Q", title=f"{name}, ms", format=",.3~r") for name in ("p50", "p99")]
    known = named(levels).transform_filter(f"isValid(datum.{column})")
    seen = named(points).transform_filter(f"isValid(datum.{column})").mark_circle(size=14, opacity=0.35)
    bars = known.mark_rule(strokeWidth=2).encode(
        x=x, y=how.of(f"{column}_low"), y2=f"{column}_high:Q", stroke=_stroke(curve)
    )
    kinds = [STYLES[_kind(number)] for number, _ in enumerate(curve.lines)]
    dash = alt.StrokeDash("line:N", scale=alt.Scale(domain=curve.lines, range=kinds), legend=None)
    line = known.mark_line(strokeWidth=1.6).encode(x=x, y=how.of(column), stroke=_stroke(curve), strokeDash=dash)
    dots = known.mark_point(size=38, filled=True, strokeWidth=0).encode(x=x, y=how.of(column), fill=fill, tooltip=tips)
    made = [seen.encode(x=x, y=how.of(column), fill=fill, tooltip=tips), bars, line, dots]
    if data[marks]["x"]:
        band = named(marks).mark_rect(fill=INK, opacity=0.1)
        rule = named(marks).mark_rule(stroke=INK, strokeDash=[5, 3], strokeWidth=1.4)
        word = {"align": "left", "baseline": "top", "dx": 4, "fontSize": 10, "fontWeight": "bold"}
        text = named(marks).mark_text(fill=INK, **word).encode(x=x, y=alt.YValue(0), text=alt.Text("text:N"))
        bands = [band.encode(x=_x(curve, "low"), x2=alt.X2("high:Q"))] if curve.found else []
        made = [*bands, *made, rule.encode(x=x), text]
    return made


def _asked(levels: str, curve: Curve, x: alt.X, how: YAxis) -> list[Any]:
    """Return the line on which all that was offered passed; nothing for a number of clients."""
    if curve.by != "rate":
        return []
    line = named(levels).mark_line(stroke=MUTED, strokeDash=STYLES["dash"], strokeWidth=1.2)
    return [line.encode(x=x, y=how.of("x"))]


def _seen_table(curve: Curve) -> Columns:
    return {
        "x": [short(each.x) for each in curve.seen],
        "rate": [short(each.rate) for each in curve.seen],
        "p50": [short(each.p50) for each in curve.seen],
        "p99": [short(each.p99) for each in curve.seen],
        "line": [each.line for each in curve.seen],
    }


def _level_table(curve: Curve) -> Columns:
    spans = [level.p50 or (None, None, None) for level in curve.levels]
    made: Columns = {"x": [short(level.x) for level in curve.levels], "line": [level.line for level in curve.levels]}
    for place, name in enumerate(("rate_low", "rate", "rate_high")):
        made[name] = [short(level.rate[place]) for level in curve.levels]
    for place, name in enumerate(("p50_low", "p50", "p50_high")):
        made[name] = [short(span[place]) for span in spans]
    made["p99"] = [short(level.p99) for level in curve.levels]
    return made


def _columns(curve: Curve) -> dict[str, str]:
    return {"line": "at", "x": curve.of, "rate": "passed per second", "rate_low": "from", "rate_high": "to"} | {
        "p50": "p50, ms",
        "p99": "p99, ms",
    }


def _knee_table(curve: Curve) -> Columns:
    """Return where the knee is; of a level that was looked for its limit, with the interval."""
    found = curve.found
    if found is not None:
        if found.limit is None or found.beyond:
            return {name: [] for name in ("x", "low", "high", "text")}
        text = f"limit {_amount(found.limit)}"
        return {"x": [found.limit], "low": [found.low], "high": [found.high], "text": [text]}
    knees = curve.knees()
    places = [short(level.x) for level in knees.values()]
    texts = [f"knee {_amount(level.x)}" + (f" ({line})" if line else "") for line, level in knees.items()]
    return {"x": places, "low": places, "high": places, "text": texts}


def _knee_word(curve: Curve) -> str:
    return "limit with its 95 % interval" if curve.found else "knee"


def _amount(value: float) -> str:
    return format_count(round(value)) if value >= 100 else f"{value:.3g}"


def _says(curve: Curve) -> str:
    told = []
    for line in curve.lines:
        mine = [level for level in curve.levels if level.line == line]
        best = max(mine, key=lambda level: level.rate[1])
        name = f"{line}: " if line else ""
        told.append(
            f"{name}{_amount(mine[0].rate[1])} passed per second at {_amount(mine[0].x)} {curve.of},"
            f" {_amount(best.rate[1])} at {_amount(best.x)}, the most."
        )
    return " ".join([*told, _says_knee(curve)])


def _says_knee(curve: Curve) -> str:
    found = curve.found
    if found is not None and found.limit is not None and found.low is not None and found.high is not None:
        return f"The limit is {_amount(found.limit)} ({_amount(found.low)} to {_amount(found.high)})."
    if knees := curve.knees():
        return " ".join(
            f"The knee{f' of {line}' if line else ''} is at {_amount(level.x)}." for line, level in knees.items()
        )
    return f"No knee up to {_amount(max(level.x for level in curve.levels))}."


def _says_times(curve: Curve) -> str:
    told = []
    for line in curve.lines:
        mine = [level for level in curve.levels if level.line == line and level.p50]
        if mine and mine[0].p50 and mine[-1].p50:
            ends = (format_time(level.p50[1] * 1e6) for level in (mine[0], mine[-1]) if level.p50)
            first, last = (
                f"{time} at {_amount(level.x)} {curve.of}"
                for time, level in zip(ends, (mine[0], mine[-1]), strict=True)
            )
            told.append(f"{f'{line}: ' if line else ''}p50 from {first} to {last}.")
    return " ".join([*told, _says_knee(curve)])
