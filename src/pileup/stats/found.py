"""The highest level that meets a criterion: what a search told of its trials, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pileup.model import check as checks
from pileup.model.finding import level_words
from pileup.model.results import Found, TrialResult
from pileup.model.units import format_count
from pileup.stats.knee import Evidence

LIKELY = 0.5
"""The answer lies beyond a bound when that is more probable than not."""


def found(info: dict[str, Any]) -> Found | None:
    """Return what was found; None for a case that looks for nothing. `info` is its entry in run.json."""
    told = info.get("find")
    if not told:
        return None
    check = checks.parse(told["while"])
    low, high = told["between"]
    trials = tuple(TrialResult(**each) for each in told["trials"])
    known = [(each.level, each.passed) for each in trials if each.passed is not None]
    knee = Evidence(low, high, known).knee() if known else None
    beyond = ""
    if knee is not None:
        beyond = "below" if knee.below > LIKELY else "above" if knee.above > LIKELY else ""

    def level(value: float) -> float:
        within = min(max(value, low), high)
        return float(int(within)) if told["raise"] == "clients" else within

    return Found(
        check=told["while"],
        figure=check.figure,
        dimension=check.dimension,
        threshold=check.value,
        by=told["raise"],
        level=level(knee.level) if knee and beyond != "below" else None,
        low=level(knee.low) if knee and beyond != "below" else None,
        high=level(knee.high) if knee and beyond != "below" else None,
        beyond=beyond,
        measured=told.get("measured"),
        trials=trials,
    )


def limited_by_generator(trials: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether what was found may be the limit of the generator: trials, as run.json has them, say so and count,
    or none says that the system was it.
    """
    limited = [each for each in trials if each.get("limited")]
    return any(each["passed"] is False for each in limited) or (
        bool(limited) and not any(each["passed"] is False for each in trials)
    )


def found_words(found: Found) -> str:
    """Return what was found in a sentence or two, e.g. for the notes of a case."""
    number = f"{len(found.trials)} trial{'' if len(found.trials) == 1 else 's'}"
    if not found.trials:
        return f"{found.check}: no trial was made"
    if found.level is None or found.low is None or found.high is None:
        why = found.trials[-1].why
        if found.beyond == "below":
            least = level_words(min(each.level for each in found.trials), found.by)
            return f"{found.check} does not hold even at {least}, by {number}"
        return f"nothing is known of where {found.check} holds, by {number}{f': {why}' if why else ''}"
    answer = level_words(found.level, found.by)
    if found.beyond == "above":
        told = f"{found.check} holds even at the highest level that was allowed, {answer}, by {number}"
        if limited_by_generator([asdict(each) for each in found.trials]):
            best = level_words(max(each.level for each in found.trials if each.passed), found.by)
            told = f"{found.check} holds at {best} at least, by {number}"
    else:
        low, high = (level_words(edge, found.by) for edge in (found.low, found.high))
        told = f"{found.check} holds up to {answer} (95 % interval {low} to {high}), by {number}"
    limited = sum(each.limited for each in found.trials)
    if limited_by_generator([asdict(each) for each in found.trials]):
        those = "one" if limited == 1 else format_count(limited)
        told += f"; in {those} that did not pass the generator was the limit, so the system may bear more"
    if found.measured is None:
        return f"{told}; the search was not ended"
    return f"{told}; measured at {level_words(found.measured, found.by)}"
