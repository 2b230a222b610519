"""Criteria: the figure, its threshold, and the verdict passed, failed, unknown or not checked.

In a scan a criterion must hold at every point, or at those that its `at` names. At a point all repeats and loops are
one: counts and histograms are added, rates are of the whole time measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pileup.model import check as checks
from pileup.model.check import Check, Selected
from pileup.model.finding import FOUND, FOUND_HIGH, FOUND_LOW
from pileup.model.results import CriterionResult, Figure, Point, PointVerdict
from pileup.model.steering import HELD, HELD_LEVEL, HELD_VALUE
from pileup.stats import evaluate, restless, scope
from pileup.stats.cases import CaseData
from pileup.stats.evaluate import to_base
from pileup.stats.faults import never
from pileup.stats.found import limited_by_generator
from pileup.stats.monitors import Whole, pooled
from pileup.stats.rows import RowValues

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PASSED, FAILED, UNKNOWN, NOT_CHECKED = "passed", "failed", "unknown", "not checked"
_WORST = (FAILED, UNKNOWN, PASSED)
MOST_TOLD = 4
"""Points that a reason names."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One figure against the threshold, at one point or for the whole run (`point` is empty)."""

    verdict: str
    figure: Figure
    reason: str = ""
    point: str = ""


@dataclass(slots=True)
class Criteria:
    """Judges the criteria of a run.

    `limited` names the cases of which the generator was the limit, and says whether their failures are its own;
    `monitors` are those of the suite, with samples or not, `points` those of the scan.
    """

    cases: list[CaseData]
    series: list[Whole]
    connection: DuckDBPyConnection
    limited: Mapping[str, bool] = field(default_factory=dict)
    monitors: frozenset[str] = frozenset()
    points: Sequence[Point] = ()
    rows: RowValues = field(init=False)

    def __post_init__(self) -> None:
        self.rows = RowValues(self.connection)

    def judge(self, criterion: dict[str, Any]) -> CriterionResult:
        """Return a criterion (an entry of run.json) with its verdict."""
        text, threshold = criterion.get("check") or "", ""
        several: list[Judged] = []
        if not text:
            judged = Judged(NOT_CHECKED, Figure(None, note="not checked"), "it has no check")
        else:
            try:
                check = checks.parse(text)
                threshold = check.threshold
                several = self._judge(check, criterion.get("at") or ())
                judged = _together(check, several)
            except ValueError as mistake:
                judged = Judged(UNKNOWN, Figure(None, note="no figure"), str(mistake))
        coverage = criterion.get("coverage", "full")
        verdict = NOT_CHECKED if coverage == "none" else judged.verdict
        points = tuple(
            PointVerdict(each.point, each.verdict, each.figure, each.reason) for each in several if each.point
        )
        remark = str(criterion.get("remark") or "")
        told = (criterion["id"], criterion["says"], text, coverage, verdict, judged.figure, threshold, judged.reason)
        return CriterionResult(*told, points, remark)

    def _judge(self, check: Check, at: Sequence[dict[str, str]]) -> list[Judged]:
        """Return the verdict at each point that is asked for; one for a run without a scan."""
        tests = {data.info.get("test", "") for data in self.cases}
        if self._is_reported(check):
            tests = set()
        selected = checks.resolve(check, tests, self._monitors(check, tests))
        selected = self._operation_after_all(check, selected)
        done_once = [data for data in self.cases if data.info.get("test") == selected.name]
        points = scope.chosen(self.points, at)
        if self.points and not points:
            raise ValueError(f"`at` names no point of this scan; there are {_few([each.name for each in self.points])}")
        if selected.kind == "monitor":
            cases = scope.groups([data for data in self.cases if data.point], points)
            if not cases or (done_once and not any(data.point for data in done_once)):
                cases = [scope.Group("", tuple(self.cases))]
            return [self._of_monitor(check, selected, group) for group in cases]
        mine = [data for data in self.cases if data.info.get("test") == selected.name]
        found = scope.groups(mine, points)
        if not found:
            raise ValueError(f"{selected.name} was not planned at these points")
        return [self._of_group(check, selected, group) for group in found]

    def _operation_after_all(self, check: Check, selected: Selected) -> Selected:
        """Return the operation that was meant where a test reported no number of that name: `first(copy.read)`."""
        named = selected.name, selected.metric
        if selected.kind == "test" or any((series.monitor, series.metric) == named for series in self.series):
            return selected
        mine = [data for data in self.cases if data.info.get("test") == selected.name]
        fits = check.dimension == "time" or check.value == 0
        if not fits or not any(data.measured.named(selected.metric) for data in mine):
            return selected
        return Selected("test", selected.name, selected.metric, "response", dimension="time")

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

    def _of_group(self, check: Check, selected: Selected, group: scope.Group) -> Judged:
        parts = [replace(data.part, rows=self.rows.of(data.info)) for data in group.cases]
        judged = _against(check, evaluate.of_test(check, selected, parts), group.name)
        slow = [name for data in group.cases if (name := data.info["name"]) in self.limited]
        if judged.verdict == FAILED and (any(self.limited[name] for name in slow) or (slow and _of_time(selected))):
            reason = f"the generator was the limit of {_few(slow)}: the figure is not the system's"
            return Judged(UNKNOWN, judged.figure, reason, group.name)
        return judged

    def _of_monitor(self, check: Check, selected: Selected, group: scope.Group) -> Judged:
        visits = {data.visit for data in group.cases} if group.name else None
        if (rest := restless.rest(check, selected, self.series, visits)) is not None:
            return _of_rest(check, rest, group.name)
        named = [each for each in self.series if (each.monitor, each.metric) == (selected.name, selected.metric)]
        found = [each for each in named if each.has(selected.labels)]
        if len({each.key for each in found}) != 1:
            reason = _which(selected, named, found, self.series)
            return Judged(UNKNOWN, Figure(None, note=evaluate.NOTHING), reason, group.name)
        values, dimension = to_base(pooled(found, scope.of_samples(group, selected), visits), found[0].unit)
        figure = evaluate.of_values(check, values, dimension)
        fits = check.function == "count" or check.value == 0 or _same(check.dimension, dimension)
        if not fits:
            given, wanted = check.dimension or "number without a unit", found[0].unit or "no unit"
            reason = f"the value is a {given}, the samples have {wanted}; give the value the unit of the samples"
            return Judged(UNKNOWN, figure, reason, group.name)
        if never([each for each in found if visits is None or each.visit in visits]) and check.comparison in (
            "<",
            "<=",
        ):
            reason = "after a fault nothing passed any more"
            return Judged(FAILED, Figure(None, dimension, None, len(values), "never"), reason, group.name)
        judged = _against(check, figure, group.name)
        slow = [data.info["name"] for data in group.cases if self._steered_late(data, selected)]
        if judged.verdict == FAILED and slow:
            reason = f"the generator was the limit of {_few(slow)}: the figure is not the system's"
            return Judged(UNKNOWN, figure, reason, group.name)
        return judged

    def _steered_late(self, data: CaseData, selected: Selected) -> bool:
        """Return whether a figure tells what was held or found by a case of which the generator was the limit."""
        if data.info.get("test") != selected.name:
            return False
        if selected.metric in (FOUND, FOUND_LOW, FOUND_HIGH):
            return limited_by_generator(data.info["find"]["trials"])
        return selected.metric in (HELD, HELD_VALUE, HELD_LEVEL) and data.info["name"] in self.limited


