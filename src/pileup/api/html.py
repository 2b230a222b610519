"""What a notebook shows of a run: HTML without a script, its colours those of the notebook, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from pileup.api.sketch import sketch
from pileup.model.figures import Figure
from pileup.model.headline import headline
from pileup.model.marks import Tone, mark
from pileup.model.results import CaseResult, OperationResult, RunResults
from pileup.stats import amount, unanswered, words

GOOD, BAD, DOUBT = "#2e7d32", "#c62828", "#b26a00"
"""Readable on white and on black."""
COLOURS = {Tone.GOOD: GOOD, Tone.BAD: BAD, Tone.UNSURE: DOUBT}
STYLE = "text-align:left;padding:2px 12px 2px 0;border:0;vertical-align:top"
MOST = 50
"""Rows of a table that are shown."""
FEWER = (MOST, 15, 5, 2)
"""The same for all tables of a run, tried one after another until it is small enough."""
LARGEST = 50_000
"""Bytes of a run: a notebook keeps them with its cell."""
LONGEST = 120
"""Characters of a text in a cell."""
NOTES = 5
QUANTILES = (0.5, 0.9, 0.99)


def run(results: RunResults) -> str:
    """Return the sentence of a run, its criteria, a picture of it and its figures, in at most LARGEST bytes."""
    for most in FEWER:
        page = _run(results, most)
        if len(page.encode()) <= LARGEST:
            break
    return page


def _run(results: RunResults, most: int) -> str:
    parts = [sentence(str(headline(results)), results.verdict), notes([_which(results)]), notes(results.notes[:NOTES])]
    if results.criteria:
        judged = [(each.id, each.says, words(each.figure), each.threshold, each.verdict) for each in results.criteria]
        parts.append(table(("Criterion", "Says", "Figure", "Wanted", "Verdict"), judged, most))
    parts.append(sketch(results, BAD))
    if results.cases:
        titles = ("Case", "Outcome", "Passed", "Rate", "Mean", "p50", "p90", "p99", "Throughput")
        figures = [_line(case, each) for case in results.cases for each in _operations(case)]
        parts.append(table(titles, figures, most))
    parts.append(notes([results.limit]))
    if results.errors:
        errors = [(each.message or "(no message)", each.case, each.outcome, each.count) for each in results.errors]
        parts.append(table(("Error", "Case", "Outcome", "Count"), errors, most))
    parts.append(f'<p style="margin:4px 0;opacity:.6"><code>{_safe(results.folder)}</code></p>')
    return framed(parts)


def _which(results: RunResults) -> str:
    """Return which run it is: title, when it began, exit code."""
    began = results.run.started
    when = datetime.fromtimestamp(began / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if began else ""
    return " · ".join(filter(None, (results.run.title, when, f"exit code {int(results.exit_code)}")))


def rows(columns: Mapping[str, str], first: Sequence[tuple[object, ...]], most: int) -> str:
    """Return the first rows of a table; `first` has one more than `most` where there are more."""
    more = ["and more; .df(), .arrow(), .numpy() or .chunks() has them all"] if len(first) > most else []
    return framed([table(tuple(columns), first[:most]), notes(more)])


def framed(parts: Iterable[str]) -> str:
    """Return parts as one block."""
    return f'<div class="pileup">{"".join(parts)}</div>'


def sentence(text: str, word: str) -> str:
    """Return a sentence in bold behind the mark of a verdict; none where the word is empty."""
    found = mark(word)
    sign = f'<span style="color:{COLOURS.get(found.tone, "inherit")}">{found.sign}</span> ' if word else ""
    return f'<p style="margin:4px 0;font-size:1.1em">{sign}<b>{_safe(text)}</b></p>'


def notes(lines: Iterable[str]) -> str:
    """Return lines of text."""
    return "".join(f'<p style="margin:2px 0;opacity:.8">{_safe(line)}</p>' for line in lines if line)


def table(titles: Sequence[str], found: Sequence[Sequence[object]], most: int = MOST, longest: int = LONGEST) -> str:
    """Return a table, at most so many rows of it; words that are verdicts have their colour, long texts are cut."""
    head = "".join(f'<th style="{STYLE}">{_safe(title)}</th>' for title in titles)
    body = "".join(
        "<tr>" + "".join(f'<td style="{STYLE}">{_word(cell, longest)}</td>' for cell in row) + "</tr>"
        for row in found[:most]
    )
    more = notes([f"and {len(found) - most} more"] if len(found) > most else [])
    return f'<table style="margin:6px 0;border-collapse:collapse;color:inherit"><tr>{head}</tr>{body}</table>{more}'


def _operations(case: CaseResult) -> Sequence[OperationResult | None]:
    return case.operations or (None,)


def _line(case: CaseResult, each: OperationResult | None) -> tuple[object, ...]:
    name = case.name if each is None or each.iteration else f"↳ {each.operation}"
    outcome = case.outcome if each is None or each.iteration else ""
    if each is None:
        return (name, outcome, *("" for _ in range(7)))
    mean = Figure(each.response.mean if each.response else None, "time")
    shown = (each.rate, mean, *(each.quantiles.get(share) for share in QUANTILES))
    moved = _figure(each.throughput) if each.bytes else "-"
    return (name, outcome, each.counts.passed, *map(_figure, shown), moved)


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    if figure.above is not None:
        return unanswered(figure)
    return figure.note or "-" if figure.value is None else amount(figure.value, figure.dimension)


def _word(cell: object, longest: int) -> str:
    plain = "" if cell is None else str(cell)
    text, found = _safe(plain if len(plain) <= longest else f"{plain[: longest - 1]}…"), mark(plain)
    colour = COLOURS.get(found.tone)
    return f'<span style="color:{colour}">{found.sign} {text}</span>' if colour else text


def _safe(text: str) -> str:
    r"""Return a text for a page: escaped, characters that control or turn text written out as `\x1b`."""
    return escape("".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text))
