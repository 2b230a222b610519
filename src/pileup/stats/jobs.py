"""How jobs and recalls ended: final states, the share that failed with its interval, and why.

By the detached operations `job`, and `recall`: a file that a tape system was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pileup.model.cause import Cause
from pileup.model.manifest import Manifest
from pileup.model.results import CaseResult, OperationResult
from pileup.model.submissions import STATES, JobReason, JobsResult
from pileup.record.operations import BROKEN_OFF
from pileup.stats.audits import share

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

OPERATIONS = "'job', 'recall'"
GOES_ON = "operation = 'job' AND outcome = 'unfinished'"
"""A job that is not over at the end of the run has no reason for that."""
CANCELLED = Cause.CANCELLED.word
WORDS = {
    "passed": "completed",
    "refused": "refused",
    "ambiguous": "no answer",
    "unfinished": "not over at the end",
    "lost": "lost with its place",
}
"""Outcome -> what it says of a job; of any other the cause says more."""
CAUSES = {CANCELLED: CANCELLED, Cause.FORGOTTEN.word: "forgotten by the system"}
UNEXPLAINED = {"passed", "lost"}
"""Outcomes without a reason that is worth reading."""
NAMES = 5
"""Names that are shown of each reason."""
MOST_REASONS = 50
Group = tuple[str, str, str, int, str]
"""Outcome, message, cause, how many jobs ended so, and the names of some."""


def jobs(connection: DuckDBPyConnection, run: Manifest) -> tuple[JobsResult, ...]:
    """Return how the jobs of each test ended, in the order of the suite; `connection` has the view `operations`."""
    order = list(dict.fromkeys(case.test or case.name for case in run.cases))
    rows = connection.execute(
        f"""SELECT test, outcome, CASE WHEN {GOES_ON} THEN '' ELSE error END AS why, cause, count(*),
            array_to_string(min(key, {NAMES}), ', ') FROM caused
        WHERE operation IN ({OPERATIONS}) AND parent <> 0 AND side = 'client' AND phase <> '{BROKEN_OFF}'
        GROUP BY test, outcome, why, cause ORDER BY count(*) DESC, min(start)"""  # noqa: S608  our own words
    ).fetchall()
    found: dict[str, list[Group]] = {}
    for test, outcome, error, cause, count, name in rows:
        found.setdefault(str(test), []).append((str(outcome), str(error or ""), str(cause), int(count), str(name)))
    return tuple(_result(test, found[test]) for test in sorted(found, key=lambda test: _place(order, test)))


def with_cancelled(connection: DuckDBPyConnection, cases: Iterable[CaseResult]) -> tuple[CaseResult, ...]:
    """Return cases with the number of cancelled jobs among the failures of their detached operations."""
    found = list(cases)
    if not any(each.detached and each.counts.failed for case in found for each in case.operations):
        return tuple(found)
    rows = connection.execute(
        f"""SELECT case_id, operation, count(*) FROM caused
        WHERE parent <> 0 AND side = 'client' AND phase = 'measure' AND outcome = 'failed' AND cause = '{CANCELLED}'
        GROUP BY case_id, operation"""  # noqa: S608  our own word
    ).fetchall()
    counts = {(int(number), str(operation)): int(count) for number, operation, count in rows}

    def told(case: CaseResult, each: OperationResult) -> OperationResult:
        count = counts.get((case.id, each.operation), 0) if each.detached else 0
        return replace(each, cancelled=min(count, each.counts.failed)) if count else each

    return tuple(replace(case, operations=tuple(told(case, each) for each in case.operations)) for case in found)


def _place(order: list[str], test: str) -> int:
    return order.index(test) if test in order else len(order)


def _result(test: str, groups: list[Group]) -> JobsResult:
    states: Counter[str] = Counter()
    reasons: list[JobReason] = []
    for outcome, error, cause, count, name in groups:
        states[_state(outcome, cause)] += count
        if outcome not in UNEXPLAINED and (error or outcome not in WORDS):
            reasons.append(JobReason(error or outcome, count, name))
    bad = states["failed"] + states[CAUSES[Cause.FORGOTTEN.word]]
    judged = states["completed"] + bad  # who cancels a job asks for its end
    return JobsResult(
        test,
        {word: states[word] for word in STATES if states[word]},
        share(bad, judged),
        tuple(reasons[:MOST_REASONS]),
        max(0, len(reasons) - MOST_REASONS),
    )


def _state(outcome: str, cause: str) -> str:
    if outcome in WORDS:
        return WORDS[outcome]
    return CAUSES.get(cause, "failed")
