"""pileup show: what a run gave, on the screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.show import equivalent, faults, jobs, labels, points
from pileup.cli.working import working
from pileup.model.event import REPORT
from pileup.model.figures import Counts, Figure
from pileup.model.record import MISSED, NOT_PASSED
from pileup.model.results import CaseResult, CriterionResult, ErrorGroup, OperationResult, RunResults
from pileup.model.units import counted, format_fraction
from pileup.model.verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from pileup.record import RunFolder

COLOURS = {
    "passed": "green",
    "failed": "red",
    "error": "red",
    "unavailable": "red",
    "unknown": "yellow",
    "not run": "yellow",
    "stopped": "yellow",
    "met": "green",
    "met, not shown": "green",
    "not met": "red",
    "not met, not shown": "red",
    "not covered": "dim",
}
MOST_ERRORS = 10
MOST_EVENTS = 20
DRAWN = ("fault", "setting", "place", "server", "generator", "cooldown", "pause")
"""Kinds of events that explain figures."""
MOST_CASES = 200
"""Rows of a table of cases."""


@click.command(
    "show",
    cls=Command,
    examples=[
        ("the verdict, criteria and figures", "pileup show RUN"),
        ("one figure, for a script", "pileup show RUN --json | jq .verdict"),
    ],
    page="reports.md",
)
@click.argument("run", type=RUN)
@click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object.")
def command(run: Path, as_json: bool) -> None:
    """Show the results of a run.

    RUN is a run folder: of a run that has ended, goes on, or was broken off.
    """
    from pileup.record import RunFolder
    from pileup.record.reading import reading
    from pileup.stats import results

    with working("reading the run"), reading(run):
        folder = RunFolder.open(run)
        found = results(folder)
        _print(found, as_json)
        if told := broken_off(folder):
            echo(told, err=True)


def broken_off(folder: RunFolder) -> str:
    """Return what to say of a run whose pileup is gone before its end, empty for any other."""
    from pileup.run.recovery.leftovers import alive

    if folder.manifest().has_ended or alive(folder):
        return ""
    if folder.manifest().simulated:
        return "the simulation has not ended: it goes on, or was broken off and is to be simulated again"
    path = folder.path
    return (
        f"the run was broken off: its pileup was killed or has crashed; `pileup resume {path}` goes on with it, "
        f"`pileup clean {path}` removes what it has left"
    )


def _print(found: RunResults, as_json: bool) -> None:
    from pileup.cli.console import SafeConsole
    from pileup.stats import to_json

    if as_json:
        echo(json.dumps({"folder": found.folder, **to_json(found)}))
    else:
        print_results(found, SafeConsole())


def print_results(results: RunResults, console: Console) -> None:
    """Print verdict, limit, criteria, cases and errors; fits the width of the console."""
    from rich.text import Text

    run = results.run
    title = Text(run.title, "bold")
    console.print(title.append(f"   {_moment(run.started)}", "dim"))
    verdict = Text("Verdict: ", "bold").append(results.verdict, COLOURS.get(results.verdict, ""))
    console.print(verdict.append(f" (exit code {int(results.exit_code)})"))
    console.print(Text("Limit:   ", "bold").append(results.limit))
    if results.overhead:
        console.print(Text("Cost:    ", "bold").append(results.overhead))
    for note in results.notes:
        console.print(Text(note, "yellow"))
    for table in _tables(results):
        console.print()
        console.print(table)
    _print_words(results, console)


def _tables(results: RunResults) -> Iterable[Table]:
    if results.criteria:
        yield _criteria(results.criteria)
    if results.equivalences:
        yield equivalent.table(results.equivalences, COLOURS)
    at_points = _uneventful(results)
    shown = _shown(_others(results))
    if shown or at_points:
        yield _cases(shown, len(results.cases) - len(at_points) - len(shown), at_points)
    compared = {each.test for each in results.comparisons}  # point by point below
    alone = [case for case in shown if case.test not in compared]
    measured = [case for case in alone if any(each.counts.ended or each.counts.missed for each in case.operations)]
    if measured:
        yield _figures(measured)
    yield from labels.tables(alone)
    yield from points.tables(results)
    if results.faults:
        yield faults.table(results.faults)
    yield from jobs.tables(results)
    if results.errors:
        yield _errors(results.errors)


def empty_table(*columns: tuple[str, str]) -> Table:
    """Make an empty table; a column is its title and "left", "right" or "fold" (left, may break)."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    for title, kind in columns:
        wraps = kind == "fold"
        table.add_column(title, justify="right" if kind == "right" else "left", no_wrap=not wraps, overflow="fold")
    return table


