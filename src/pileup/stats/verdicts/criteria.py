"""Criteria: the figure, its threshold, and the verdict (`model/verdict.py`).

In a scan a criterion must hold at every point, or at those that its `at` names. At a point all repeats and loops are
one: counts and histograms are added, rates are of the whole time measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pileup.model import check as checks
from pileup.model.check import Check, Selected, Unreadable
from pileup.model.figure_words import NOTHING, words
from pileup.model.figures import Figure
from pileup.model.loads.levels import FOUND, FOUND_HIGH, FOUND_LOW, HELD, HELD_LEVEL, HELD_VALUE
from pileup.model.manifest import CriterionEntry
from pileup.model.not_covered import Uncovered
from pileup.model.results import CriterionResult, ErrorGroup, Point, PointVerdict
from pileup.model.submissions import AUDITED
from pileup.model.units import counted
from pileup.model.verdict import ESTIMATE, WORST, Verdict
from pileup.stats.cases import CaseData
from pileup.stats.faults.repeats import never
from pileup.stats.frames.exact import RowValues
from pileup.stats.frames.totals import measure
from pileup.stats.generator.holdups import Stretch
from pileup.stats.generator.undisturbed import cut
from pileup.stats.intervals import slopes
from pileup.stats.loads.find import limited_by_generator
from pileup.stats.monitors import MetricSeries, pooled, pooled_points
from pileup.stats.verdicts import excuse, grouping, judge, parts, resolve, unrested
from pileup.stats.verdicts.coverage import Coverage, not_stated
from pileup.stats.verdicts.replications import over_repeats
from pileup.stats.verdicts.resolve import to_base

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_TOLD = 4
"""Points that a reason names."""


@dataclass(frozen=True, slots=True)
class JudgedFigure:
    """One figure against the threshold, at one point or for the whole run (`point` is empty)."""

    verdict: Verdict
    figure: Figure
    reason: str = ""
    point: str = ""
    needed: str = ""
    """What would show it, where it is not shown."""


@dataclass(slots=True)
class Criteria:
    """Judges the criteria of a run.

    `failures` are those of pileup's own, by the names of cases (`Limit.failures`); `monitors` are those of the suite,
    with samples or not, `points` those of the scan.
    """

    cases: list[CaseData]
    series: list[MetricSeries]
    connection: DuckDBPyConnection
    failures: Mapping[str, Sequence[ErrorGroup]] = field(default_factory=dict)
    monitors: frozenset[str] = frozenset()
    points: Sequence[Point] = ()
    covered: Coverage = field(default_factory=Coverage)
    """What was not there."""
    recording: frozenset[str] = frozenset()
    """Monitors of the suite that record operations."""
    simulated: bool = False
    """Whether repeats are independent: in virtual time."""
    rows: RowValues = field(init=False)

    def __post_init__(self) -> None:
        self.rows = RowValues(self.connection)

    def judge(self, criterion: CriterionEntry) -> CriterionResult:
        """Return a criterion with its verdict."""
        check, threshold = criterion.check, ""
        several: list[JudgedFigure] = []
        lack: Uncovered | None = None
        selected: Selected | None = None
        if check is None:
            judged = JudgedFigure(Verdict.NOT_COVERED, Figure(None, note="not covered"), "it has no check")
        elif isinstance(check, Unreadable):
            judged = JudgedFigure(Verdict.UNKNOWN, Figure(None, note="no figure"), check.problem)
        else:
            try:
                threshold = check.threshold
                selected = self._selected(check)
                lack = self._lack(selected)
                several = self._judge(check, selected, criterion, lack)
                several = [_enough(each, criterion.at_least) for each in several]
                judged = _together(check, several)
            except ValueError as mistake:
                judged = JudgedFigure(Verdict.UNKNOWN, Figure(None, note="no figure"), str(mistake))
        said, near = self._far(selected) if criterion.coverage == "far" else (criterion.coverage, "")
        coverage = _coverage(said, lack)
        verdict = Verdict.NOT_COVERED if coverage == "none" else judged.verdict
        points = tuple(
            PointVerdict(each.point, each.verdict, each.figure, each.reason) for each in several if each.point
        )
        during = f"in the measured time of {_few(criterion.during)}" if criterion.during else ""
        remark = "; ".join(
            filter(None, (criterion.remark, during, near, lack.reason if lack and not lack.whole else ""))
        )
        text = check.text if check is not None else ""
        told = (criterion.id, criterion.says, text, coverage, verdict, judged.figure, threshold, judged.reason)
        confidence = criterion.confidence or ESTIMATE
        needed = "" if verdict.shown else judged.needed
        asked = check if isinstance(check, Check) else None
        return CriterionResult(*told, points, remark, confidence, needed, asked, selected)

    def _far(self, selected: Selected | None) -> tuple[str, str]:
        """Return the coverage of a criterion about a distance, and what is missing where there is none."""
        mine = [data.entry for data in self.cases if selected is not None and data.entry.test == selected.name]
        if mine and all(any(entry.latency.values()) for entry in mine):
            return "full", ""
        return "partial", "no `path` adds to the round trips of its test"

    def _selected(self, check: Check) -> Selected:
        """Return what a check selects. Raises ValueError if it does not exist."""
        tests = {data.entry.test for data in self.cases}
        if self._is_reported(check):
            tests = set()
        return checks.resolve(check, tests, self._monitors(check, tests), self._recording())

    def _lack(self, selected: Selected) -> Uncovered | None:
        """Return what a check lacks. What a monitor covers in part is covered where there are samples of it."""
        lack = self.covered.of(selected)
        if lack is None:
            return not_stated(self.cases, selected)
        if lack.whole or lack.what != "monitor":
            return lack
        mine = (each for each in self.series if (each.monitor, each.metric) == (selected.name, selected.metric))
        there = any(each.has(selected.labels) for each in mine)
        return lack if there else replace(lack, whole=True)

    def _judge(
        self, check: Check, selected: Selected, criterion: CriterionEntry, lack: Uncovered | None
    ) -> list[JudgedFigure]:
        """Return the verdict at each point that is asked for; one for a run without a scan.

        A criterion whose monitor is not covered has no figure; the figure of a test whose faults did not happen is
        still shown.
        """
        if lack is not None and lack.whole and lack.what != "test":
            return [JudgedFigure(Verdict.NOT_COVERED, Figure(None, note="not covered"), lack.reason)]
        found = self._figures(check, self._operation_after_all(check, selected), criterion)
        if lack is not None and lack.whole:
            return [replace(each, verdict=Verdict.NOT_COVERED, reason=lack.reason) for each in found]
        return found

    def _figures(self, check: Check, selected: Selected, criterion: CriterionEntry) -> list[JudgedFigure]:
        done_once = [data for data in self.cases if data.entry.test == selected.name]
        points = grouping.chosen(self.points, criterion.at)
        if self.points and not points:
            raise ValueError(f"`at` names no point of this scan; there are {_few([each.name for each in self.points])}")
        if selected.kind in ("monitor", "served"):
            beside = [data for data in self.cases if not criterion.during or data.entry.test in criterion.during]
            cases = grouping.groups([data for data in beside if data.point], points)
            if not cases or (done_once and not any(data.point for data in done_once)):
                cases = [grouping.Group("", tuple(beside))]
            of_one = self._of_monitor if selected.kind == "monitor" else self._of_served
            return [of_one(check, selected, group) for group in cases]
        mine = [data for data in self.cases if data.entry.test == selected.name]
        found = grouping.groups(mine, points)
        if not found:
            raise ValueError(f"{selected.name} was not planned at these points")
        return [self._of_group(check, selected, group) for group in found]

    def _operation_after_all(self, check: Check, selected: Selected) -> Selected:
        """Return the operation that was meant where there are no numbers of that name: of a test that reported none,
        `first(copy.read)`, or recorded by a monitor, `p99(server.GET)`.
        """
        named = selected.name, selected.metric
        if selected.kind != "monitor" or any((series.monitor, series.metric) == named for series in self.series):
            return selected
        if selected.metric in self._served(selected.name):
            return checks.as_served(check, selected.name)
        mine = [data for data in self.cases if data.entry.test == selected.name]
        fits = check.dimension == "time" or check.value == 0
        if not fits or not any(data.measured.named(selected.metric) for data in mine):
            return selected
        return Selected("test", selected.name, selected.metric, "response", "", selected.labels, "time")

    def _recording(self) -> frozenset[str]:
        """Return the monitors that record operations."""
        return self.recording | {name for data in self.cases for name in data.recorded}

    def _served(self, monitor: str) -> list[str]:
        """Return the operations that a monitor recorded, in any case."""
        told = measure(data.recorded[monitor] for data in self.cases if monitor in data.recorded)
        return sorted(operation for operation, _ in told.tallies)

    def _is_reported(self, check: Check) -> bool:
        """Return whether a check speaks of a number that a test reported: they are samples under the test's name."""
        name, _, metric = ".".join(check.path).partition(".")
        if check.path[-1] in checks.FIELDS or not metric:
            return False
        return any((series.monitor, series.metric) == (name, metric) for series in self.series)

    def _monitors(self, check: Check, tests: set[str]) -> set[str]:
        found = {series.monitor for series in self.series}
        # A monitor that gave nothing is unknown, not a mistake in the check.
        return found | self.monitors or {name for name in check.path[:1] if name not in tests}

    def _of_group(self, check: Check, selected: Selected, group: grouping.Group) -> JudgedFigure:
        def figure(cases: Sequence[CaseData]) -> Figure:
            found = [parts.of_test(data, selected, self.rows) for data in cases]
            whole = resolve.of_test(check, selected, found)
            if not self.simulated:
                return whole
            return over_repeats(check, whole, [resolve.of_test(check, selected, [part]) for part in found])

        judged = _against(check, figure(group.cases), group.name)
        if judged.verdict is Verdict.UNKNOWN and (strange := self._no_operation(selected)):
            return replace(judged, reason=strange)
        if judged.verdict.missed:
            slow = excuse.excuse(
                check,
                selected,
                judged.figure,
                group.cases,
                series=self.series,
                evaluate=figure,
                failures=self.failures,
            )
            return JudgedFigure(Verdict.UNKNOWN, judged.figure, slow.words, group.name) if slow else judged
        return judged

    def _of_served(self, check: Check, selected: Selected, group: grouping.Group) -> JudgedFigure:
        """Judge what a monitor recorded: however late pileup was, these times are the server's own."""
        part = parts.of_served(group.cases, selected, self.rows)
        judged = _against(check, resolve.of_test(check, selected, [part]), group.name)
        if judged.verdict is not Verdict.UNKNOWN or part.measured.tallies:
            return judged
        known = self._served(selected.name)
        if selected.operation in known:
            reason = f"{selected.name} recorded no such {selected.operation} in the measured time"
        else:
            told = f"there are {_few(known)}" if known else "it recorded nothing in the measured time"
            reason = f"{selected.name} has no operation {selected.operation!r}; {told}"
        return replace(judged, reason=reason)

    def _operations(self, test: str) -> list[str]:
        """Return the operations that a test has had, in any of its cases."""
        mine = [data.measured.tallies for data in self.cases if data.entry.test == test]
        return sorted({tally.operation for tallies in mine for tally in tallies.values() if not tally.iteration})

    def _no_operation(self, selected: Selected) -> str:
        """Return that a test has no operation of that name; empty where it has, or where nothing of it is known."""
        known = self._operations(selected.name)
        if selected.operation in (None, *known) or not known:
            return ""
        if selected.operation in AUDITED:
            return f"no audit found {selected.operation} of {selected.name}: notes of the run say why"
        return f"{selected.name} has no operation {selected.operation!r}; there are {_few(known)}"

    def _no_number(self, check: Check, selected: Selected) -> str:
        """Return what a test has in the place of a number that it did not report; empty for monitors."""
        known = self._operations(selected.name)
        if any((each.monitor, each.metric) == (selected.name, selected.metric) for each in self.series) or not known:
            return ""
        if selected.metric in known:
            return checks.mismatch(check, "time")
        known += sorted({each.metric for each in self.series if each.monitor == selected.name})
        return f"{selected.name} has no operation or number {selected.metric!r}; there are {_few(known)}"

    def _of_monitor(self, check: Check, selected: Selected, group: grouping.Group) -> JudgedFigure:
        visits = {data.visit for data in group.cases} if group.name else None
        if (rest := unrested.rest(check, selected, self.series, visits)) is not None:
            return _against(check, rest, group.name)
        named = [each for each in self.series if (each.monitor, each.metric) == (selected.name, selected.metric)]
        found = [each for each in named if each.has(selected.labels)]
        if len({each.key for each in found}) != 1:
            reason = self._no_number(check, selected) or _which(selected, named, found, self.series)
            return JudgedFigure(Verdict.UNKNOWN, Figure(None, note=NOTHING), reason, group.name)
        spans = grouping.of_samples(group, selected)
        values, dimension = to_base(pooled(found, spans, visits), found[0].unit)
        figure = resolve.of_values(check, values, dimension)
        if check.function == "slope":
            times, _ = pooled_points(found, spans, visits)
            figure = slopes.slope(times, values, dimension)
            dimension = figure.dimension
        fits = check.function == "count" or check.value == 0 or _same(check.dimension, dimension)
        if not fits:
            given, wanted = check.dimension or "number without a unit", found[0].unit or "no unit"
            reason = f"the value is a {given}, the samples have {wanted}; give the value the unit of the samples"
            return JudgedFigure(Verdict.UNKNOWN, figure, reason, group.name)
        if never([each for each in found if visits is None or each.visit in visits]) and check.comparison in (
            "<",
            "<=",
        ):
            reason = "after a fault nothing passed any more"
            return JudgedFigure(
                Verdict.NOT_MET, Figure(None, dimension, None, len(values), "never"), reason, group.name
            )
        judged = _against(check, figure, group.name)
        if not judged.verdict.missed:
            return judged

        def again(without: Sequence[Stretch]) -> Figure:
            within = cut(spans if spans is not None else grouping.spans(group.cases), without)
            return resolve.of_values(check, to_base(pooled(found, within, visits), found[0].unit)[0], dimension)

        mine = [data for data in group.cases if data.entry.test == selected.name]
        slow = _found_late(mine, selected)
        if selected.metric in (HELD, HELD_VALUE, HELD_LEVEL):
            held = excuse.of_held(check, selected, figure, mine, series=self.series, evaluate=again)
            slow = held.words if held else ""
        return JudgedFigure(Verdict.UNKNOWN, figure, slow, group.name) if slow else judged


