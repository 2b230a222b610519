"""A comparison of runs on the screen: a sentence, then what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pileup.cli.show.layout import Column, Grid, Paragraph
from pileup.model.contrast import BETTER, WORSE, ComparedSide, Contrast, RunComparison
from pileup.model.contrast_words import change_words, plain_words, sentence, verdict_words
from pileup.model.gate import GateResult
from pileup.model.units import counted

if TYPE_CHECKING:
    from rich.console import Console

LONGEST = 60
"""Characters of a setting that are shown."""
COLUMNS = (Column(""), Column("Metric"), *(Column(title, "right") for title in ("Baseline", "New", "Change")))
MOST_LINES = 6
"""Lines of the suite that are shown of each side."""


def print_comparison(
    found: RunComparison, console: Console, everything: bool = False, gates: Iterable[GateResult] = ()
) -> None:
    """Print each side against the baseline: the sentence, warnings, what differs, what has changed; then the gates.

    `everything`: also metrics without a shown change.
    """
    from rich.text import Text

    from pileup.cli.marks import marked

    for against in found.against:
        word = WORSE if against.worse else BETTER if against.better else ""
        mark = marked(word) + Text(" ") if word else Text("")
        console.print(Paragraph(mark + Text(sentence(against, found.smallest), "bold")))
        console.print(Paragraph(Text(f"{against.candidate.name} against the baseline {found.baseline.name}", "dim")))
        for warning in against.warnings:
            console.print(Paragraph(Text(warning, "yellow")))
        for line in _differs(against):
            console.print(Paragraph(Text(line, "dim")))
        console.print()
        shown = against.contrasts if everything else against.changed
        if shown:
            console.print(_table(shown, found.smallest))
        if told := _folded(against, shown):
            console.print(Paragraph(Text(told, "dim")))
        console.print()
    for gate in gates:
        state = {True: "holds", False: "does not hold", None: "cannot be judged: too few values"}[gate.holds]
        by = f": {', '.join(gate.by)}" if gate.by else ""
        console.print(Paragraph(Text(f"--fail-if {gate.gate!r} {state}{by}", "red" if gate.holds else "")))


def _folded(against: ComparedSide, shown: Sequence[Contrast]) -> str:
    """Return how many metrics are not shown, and why."""
    left = [each for each in against.contrasts if each not in shown]
    few = sum(each.p is None for each in left)
    told = [f"{counted(len(left) - few, 'metric')} without a change that is shown"] if len(left) > few else []
    told += [f"{counted(few, 'metric')} with too few values"] if few else []
    return f"{', '.join(told)}: --all lists them" if told else ""


def _differs(against: ComparedSide) -> Iterable[str]:
    for each in against.differs:
        if each.what == "suite":
            yield from (f"suite - {line.strip()}" for line in each.baseline.splitlines()[:MOST_LINES])
            yield from (f"suite + {line.strip()}" for line in each.candidate.splitlines()[:MOST_LINES])
        else:
            yield f"{each.what}: {_short(each.baseline)} -> {_short(each.candidate)}"


def _short(text: str) -> str:
    return (text if len(text) <= LONGEST else text[: LONGEST - 3] + "...") or "(none)"


def _table(contrasts: Iterable[Contrast], smallest: float) -> Grid:
    from rich.text import Text

    from pileup.cli.marks import marked, style_of

    grid = Grid((*COLUMNS, Column("Verdict")))
    for name, group in groupby(contrasts, key=lambda each: each.name):
        grid.section(name)
        for each in group:
            told, word = verdict_words(each, smallest), each.verdict if each.matters else ""
            mark = marked(word) if word else Text("")
            figures = (plain_words(each.baseline), plain_words(each.candidate), change_words(each))
            grid.add(mark, each.metric, *figures, Text(told, style_of(word) if word else ""))
    return grid
