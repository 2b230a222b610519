"""Contrasts in words, for screens and pages."""

from __future__ import annotations

import math
from collections.abc import Callable

from pileup.model.contrast import ALIKE, BETTER, NO_ANSWER, TOO_FEW, WORSE, ComparedSide, Contrast
from pileup.model.figure_words import amount
from pileup.model.figures import Figure
from pileup.model.units import counted, format_fraction


def plain_words(figure: Figure) -> str:
    """Return a figure without its interval: `24.7 ms`, `> 1 s` where it is only known to be larger, `no answer`."""
    if figure.value is None and figure.above is not None:
        return NO_ANSWER if math.isinf(figure.above) else f"> {amount(figure.above, figure.dimension)}"
    if figure.value is None:
        return TOO_FEW
    return amount(figure.value, figure.dimension)


def change_words(found: Contrast) -> str:
    """Return the relative change with its interval, the absolute one where there is none: `-1.2 % (-3.0 to +0.5)`."""
    relative = found.relative
    if relative.value is not None and (relative.interval or not found.difference.interval):
        return _with_interval(relative, lambda value: f"{value * 100:+.1f}", " %")
    return _with_interval(found.difference, lambda value: _signed(value, found.difference.dimension), "")


def _with_interval(figure: Figure, words: Callable[[float], str], unit: str) -> str:
    if figure.value is None:
        return "-"
    value = words(figure.value) + unit
    if figure.interval is None:
        return value
    low, high = figure.interval.low, figure.interval.high
    if math.isinf(high) and math.isinf(low):
        return value
    if math.isinf(high):
        return f"{value} ({words(low)} or more)"
    return f"{value} ({words(high)} or less)" if math.isinf(low) else f"{value} ({words(low)} to {words(high)})"


def _signed(value: float, dimension: str) -> str:
    return ("+" if value > 0 else "") + amount(value, dimension)


def verdict_words(found: Contrast, smallest: float) -> str:
    """Return the verdict of one contrast for people."""
    if found.verdict == ALIKE and found.alike:
        return f"the same within {format_fraction(smallest)}"
    if found.verdict in (BETTER, WORSE) and not found.matters:
        return f"slightly {found.verdict}"
    return found.verdict


def brief_words(found: Contrast) -> str:
    """Return a change without its interval: `read p99 +23.2 %`."""
    relative = found.relative
    if found.verdict == NO_ANSWER:
        return f"{found.name} {found.metric} {plain_words(found.candidate)}"
    if relative.value is not None and (relative.interval or not found.difference.interval):
        return f"{found.name} {found.metric} {relative.value * 100:+.1f} %"
    return f"{found.name} {found.metric} {_signed(found.difference.value or 0.0, found.difference.dimension)}"


def sentence(found: ComparedSide, smallest: float) -> str:
    """Return what a comparison says in a sentence: `Regressed: 3 of 45 metrics are worse by 5 % or more, ...`."""
    much, total = format_fraction(smallest), counted(len(found.contrasts), "metric")
    worse, better = found.worse, found.better
    slight = [each for each in found.contrasts if each.verdict in (BETTER, WORSE) and not each.matters]
    unanswered = sum(each.verdict == NO_ANSWER for each in found.contrasts)
    rest = f"; {counted(unanswered, 'metric has', 'metrics have')} no answer on a side" if unanswered else ""
    if worse or better:
        word, side = ("Regressed", worse) if worse else ("Improved", better)
        verb = f"{'is' if len(side) == 1 else 'are'} {WORSE if worse else BETTER}"
        also = f"; {len(better)} {'is' if len(better) == 1 else 'are'} {BETTER}" if worse and better else ""
        most = brief_words(max(side, key=_size))
        return f"{word}: {len(side)} of {total} {verb} by {much} or more, the most {most}{also}{rest}."
    if slight:
        return f"Changed by less than {much}: {len(slight)} of {total}{rest}."
    judged = [each for each in found.contrasts if each.p is not None]
    if not judged:
        return f"Nothing can be said: no figure of {total} has an interval on both sides{rest}."
    if all(each.alike for each in judged):
        return f"The same within {much}: {counted(len(judged), 'metric')}{rest}."
    return f"No change of {much} or more detected ({counted(len(judged), 'metric')}){rest}."


def _size(found: Contrast) -> float:
    return abs(found.relative.value if found.relative.value is not None else found.difference.value or 0.0)