def _coloured(word: str) -> Text:
    from rich.text import Text

    return Text(word, COLOURS.get(word, ""))


def _plain(text: str) -> Text:
    """Return text that rich takes as it is: what users wrote may hold brackets."""
    from rich.text import Text

    return Text(text)


def _criteria(criteria: Iterable[CriterionResult]) -> Table:
    from pileup.stats import words

    table = empty_table(
        ("Criterion", "fold"),
        ("Says", "fold"),
        ("Covers", "left"),
        ("Figure", "fold"),
        ("Wanted", "fold"),
        ("Verdict", "fold"),
    )
    for each in criteria:
        figure = words(each.figure)
        table.add_row(
            *map(_plain, (each.id, _said(each), each.coverage, figure, each.threshold)), _coloured(each.verdict)
        )
    return table


def _said(each: CriterionResult) -> str:
    return f"{each.says} ({each.remark})" if each.remark else each.says


def _shown(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases that have room on the screen, in their order: of too many, first those that did not pass."""
    if len(cases) <= MOST_CASES:
        return list(cases)
    wanted = sorted(cases, key=lambda case: case.outcome == "passed")[:MOST_CASES]
    numbers = {case.id for case in wanted}
    return [case for case in cases if case.id in numbers]


def _uneventful(results: RunResults) -> list[CaseResult]:
    """Return the cases at points of a scan that passed: they are told together, and compared below."""
    compared = {each.test for each in results.comparisons}
    return [case for case in results.cases if case.test in compared and case.outcome == "passed"]


def _others(results: RunResults) -> list[CaseResult]:
    together = {case.id for case in _uneventful(results)}
    return [case for case in results.cases if case.id not in together]


def _summary(cases: Iterable[CaseResult]) -> Iterable[tuple[str, Counts]]:
    """Yield a line for each test: its name with the number of its cases, and what they add up to."""
    tests: dict[str, list[Counts]] = {}
    for case in cases:
        tests.setdefault(case.test, []).append(case.iterations.counts if case.iterations else Counts())
    names = [field.name for field in fields(Counts)]
    for test, found in tests.items():
        yield (
            f"{test}, {counted(len(found), 'case')}",
            Counts(**{name: sum(getattr(each, name) for each in found) for name in names}),
        )


def _cases(cases: Iterable[CaseResult], more: int, together: Iterable[CaseResult]) -> Table:
    table = empty_table(
        ("Case", "fold"), ("Load", "fold"), ("Outcome", "left"), ("Passed", "right"), ("Not passed", "fold")
    )
    for case in cases:
        counts = case.iterations.counts if case.iterations else Counts()
        row = (_plain(case.name), _plain(case.load), _coloured(str(case.outcome)))
        table.add_row(*row, _count(counts.passed), _plain(_not_passed(counts)))
    for name, counts in _summary(together):
        row = (_plain(name), _plain("each point and repeat"), _coloured("passed"))
        table.add_row(*row, _count(counts.passed), _plain(_not_passed(counts)))
    if more:
        table.add_row(_plain(f"and {_count(more)} more: see the report"))
    return table


def _not_passed(counts: Counts) -> str:
    names = [name for name in (*NOT_PASSED, MISSED) if getattr(counts, name)]
    return ", ".join(f"{_count(getattr(counts, name))} {name}" for name in names) or "-"


def _figures(cases: Iterable[CaseResult]) -> Table:
    table = empty_table(
        ("Response times", "fold"),
        ("Rate", "right"),
        ("Mean", "right"),
        ("p50", "right"),
        ("p90", "right"),
        ("p99", "right"),
        ("Bytes", "right"),
    )
    for case in cases:
        for operation in case.operations:
            name = case.name if operation.iteration else f"{'↳' if operation.detached else ' '} {operation.operation}"
            table.add_row(_plain(name), *_of_operation(operation))
            if operation.counts.passed and (operation.not_passed.value or 0.0) > LARGE:
                share = format_fraction(1 - (operation.not_passed.value or 0.0))
                table.add_row(_plain(f"  of the {share} that passed"), *_of_passed(operation))
    return table


LARGE = 0.01
"""Share that did not pass from which on the figures of what passed are told apart."""
SHARES = (0.5, 0.9, 0.99)


def _of_operation(operation: OperationResult) -> list[str]:
    few = (operation.not_passed.value or 0.0) <= LARGE
    mean = Figure(operation.response.mean if operation.response and few else None, "time")
    shown = [_figure(operation.quantiles.get(share)) for share in SHARES]
    # one iteration alone has no rate worth a word; of those that were due before some may have ended now
    rate = operation.rate if operation.counts.ended > 1 or operation.rate.n > 1 else None
    return [_figure(rate), _figure(mean), *shown, _figure(operation.throughput) if operation.bytes else "-"]


def _of_passed(operation: OperationResult) -> list[str]:
    found = operation.response
    mean = Figure(found.mean if found else None, "time")
    return ["", _figure(mean), *(_figure(found.quantiles.get(share) if found else None) for share in SHARES), ""]


def _figure(figure: Figure | None) -> str:
    from pileup.stats import amount, unanswered

    if figure is None:
        return "-"
    if figure.above is not None:
        return unanswered(replace(figure, note=""))
    return figure.note or "-" if figure.value is None else amount(figure.value, figure.dimension)


def _errors(errors: tuple[ErrorGroup, ...]) -> Table:
    table = empty_table(("Error", "fold"), ("Case", "fold"), ("Outcome", "left"), ("Count", "right"), ("First", "left"))
    for each in errors[:MOST_ERRORS]:
        message = each.told if len(each.told) <= 300 else each.told[:297] + "..."
        where = each.case if each.operation in (each.case, "iteration") else f"{each.case}, {each.operation}"
        first = _clock(each.first)
        table.add_row(_plain(message or "(no message)"), _plain(where), each.outcome, _count(each.count), first)
    if len(errors) > MOST_ERRORS:
        table.add_row(_plain(f"and {len(errors) - MOST_ERRORS} more kinds of errors: see the report"))
    return table


def _print_words(results: RunResults, console: Console) -> None:
    """Print the reasons and notes that no table has room for."""
    told = [(case.name, text) for case in _shown(_others(results)) for text in (case.reason, *case.notes) if text]
    told += [
        (case.name, f"tracebacks are in {Path(results.folder, case.tracebacks)}")
        for case in _shown(results.cases)
        if case.tracebacks
    ]
    told += [(each.id, text) for each in results.criteria if (text := _why(each))]
    told += [(", ".join(each.tests), each.reason) for each in results.equivalences if each.reason]
    told += jobs.words(results)
    happened = [event for event in results.events if event.kind in DRAWN]
    told += [(_clock(event.begin), event.text) for event in happened[:MOST_EVENTS]]
    if len(happened) > MOST_EVENTS:
        told.append(("and", f"{len(happened) - MOST_EVENTS} more events: see the report"))
    if told:
        console.print()
    for name, text in told:
        console.print(_plain(f"{name}: {text}"))
    _print_not_written(results, console)


def _print_not_written(results: RunResults, console: Console) -> None:
    for event in (each for each in results.events if each.kind == REPORT):
        again = f"; fix it, then pileup report {results.folder} --to {event.about}" if event.about else ""
        console.print(_plain(f"{event.text}{again}"))


def _why(each: CriterionResult) -> str:
    """Return why a criterion is not met, or not shown, and what would show it."""
    reason = "" if each.verdict is Verdict.MET else each.reason
    needed = f"to show it: {each.needed}" if each.needed else ""
    return "; ".join(text for text in (reason, needed) if text)


def _count(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%H:%M:%S")


def _moment(nanoseconds: int | None) -> str:
    if nanoseconds is None:
        return ""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
