"""When a case has failed.

A check: when any iteration did not pass. A load that is pressed for a time: when nothing passed, or when more than 1 %
of what was due did not pass; what `fail_when` says takes the place of that 1 %, and `never` of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pileup.model import check
from pileup.model.record import ERROR, FAILED, PASSED, UNKNOWN, CaseOutcome, Frame, Phase
from pileup.model.results import Counts
from pileup.model.suite import NEVER
from pileup.model.units import format_count, format_fraction
from pileup.stats.frames.totals import Measured, measure
from pileup.stats.verdicts import resolve
from pileup.stats.verdicts.judge import against

CHECKS = ("once", "times")
MOST = 0.01
"""Share of what was due that may not pass under a load that does not say."""
Ended = tuple[CaseOutcome, str]


def judge_case(
    info_case: dict[str, Any],
    frames: Iterable[Frame],
    phase: int = Phase.MEASURE,
    first_error: str | Callable[[], str] = "",
) -> Ended:
    """Return how a case ended and why, from its frames. `info_case` is its entry in run.json.

    `first_error` is asked for, when something did not pass, because frames carry no messages.
    """
    measured = measure(frames, phase)
    counts = measured.counts()
    if counts.ended == 0 and counts.missed == 0:
        went_on = any(tally.done or tally.moved for tally in measured.iterations())
        return (PASSED, "no iteration was due in the measured time") if went_on else (UNKNOWN, "nothing was measured")

    def message() -> str:
        return first_error if isinstance(first_error, str) else first_error()

    if _is_check(info_case):
        return _judge_check(counts, message)
    return _judge_load(info_case, measured, counts, message)


def by_share(info_case: dict[str, Any]) -> bool:
    """Return whether a case fails by the share that did not pass."""
    return not _is_check(info_case) and not info_case.get("fail_when")


def _is_check(info_case: dict[str, Any]) -> bool:
    """Return whether every iteration must pass: of so many times by several clients, too, but for `fail_when`."""
    counted = info_case.get("times") and not info_case.get("for") and not info_case.get("fail_when")
    return info_case.get("load_kind") in CHECKS or bool(counted)


def _judge_check(counts: Counts, message: Callable[[], str]) -> Ended:
    wrong = counts.ended - counts.passed
    if wrong == 0:
        return PASSED, ""
    if counts.ended == 1:
        return FAILED, message() or not_passed(counts)
    told = f"{format_count(wrong)} of {format_count(counts.ended)} iterations did not pass"
    return FAILED, _joined(f"{told} ({not_passed(counts)})", message())


def _judge_load(info_case: dict[str, Any], measured: Measured, counts: Counts, message: Callable[[], str]) -> Ended:
    text = info_case.get("fail_when")
    if text == NEVER:
        return PASSED, not_passed(counts)
    if counts.passed == 0:
        return FAILED, _joined(f"nothing passed ({not_passed(counts)})", message())
    if not text:
        return _by_share(counts, message, most_of(info_case))
    return _by_condition(str(text), info_case, measured, message if counts.passed < counts.ended else str)


def most_of(info_case: dict[str, Any]) -> float:
    """Return what share may not pass: of a level that was looked for what its search allows."""
    return float((info_case.get("find") or {}).get("not_passed", MOST))


def _by_share(counts: Counts, message: Callable[[], str], most: float) -> Ended:
    due = counts.ended + counts.missed
    if due - counts.passed <= most * due:
        return PASSED, not_passed(counts)
    told = f"{format_fraction(1 - counts.passed / due)} did not pass ({not_passed(counts)})"
    return FAILED, _joined(f"{told}, more than {format_fraction(most)}", message())


def _by_condition(text: str, info_case: dict[str, Any], measured: Measured, message: Callable[[], str]) -> Ended:
    try:
        wanted = check.parse(text)
        selected = check.resolve(wanted, {info_case["test"]}, set())
    except ValueError as mistake:
        return ERROR, f"fail_when: {mistake}"
    if selected.kind != "test":
        return ERROR, f"fail_when: {wanted.figure} is a number that the test reports; expected a figure of its load"
    part = resolve.Part(measured, timeout=info_case.get("timeout"))
    figure = resolve.of_test(wanted, selected, [part])
    if against(wanted, figure).met:
        return FAILED, _joined(f"{text}: {resolve.words(figure)}", message())
    return PASSED, not_passed(measured.counts())


def not_passed(counts: Counts) -> str:
    """Return what did not pass in words: `3 failed, 1 missed`; empty when all passed."""
    names = ("failed", "refused", "ambiguous", "unfinished", "lost", "missed")
    return ", ".join(f"{format_count(getattr(counts, name))} {name}" for name in names if getattr(counts, name))


def _joined(told: str, message: str) -> str:
    return f"{told}: {message}" if message else told
