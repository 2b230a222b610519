"""Criteria: the figure, its threshold, and the verdict passed, failed, unknown or not checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pileup.model import check as checks
from pileup.model.check import Check, Selected
from pileup.model.results import CriterionResult, Figure
from pileup.record import Operations
from pileup.stats import evaluate
from pileup.stats.cases import CaseData
from pileup.stats.evaluate import NOTHING, Part, to_base
from pileup.stats.monitors import Whole

PASSED, FAILED, UNKNOWN, NOT_CHECKED = "passed", "failed", "unknown", "not checked"
_WORST = (FAILED, UNKNOWN, PASSED)


@dataclass(frozen=True, slots=True)
class Judged:
    """One figure against the threshold."""

    verdict: str
    figure: Figure
    reason: str = ""


@dataclass(slots=True)
class Criteria:
    """Judges the criteria of a run.

    `limited` names the cases of which the generator was the limit, `monitors` those of the suite, with samples or not.
    """

    cases: list[CaseData]
    series: list[Whole]
    operations: Operations
    limited: frozenset[str] = frozenset()
    monitors: frozenset[str] = frozenset()

    def judge(self, criterion: dict[str, Any]) -> CriterionResult:
        """Return a criterion (an entry of run.json) with its verdict."""
        text, threshold = criterion.get("check") or "", ""
        if not text:
            judged = Judged(NOT_CHECKED, Figure(None, note="not checked"), "it has no check")
        else:
            try:
                check = checks.parse(text)
                threshold = check.threshold
                judged = self._judge(check)
            except ValueError as mistake:
                judged = Judged(UNKNOWN, Figure(None, note="no figure"), str(mistake))
        coverage = criterion.get("coverage", "full")
        verdict = NOT_CHECKED if coverage == "none" else judged.verdict
        figure, reason = judged.figure, judged.reason
        return CriterionResult(criterion["id"], criterion["says"], text, coverage, verdict, figure, threshold, reason)

    def _judge(self, check: Check) -> Judged:
        tests = {data.info.get("test", "") for data in self.cases}
        if self._is_reported(check):
            tests = set()
        selected = checks.resolve(check, tests, self._monitors(check, tests))
        selected = self._operation_after_all(check, selected)
        if selected.kind == "monitor":
            return self._of_monitor(check, selected)
        cases = [data for data in self.cases if data.info.get("test") == selected.name]
        judged = [self._of_case(check, selected, data) for data in cases]
        return min(judged, key=lambda each: _WORST.index(each.verdict))

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

    def _of_case(self, check: Check, selected: Selected, data: CaseData) -> Judged:
        part = Part(data.measured, data.window, data.frames, self._rows(data))
        figure = evaluate.of_test(check, selected, [part])
        judged = _against(check, figure)
        name = data.info["name"]
        if judged.verdict == FAILED and name in self.limited and _of_time(selected):
            return Judged(UNKNOWN, figure, f"the generator was the limit of {name}: the figure is not the system's")
        where = f"in {name}" if name != selected.name else ""
        return Judged(
            judged.verdict, figure, " ".join(part for part in (judged.reason, where) if part and judged.reason)
        )

    def _rows(self, data: CaseData) -> evaluate.Rows:
        """Return how to get the values of single operations of a case."""

        def rows(operation: str | None, field: str) -> NDArray[np.float64]:
            value = {"response": '"end" - intended', "service": '"end" - start'}.get(field, field)
            which = "parent = 0" if operation is None else "operation = ?"
            query = f"""SELECT ({value})::DOUBLE AS value FROM operations WHERE case_id = {data.info["id"]} AND {which}
                AND outcome = 'passed' AND phase = 'measure' AND side = 'client' ORDER BY start, id"""  # noqa: S608
            with self.operations.connect() as connection:
                found = connection.execute(query, [] if operation is None else [operation]).fetchnumpy()
            return np.asarray(found["value"], dtype=float)

        return rows

    def _of_monitor(self, check: Check, selected: Selected) -> Judged:
        named = [each for each in self.series if (each.monitor, each.metric) == (selected.name, selected.metric)]
        found = [each for each in named if each.has(selected.labels)]
        if len(found) != 1:
            return Judged(UNKNOWN, Figure(None, note=NOTHING), _which(selected, named, found, self.series))
        begin, end = _span(self.cases)
        values, dimension = to_base(found[0].between(begin, end), found[0].unit)
        figure = evaluate.of_values(check, values, dimension)
        fits = check.function == "count" or check.value == 0 or _same(check.dimension, dimension)
        if not fits:
            given, wanted = check.dimension or "number without a unit", found[0].unit or "no unit"
            reason = f"the value is a {given}, the samples have {wanted}; give the value the unit of the samples"
            return Judged(UNKNOWN, figure, reason)
        return _against(check, figure)


def _of_time(selected: Selected) -> bool:
    """Return whether a slow generator can be to blame for a figure: for times and rates, never for wrong answers."""
    return selected.dimension in ("time", "rate", "bandwidth") or selected.field in ("missed", "unfinished")


def _same(given: str, found: str) -> bool:
    """Return whether a value's dimension suits that of samples: those without a unit take whatever has none."""
    return given == found or (given == checks.BARE and found in ("", "count")) or (given == "count" and found == "")


def _against(check: Check, figure: Figure) -> Judged:
    if figure.value is None:
        return Judged(UNKNOWN, figure, f"{figure.note or NOTHING}: {figure.n} values")
    if check.holds(figure.value):
        return Judged(PASSED, figure)
    return Judged(FAILED, figure, f"{check.figure} is {evaluate.words(figure)}, not {check.threshold}")


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


def _span(cases: Sequence[CaseData]) -> tuple[int | None, int | None]:
    """Return when measuring began first and ended last in the run; None when it never did."""
    windows = [data.window for data in cases if data.window is not None]
    if not windows:
        return None, None
    return min(window.begin for window in windows), max(window.end for window in windows)