def _together(check: Check, several: Sequence[Judged]) -> Judged:
    """Return the verdict over points: the worst, with the figure that decides, and a reason that names the points."""
    if len(several) == 1:
        (only,) = several
        where = f"at {only.point}" if only.point else ""
        return Judged(only.verdict, only.figure, ": ".join(word for word in (where, only.reason) if word))
    verdict = min((each.verdict for each in several), key=_WORST.index)
    worst = [each for each in several if each.verdict == verdict]
    deciding = _farthest(check, worst)
    if verdict == PASSED:
        figure = evaluate.words(deciding.figure)
        return Judged(
            PASSED, deciding.figure, f"at each of {len(several)} points; nearest at {_where(deciding)}: {figure}"
        )
    told = [f"{_where(each)}: {_why(each)}" for each in worst[:MOST_TOLD]]
    more = [f"and {len(worst) - MOST_TOLD} more"] if len(worst) > MOST_TOLD else []
    does = "does not hold" if verdict == FAILED else "is not known"
    reason = f"it {does} at {len(worst)} of {len(several)} points: {'; '.join(told + more)}"
    return Judged(verdict, deciding.figure, reason)


def _where(judged: Judged) -> str:
    return judged.point or "what was done once"


def _why(judged: Judged) -> str:
    return evaluate.words(judged.figure) if judged.verdict == FAILED else judged.reason


def _farthest(check: Check, several: Sequence[Judged]) -> Judged:
    """Return the one whose figure is farthest from holding, or nearest to not holding."""
    known = [each for each in several if each.figure.value is not None]
    if not known:
        return several[0]
    pick = min if check.comparison in (">", ">=") else max
    return pick(known, key=lambda each: each.figure.value or 0.0)


def _of_time(selected: Selected) -> bool:
    """Return whether a slow generator can be to blame for a figure: for times and rates, not for wrong answers."""
    return selected.dimension in ("time", "rate", "bandwidth") or selected.field in ("missed", "unfinished")


def _same(given: str, found: str) -> bool:
    """Return whether a value's dimension suits that of samples: those without a unit take whatever has none."""
    return given == found or (given == checks.BARE and found in ("", "count")) or (given == "count" and found == "")


def _against(check: Check, figure: Figure, point: str = "") -> Judged:
    if figure.value is None:
        return Judged(UNKNOWN, figure, f"{figure.note or evaluate.NOTHING}: {figure.n} values", point)
    if check.holds(figure.value):
        return Judged(PASSED, figure, "", point)
    return Judged(FAILED, figure, f"{check.figure} is {evaluate.words(figure)}, not {check.threshold}", point)


def _of_rest(check: Check, rest: restless.Rest, point: str) -> Judged:
    """Return the verdict on a time to rest that is known only to be longer than it was waited for."""
    holds = rest.holds(check)
    if holds is None:
        return Judged(UNKNOWN, rest.figure, f"the system did not come to rest in time: {rest.figure.note}", point)
    if holds:
        return Judged(PASSED, rest.figure, "", point)
    return Judged(FAILED, rest.figure, f"{check.figure} is {evaluate.words(rest.figure)}, not {check.threshold}", point)


def _which(selected: Selected, named: Sequence[Whole], found: Sequence[Whole], known: Sequence[Whole]) -> str:
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
