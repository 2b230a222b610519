"""A run in one sentence: what was tested, the verdict, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pileup.model.bottleneck import LimitedBy
from pileup.model.exits import ExitCode
from pileup.model.figure_words import words
from pileup.model.record import NOT_RUN, PASSED, UNAVAILABLE, CaseOutcome
from pileup.model.record import UNKNOWN as CASE_UNKNOWN
from pileup.model.results import CaseResult, CriterionResult, RunResults
from pileup.model.units import counted, format_time
from pileup.model.verdict import RunVerdict, Verdict

NAMED = 3
"""Most tests and targets that are named; more are only counted."""
LONGEST = 200
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The three parts of the sentence; `str` joins them."""

    tested: str
    """`Tested se (webdav) with read and write for 41 s`."""
    verdict: RunVerdict
    why: str
    """`criterion C2 is not met: 0.2 %, wanted < 0.1 %`."""

    def __str__(self) -> str:
        return f"{self.tested}: {self.verdict}, {self._joint}{self.why}."

    @property
    def _joint(self) -> str:
        return "" if self.verdict == RunVerdict.PASSED else "because "


def headline(results: RunResults) -> Headline:
    """Return what was tested, the verdict, and what decided it."""
    return Headline(_tested(results), results.verdict, _why(results).rstrip("."))


def _tested(results: RunResults) -> str:
    run = results.run
    did = "Simulated" if run.simulated else "Tested"
    kinds = {target.name: target.kind for target in run.targets}
    used = dict.fromkeys(name for case in results.cases for name in (*case.targets.values(), case.target) if name)
    aims = [f"{name} ({kinds[name]})" if kinds.get(name) else name for name in used]
    tests = list(dict.fromkeys(case.test for case in results.cases))
    told = f"{did} {_listed(aims, 'target')}" if aims else did
    told += f" with {_listed(tests, 'test')}" if tests else ""
    told += f" at {counted(len(results.points), 'point')}" if len(results.points) > 1 else ""
    return told + (f" for {format_time(run.ended - run.started)}" if run.ended and run.started else "")


def _listed(names: Sequence[str], one: str, several: str = "") -> str:
    if len(names) > NAMED:
        return counted(len(names), one, several)
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _why(results: RunResults) -> str:
    run = results.run
    match results.exit_code:
        case ExitCode.INTERNAL | ExitCode.STOPPED_BY_USER | ExitCode.STOPPED_BY_LIMIT:
            return _cut(f"it was stopped: {run.stopped}" if run.stopped else "it was stopped")
        case ExitCode.TARGET_UNREACHABLE:
            return _of_cases(results.cases, (UNAVAILABLE,))
        case ExitCode.CASE_FAILED:
            failed = _of_cases(results.cases, (CaseOutcome.FAILED, CaseOutcome.ERROR))
            return failed or _of_cases(results.cases, (NOT_RUN,))
        case ExitCode.CRITERION_NOT_MET:
            return _of_criteria(results.criteria, missed=True) or _unequal(results)
        case ExitCode.PASSED:
            return _passed(results)
        case _:
            return _unknown(results)


def _of_cases(cases: Iterable[CaseResult], outcomes: Iterable[CaseOutcome]) -> str:
    """Return the first case with this outcome, its reason, and how many others have it."""
    wanted = set(outcomes)
    found = [case for case in cases if case.outcome in wanted]
    if not found:
        return ""
    first = found[0]
    many = f" (and {counted(len(found) - 1, 'more case')})" if len(found) > 1 else ""
    reason = f": {_cut(first.reason)}" if first.reason else ""
    did = {NOT_RUN: "did not run", UNAVAILABLE: "could not reach its target", CASE_UNKNOWN: "has an unknown result"}
    return f"case {first.name}{many} {did.get(first.outcome, 'failed')}{reason}"


def _of_criteria(criteria: Iterable[CriterionResult], *, missed: bool) -> str:
    """Return the first criterion that is not met, or whose verdict is unknown, with its figure."""
    found = [each for each in criteria if (each.verdict.missed if missed else _open(each))]
    if not found:
        return ""
    first, many = found[0], len(found) - 1
    more = f"; so {'is' if many == 1 else 'are'} {counted(many, 'other criterion', 'other criteria')}" if many else ""
    if missed:
        return _cut(f"criterion {first.id} is not met ({words(first.figure)}, wanted {first.threshold}){more}")
    state = "unknown" if first.verdict is Verdict.UNKNOWN else f"{first.verdict}: the interval is too wide"
    reason = f" ({first.reason})" if first.reason else ""
    return _cut(f"criterion {first.id} is {state}{reason}{more}")


def _open(each: CriterionResult) -> bool:
    return each.verdict is Verdict.UNKNOWN or not each.verdict.shown


def _unequal(results: RunResults) -> str:
    for each in results.equivalences:
        if each.verdict is not RunVerdict.PASSED:
            return _cut(f"{', '.join(each.tests)} gave different answers: {each.reason}")
    return "a criterion is not met"


def _passed(results: RunResults) -> str:
    judged = [each for each in results.criteria if each.verdict is not Verdict.NOT_COVERED]
    if judged:
        met = sum(each.verdict.met for each in judged)
        unsure = [each.id for each in judged if each.verdict is Verdict.MET_NOT_SHOWN]
        note = (
            f" ({_listed(unsure, 'of them', 'of them')} {'is' if len(unsure) == 1 else 'are'} met, not shown)"
            if unsure
            else ""
        )
        return f"{met} of {counted(len(judged), 'criterion', 'criteria')} met{note}"
    passed = sum(case.outcome is PASSED for case in results.cases)
    return f"{passed} of {counted(len(results.cases), 'case')} passed; there are no criteria"


def _unknown(results: RunResults) -> str:
    pileup = [row for row in results.bottlenecks if row.by is LimitedBy.PILEUP]
    if not results.run.has_ended:
        return "it has not ended"
    told = _of_criteria(results.criteria, missed=False) or _of_cases(results.cases, (CASE_UNKNOWN,))
    if told:
        return told
    if results.run.fault_problems:
        return _cut(f"a fault of the suite could not be injected: {results.run.fault_problems[0]}")
    if pileup:
        return f"pileup was the bottleneck of {pileup[0].case}"
    for each in results.equivalences:
        if each.verdict is RunVerdict.UNKNOWN:
            return _cut(f"it is not known whether {', '.join(each.tests)} give equal answers: {each.reason}")
    return _cut(results.notes[-1] if results.notes else "nothing was measured")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
