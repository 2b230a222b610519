"""A comparison of runs on the screen: readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from pileup.model.contrast import BETTER, TOO_FEW, WORSE, ComparedSide, Contrast, RunComparison
from pileup.model.units import format_fraction

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

COLOURS = {WORSE: "red", BETTER: "green", TOO_FEW: "dim"}
LONGEST = 60
"""Characters of a setting that are shown."""
COLUMNS = (("", 12, False), ("Baseline", 9, True), ("Now", 9, True), ("Change", 26, True), ("Verdict", 19, False))
"""Title, least width and whether it is set to the right."""
MOST_LINES = 6
"""Lines of the suite that are shown of each side."""


def print_comparison(found: RunComparison, console: Console) -> None:
    """Print each side against the baseline: verdict, warnings, what differs, then the metrics of each test."""
    from rich.text import Text

    console.print(Text("Baseline: ", "bold").append(found.baseline.name))
    for against in found.against:
        console.print(Text("Against:  ", "bold").append(against.candidate.name))
        console.print(_summary(against, found.smallest))
        for warning in against.warnings:
            console.print(Text(warning, "yellow"))
        for line in _differs(against):
            console.print(Text(line, "dim"))
        console.print()
        _print_contrasts(against.contrasts, found.smallest, console)
        console.print()


def _summary(against: ComparedSide, smallest: float) -> Text:
    from rich.text import Text

    worse, better = len(against.worse), len(against.better)
    style = COLOURS[WORSE] if worse else COLOURS[BETTER] if better else ""
    told = [f"{number} {word}" for number, word in ((worse, WORSE), (better, BETTER)) if number]
    rest = len(against.contrasts) - worse - better
    told.append(f"no change of {format_fraction(smallest)} or more detected ({rest} metrics)")
    return Text("Verdict:  ", "bold").append(", ".join(told), style)


def _differs(against: ComparedSide) -> Iterable[str]:
    for each in against.differs:
        if each.what == "suite":
            yield from (f"suite - {line.strip()}" for line in each.baseline.splitlines()[:MOST_LINES])
            yield from (f"suite + {line.strip()}" for line in each.candidate.splitlines()[:MOST_LINES])
        else:
            yield f"{each.what}: {_short(each.baseline)} -> {_short(each.candidate)}"


def _short(text: str) -> str:
    return (text if len(text) <= LONGEST else text[: LONGEST - 3] + "...") or "(none)"


def _print_contrasts(contrasts: Iterable[Contrast], smallest: float, console: Console) -> None:
    """Print a table for each operation under its name, which may be longer than a column has room for."""
    from rich.text import Text

    head = True
    for name, group in groupby(contrasts, key=lambda each: each.name):
        members = [each for each in group if _says_something(each)]
        if members:
            if head:
                console.print(_table((), smallest, head=True))
            console.print(Text(name, "bold"))
            console.print(_table(members, smallest, head=False))
            head = False


def _table(contrasts: Iterable[Contrast], smallest: float, head: bool) -> Table:
    """Return a table whose columns are as wide as those of all others; `head`: with their titles."""
    from rich.table import Table
    from rich.text import Text

    from pileup.model.contrast_words import change_words, plain_words

    table = Table(box=None, show_header=head, header_style="dim", pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for title, width, right in COLUMNS:
        table.add_column(title, min_width=width, justify="right" if right else "left", overflow="fold")
    for each in contrasts:
        figures = (plain_words(each.baseline), plain_words(each.candidate), change_words(each))
        table.add_row(Text("  " + each.metric), *map(Text, figures), verdict_text(each, smallest))
    return table


def _says_something(found: Contrast) -> bool:
    return any(figure.value is not None or figure.above is not None for figure in (found.baseline, found.candidate))


def verdict_text(found: Contrast, smallest: float) -> Text:
    """Return the verdict with its colour."""
    from rich.text import Text

    from pileup.model.contrast_words import verdict_words

    style = COLOURS.get(found.verdict, "") if found.matters or found.verdict == TOO_FEW else ""
    return Text(verdict_words(found, smallest), style)