def _enough(judged: JudgedFigure, least: int) -> JudgedFigure:
    """Return the verdict on a figure; unknown where it is of fewer values than its criterion needs."""
    if judged.figure.n >= least or judged.verdict is Verdict.NOT_COVERED:
        return judged
    reason = f"{counted(judged.figure.n, 'value')}; the criterion needs at least {least}"
    return JudgedFigure(Verdict.UNKNOWN, judged.figure, reason, judged.point)


def _coverage(said: str, lack: Uncovered | None) -> str:
    """Return the coverage of a criterion: what its suite says, or less."""
    if said == "none" or (lack is not None and lack.whole):
        return "none"
    return "partial" if lack is not None else said


def _found_late(cases: Sequence[CaseData], selected: Selected) -> str:
    """Return the reason where a figure says what was found by trials of which pileup was the bottleneck."""
    if selected.metric not in (FOUND, FOUND_LOW, FOUND_HIGH):
        return ""
    slow = [data.entry.name for data in cases if data.entry.find and limited_by_generator(data.entry.find.trials)]
    return f"pileup was the bottleneck of {_few(slow)}; this figure does not describe the system" if slow else ""


def _together(check: Check, several: Sequence[JudgedFigure]) -> JudgedFigure:
    """Return the verdict over points: the worst, with the figure that decides, and a reason that names the points."""
    if len(several) == 1:
        (only,) = several
        where = f"at {only.point}" if only.point else ""
        return replace(only, reason=": ".join(word for word in (where, only.reason) if word), point="")
    verdict = min((each.verdict for each in several), key=WORST.index)
    worst = [each for each in several if each.verdict == verdict]
    if verdict is Verdict.NOT_COVERED:
        return replace(worst[0], point="")
    deciding = _farthest(check, worst)
    if verdict.met:
        figure = words(deciding.figure)
        reason = f"at each of {len(several)} points; nearest at {_where(deciding)}: {figure}"
        return JudgedFigure(verdict, deciding.figure, reason, needed=deciding.needed)
    told = [f"{_where(each)}: {_why(each)}" for each in worst[:MOST_TOLD]]
    more = [f"and {len(worst) - MOST_TOLD} more"] if len(worst) > MOST_TOLD else []
    does = "does not hold" if verdict.missed else "is not known"
    reason = f"it {does} at {len(worst)} of {len(several)} points: {'; '.join(told + more)}"
    return JudgedFigure(verdict, deciding.figure, reason, needed=deciding.needed)


