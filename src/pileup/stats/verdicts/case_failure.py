"""When a case has failed.

A check: when any iteration did not pass. A load that is pressed for a time: when nothing passed, or when more than 1 %
of what was due did not pass. Of both: what `fail_when` says takes the place of the share, and `never` of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pileup.model import check
from pileup.model.conditions import NEVER
from pileup.model.figure_words import words
from pileup.model.figures import Counts
from pileup.model.manifest import CaseEntry
from pileup.model.record import ERROR, FAILED, MISSED, NOT_PASSED, PASSED, UNKNOWN, CaseOutcome, Frame, Phase
from pileup.model.units import format_count, format_fraction
from pileup.stats.frames.totals import Measured, measure
from pileup.stats.verdicts import resolve
from pileup.stats.verdicts.judge import against

CHECKS = ("once", "times")
MOST = 0.01
"""Share of what was due that may not pass under a load that does not say."""
Ended = tuple[CaseOutcome, str]


def judge_case(
    entry: CaseEntry,
    frames: Iterable[Frame],
    phase: int = Phase.MEASURE,
    commonest_error: str | Callable[[], str] = "",
) -> Ended:
    """Return how a case ended and why, from its frames. `entry` is its entry in run.json.

    `commonest_error` is asked for, when something did not pass, because frames carry no messages.
    """
    measured = measure(frames, phase)
    counts = measured.counts()
    if counts.ended == 0 and counts.missed == 0:
        went_on = any(tally.done or tally.moved for tally in measured.iterations())
        return (PASSED, "no iteration was due in the measured time") if went_on else (UNKNOWN, "nothing was measured")

    def message() -> str:
        return commonest_error if isinstance(commonest_error, str) else commonest_error()

    if _is_check(entry):
        return _judge_check(counts, message)
    return _judge_load(entry, measured, counts, message)


def by_share(entry: CaseEntry) -> bool:
    """Return whether a case fails by the share that did not pass."""
    return not _is_check(entry) and not entry.fail_when


def _is_check(entry: CaseEntry) -> bool:
    """Return whether every iteration must pass: of so many times by several clients, too, but not with `fail_when`."""
    counted = entry.times and not entry.for_
    return not entry.fail_when and (entry.load_kind in CHECKS or bool(counted))


def _judge_check(counts: Counts, message: Callable[[], str]) -> Ended:
    wrong = counts.ended - counts.passed
    if wrong == 0:
        return PASSED, ""
    if counts.ended == 1:
        return FAILED, message() or not_passed(counts)
    told = f"{format_count(wrong)} of {format_count(counts.ended)} iterations did not pass"
    return FAILED, _joined(f"{told} ({not_passed(counts)})", message())


def _judge_load(entry: CaseEntry, measured: Measured, counts: Counts, message: Callable[[], str]) -> Ended:
    text = entry.fail_when
    if text == NEVER:
        return PASSED, not_passed(counts)
    if counts.passed == 0:
        return FAILED, _joined(f"nothing passed ({not_passed(counts)})", message())
    if not text:
        return _by_share(counts, message, most_of(entry))
    return _by_condition(text, entry, measured, message if counts.passed < counts.ended else str)


def most_of(entry: CaseEntry) -> float:
    """Return what share may not pass: of a level that was looked for what its search allows."""
    return MOST if entry.find is None or entry.find.not_passed is None else entry.find.not_passed


def _by_share(counts: Counts, message: Callable[[], str], most: float) -> Ended:
    due = counts.ended + counts.missed
    if due - counts.passed <= most * due:
        return PASSED, not_passed(counts)
    told = f"{format_fraction(1 - counts.passed / due)} did not pass ({not_passed(counts)})"
    return FAILED, _joined(f"{told}, more than {format_fraction(most)}", message())


def _by_condition(text: str, entry: CaseEntry, measured: Measured, message: Callable[[], str]) -> Ended:
    try:
        wanted = check.parse(text)
        selected = check.resolve(wanted, {entry.test}, set())
    except ValueError as mistake:
        return ERROR, f"fail_when: {mistake}"
    if selected.kind != "test":
        return ERROR, f"fail_when: {wanted.figure} is a number that the test reports; expected a figure of its load"
    part = resolve.Part(measured, timeout=entry.timeout)
    figure = resolve.of_test(wanted, selected, [part])
    if against(wanted, figure).met:
        return FAILED, _joined(f"{text}: {words(figure)}", message())
    return PASSED, not_passed(measured.counts())


def not_passed(counts: Counts) -> str:
    """Return what did not pass in words: `3 failed, 1 missed`; empty when all passed."""
    names = [name for name in (*NOT_PASSED, MISSED) if getattr(counts, name)]
    return ", ".join(f"{format_count(getattr(counts, name))} {name}" for name in names)


def _joined(told: str, message: str) -> str:
    return f"{told}: {message}" if message else told
