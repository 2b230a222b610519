"""A run on the screen, what matters first: the sentence, criteria, cases, bottlenecks, errors, events, files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.cli.show import criteria, equivalent, faults, figures, jobs, labels, matrix, points, servers
from pileup.cli.show.layout import Column, Grid, Paragraph
from pileup.model.bottleneck_table import bottlenecks_by_point
from pileup.model.event import REPORT
from pileup.model.headline import headline
from pileup.model.results import CaseResult, ErrorGroup, RunResults
from pileup.model.units import counted, format_count

if TYPE_CHECKING:
    from rich.console import Console

MOST_ERRORS = 10
MOST_EVENTS = 20
MOST_CASES = 200
"""Rows of a table of cases."""
MOST_BOTTLENECKS = 12
LONGEST = 300
"""Characters of a message."""
DRAWN = ("fault", "setting", "place", "server", "generator", "cooldown", "pause")
"""Kinds of events that explain figures."""
REPORTS = ("report.html", "results.json", "results.xml", "junit.xml")


def print_results(results: RunResults, console: Console, sentence: bool = True) -> None:
    """Print a run, as wide as the console; without the `sentence` where it is printed last."""
    from rich.console import Group

    parts = [*_head(results, sentence), *_judged(results, sentence), *_measured(results), *_wrong(results)]
    parts.append(_files(results))
    parts = [part for part in parts if part]
    for number, part in enumerate(parts):
        if number:
            console.print()
        console.print(Group(*part), highlight=False)
    _print_not_written(results, console)


Part = Sequence[Paragraph | Grid]


def _head(results: RunResults, sentence: bool) -> Iterator[Part]:
    """Yield the verdict in a sentence, which run it is, and what there is to know of all of it."""
    from rich.text import Text

    from pileup.cli.marks import marked

    run = results.run
    told = " · ".join(filter(None, (run.title, _moment(run.started), f"exit code {int(results.exit_code)}")))
    first = Paragraph(marked(results.verdict) + Text(f" {headline(results)}", "bold"))
    yield [*([first] if sentence else []), Paragraph(Text(told, "dim"))]
    yield [Paragraph(Text(note, "yellow")) for note in results.notes]


def _judged(results: RunResults, sentence: bool) -> Iterator[Part]:
    """Yield what is not met with its reasons, then the other criteria; all in one table where that is said below."""
    bad = criteria.unmet(results.criteria) if sentence else []
    yield [Paragraph(criteria.line(each, reasons=True)) for each in bad]
    others = [each for each in results.criteria if each not in bad]
    yield [criteria.table(others)] if others else []
    if results.equivalences:
        trips = equivalent.round_trips(results.equivalences)
        yield [equivalent.table(results.equivalences)]
        yield [_line(", ".join(each.tests), each.reason) for each in results.equivalences if each.reason]
        yield [trips] if trips else []


def _measured(results: RunResults) -> Iterator[Part]:
    """Yield the cases with their figures and what is to be said of them."""
    at_points = _uneventful(results)
    shown = _shown(_others(results))
    if shown or at_points:
        yield [figures.cases(shown, len(results.cases) - len(at_points) - len(shown), at_points)]
    yield [*_of_cases(results, shown), *(_line(name, text) for name, text in jobs.words(results))]
    compared = {each.test for each in results.comparisons}  # point by point below
    alone = [case for case in shown if case.test not in compared]
    measured = [case for case in alone if any(each.counts.ended or each.counts.missed for each in case.operations)]
    yield [figures.times(measured)] if measured else []
    for table in (*labels.tables(alone), *matrix.tables(results.matrices), *points.tables(results)):
        yield [table]
    yield [faults.table(results.faults)] if results.faults else []
    for part in (*jobs.tables(results), *servers.tables(results)):
        yield [part]
    yield _bottlenecks(results)


def _of_cases(results: RunResults, shown: Iterable[CaseResult]) -> Iterator[Paragraph]:
    for case in shown:
        yield from (_line(case.name, text) for text in (case.reason, *case.notes) if text)
    for case in _shown(results.cases):
        if case.tracebacks:
            yield _line(case.name, f"tracebacks are in {Path(results.folder, case.tracebacks)}")


def _bottlenecks(results: RunResults) -> Part:
    from rich.text import Text

    parts: list[Paragraph | Grid] = []
    if results.bottlenecks:
        grid = Grid(
            (Column("Case", "fold"), Column("Limited by"), Column("Evidence", "fold"), Column("What to do", "fold"))
        )
        rows = bottlenecks_by_point(results)
        for row in rows[:MOST_BOTTLENECKS]:
            grid.add(row.case, Text(row.by, "yellow" if row.by == "pileup" else ""), row.evidence, row.advice)
        more = len(rows) - MOST_BOTTLENECKS
        if more > 0:
            grid.notes.append(f"and {counted(more, 'more row')}: see the report")
        parts.append(grid)
    if results.overhead:
        parts.append(Paragraph(Text(f"What pileup itself costs: {results.overhead}", "dim")))
    return parts


def _wrong(results: RunResults) -> Iterator[Part]:
    """Yield errors, and what happened to the run."""
    yield [_errors(results.errors)] if results.errors else []
    happened = [event for event in results.events if event.kind in DRAWN]
    told = [_line(_clock(event.begin), event.text) for event in happened[:MOST_EVENTS]]
    if len(happened) > MOST_EVENTS:
        told.append(_line("and", f"{len(happened) - MOST_EVENTS} more events: see the report"))
    yield told


def _files(results: RunResults) -> Part:
    from rich.text import Text

    folder = Path(results.folder)
    there = [name for name in REPORTS if (folder / name).is_file()]
    return [Paragraph(Text(f"Files: {', '.join(there)} in {folder}"))] if there else []


def _errors(errors: Sequence[ErrorGroup]) -> Grid:
    from pileup.cli.marks import worded

    grid = Grid((Column("Error", "fold"), Column("Case", "fold"), Column("Outcome"), Column("Count", "right"),
                 Column("First")))  # fmt: skip
    for each in errors[:MOST_ERRORS]:
        message = each.told if len(each.told) <= LONGEST else each.told[: LONGEST - 3] + "..."
        where = each.case if each.operation in (each.case, "iteration") else f"{each.case}, {each.operation}"
        told = (worded(each.outcome), format_count(each.count), _clock(each.first))
        grid.add(message or "(no message)", where, *told)
    if len(errors) > MOST_ERRORS:
        grid.notes.append(f"and {len(errors) - MOST_ERRORS} more kinds of errors: see the report")
    if errors:
        grid.notes.append("Errors are those of whole loads, ramp and warm-up included; figures leave these out.")
    return grid


def _shown(found: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases that have room on the screen, in their order: of too many, first those that did not pass."""
    if len(found) <= MOST_CASES:
        return list(found)
    wanted = sorted(found, key=lambda case: case.outcome == "passed")[:MOST_CASES]
    numbers = {case.id for case in wanted}
    return [case for case in found if case.id in numbers]


def _uneventful(results: RunResults) -> list[CaseResult]:
    """Return the cases at points of a scan that passed: they are shown together, and compared below."""
    compared = {each.test for each in results.comparisons}
    return [case for case in results.cases if case.test in compared and case.outcome == "passed"]


def _others(results: RunResults) -> list[CaseResult]:
    together = {case.id for case in _uneventful(results)}
    return [case for case in results.cases if case.id not in together]


def _print_not_written(results: RunResults, console: Console) -> None:
    from rich.text import Text

    for event in (each for each in results.events if each.kind == REPORT):
        again = f"; fix it, then pileup report {results.folder} --to {event.about}" if event.about else ""
        console.print(Text(f"{event.text}{again}"))


def _line(name: str, text: str) -> Paragraph:
    from rich.text import Text

    return Paragraph(Text(f"{name}: {text}"))


def _clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%H:%M:%S")


def _moment(nanoseconds: int | None) -> str:
    if nanoseconds is None:
        return ""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