def _where(judged: JudgedFigure) -> str:
    return judged.point or "what was done once"


def _why(judged: JudgedFigure) -> str:
    return words(judged.figure) if judged.verdict.missed else judged.reason


def _farthest(check: Check, several: Sequence[JudgedFigure]) -> JudgedFigure:
    """Return the one whose figure is farthest from holding, or nearest to not holding."""
    known = [(value, each) for each in several if (value := _value(each.figure)) is not None]
    if not known:
        return several[0]
    pick = min if check.comparison in (">", ">=") else max
    return pick(known, key=lambda pair: pair[0])[1]


def _value(figure: Figure) -> float | None:
    """Return the value of a figure, or what it is known to be larger than."""
    return figure.above if figure.value is None else figure.value


def _same(given: str, found: str) -> bool:
    """Return whether a value's dimension suits that of samples: those without a unit take whatever has none."""
    return given == found or (given == checks.BARE and found in ("", "count")) or (given == "count" and found == "")


def _against(check: Check, figure: Figure, point: str = "") -> JudgedFigure:
    verdict = judge.against(check, figure)
    told = words(figure)
    if verdict is Verdict.UNKNOWN:
        known = figure.above is not None
        why = f"it is only known to be {told}" if known else f"{told}: {counted(figure.n, 'value')}"
        return JudgedFigure(verdict, figure, why, point)
    if verdict.missed:
        reason = f"{check.figure} is {told}, not {check.threshold}"
        return JudgedFigure(verdict, figure, reason, point, judge.needed(check, figure, verdict))
    return JudgedFigure(verdict, figure, "", point, judge.needed(check, figure, verdict))


def _which(
    selected: Selected, named: Sequence[MetricSeries], found: Sequence[MetricSeries], known: Sequence[MetricSeries]
) -> str:
    path = f"{selected.name}.{selected.metric}"
    if len(found) > 1:
        choices = sorted({f"{path}[{each.labels or f'host={each.host}'}]" for each in found})
        return f"{path} has {len(found)} series; choose one: {_few(choices)}"
    if named:
        return f"no series of {path} has these labels; there are {_few(sorted({each.labels for each in named}))}"
    metrics = sorted({each.metric for each in known if each.monitor == selected.name})
    if not metrics:
        return f"{selected.name} gave no samples"
    return f"{selected.name} has no metric {selected.metric!r}; there are {_few(metrics)}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
