"""The highest level that meets some conditions: the trials of a search, and their joint result."""

from __future__ import annotations

from collections.abc import Sequence

from pileup.model import conditions
from pileup.model.loads.levels import asked_words, level_words, levels_words
from pileup.model.manifest import CaseEntry, TrialResult
from pileup.model.results import FoundLevel, SoughtCondition
from pileup.model.units import format_count
from pileup.stats.loads.knee import Evidence, Knee

LIKELY = 0.5
"""The answer lies beyond a bound when that is more probable than not."""
OLD_MOST = 1.0
"""Records without `not_passed` were made when the condition alone judged."""


def found(case: CaseEntry) -> FoundLevel | None:
    """Return what was found; None for a case without a search."""
    find = case.find
    if find is None:
        return None
    low, high = find.between
    trials, measurements = find.trials, find.measurements
    knee = knee_of((low, high), trials, measurements)
    beyond = ""
    if knee is not None:
        beyond = "below" if knee.below > LIKELY else "above" if knee.above > LIKELY else ""

    def level(value: float) -> float:
        within = min(max(value, low), high)
        return float(int(within)) if find.raise_ == "clients" else within

    borne = confirmed(measurements) if measurements else find.measured
    known = knee if knee is not None and beyond != "below" else None
    return FoundLevel(
        check=find.while_,
        conditions=tuple(
            SoughtCondition(each.text, each.figure, each.dimension, each.value)
            for each in conditions.parse(find.while_)
        ),
        not_passed=OLD_MOST if find.not_passed is None else find.not_passed,
        by=find.raise_,
        level=borne,
        limit=level(known.level) if known else None,
        low=level(known.low) if known else None,
        high=level(known.high) if known else None,
        beyond=beyond,
        measured=find.measured,
        trials=trials,
        measurements=measurements,
    )


def knee_of(
    between: tuple[float, float], trials: Sequence[TrialResult], measurements: Sequence[TrialResult]
) -> Knee | None:
    """Return where the conditions begin to fail; None if the trials do not show it.

    A measurement that did not meet them is a trial like any other. One that did is none: it was made where they were
    known to be met.
    """
    failed = [each for each in measurements if each.passed is False and not each.limited]
    known = [(each.level, each.passed) for each in (*trials, *failed) if each.passed is not None]
    return Evidence(*between, known).knee() if known else None


def confirmed(measurements: Sequence[TrialResult]) -> float | None:
    """Return the level that was measured last if it did not miss the conditions there; None when it did."""
    if not measurements or measurements[-1].passed is False:
        return None
    return measurements[-1].level


def limited_by_generator(trials: Sequence[TrialResult]) -> bool:
    """Return whether what was found may be the limit of pileup: trials say so and count, or none says that the
    system was it.
    """
    limited = [each for each in trials if each.limited]
    return any(each.passed is False for each in limited) or (
        bool(limited) and not any(each.passed is False for each in trials)
    )


def found_words(found: FoundLevel) -> str:
    """Return what was found in a sentence or two, e.g. for the notes of a case."""
    number = f"{len(found.trials)} trial{'' if len(found.trials) == 1 else 's'}"
    asked = asked_words(found.check, found.not_passed)
    if not found.trials:
        return f"{asked}: no trial was made"
    if found.limit is None or found.low is None or found.high is None:
        why = found.trials[-1].why
        if found.beyond == "below":
            least = level_words(min(each.level for each in found.trials), found.by)
            return f"{asked} does not hold even at {least}, by {number}"
        return f"nothing is known of where {asked} holds, by {number}{f': {why}' if why else ''}"
    told = f"{asked}: {_limit_words(found)}, by {number}"
    limited = sum(each.limited for each in found.trials)
    if limited_by_generator(found.trials):
        those = "one" if limited == 1 else format_count(limited)
        told += f"; in {those} that did not pass pileup was the bottleneck, so the system may sustain more"
    return f"{told}; {_measured_words(found)}"


def _limit_words(found: FoundLevel) -> str:
    if found.limit is None or found.low is None or found.high is None:
        return ""
    limit = level_words(found.limit, found.by)
    if found.beyond != "above":
        return f"the limit is {limit} (95 % interval {levels_words(found.by, (found.low, found.high))})"
    if limited_by_generator(found.trials):
        best = level_words(max(each.level for each in found.trials if each.passed), found.by)
        return f"it holds at {best} at least"
    return f"it holds even at the highest level that was allowed, {limit}"


def _measured_words(found: FoundLevel) -> str:
    """Return what measuring the level showed."""
    if found.measured is None:
        return "the search was not ended"
    level = level_words(found.measured, found.by)
    if not found.measurements:
        return f"measured at {level}"
    last = found.measurements[-1]
    higher = [level_words(each.level, found.by) for each in found.measurements[:-1]]
    before = f" after it did not at {', '.join(higher)}" if higher else ""
    if last.passed:
        return f"measured at {level}, where it holds{before}"
    if last.passed is None:
        return f"measured at {level}, which does not show whether it holds there ({last.why})"
    return f"not confirmed: measured at {level} it does not hold ({last.why})"
