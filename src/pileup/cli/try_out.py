"""pileup try: one iteration of a test in the foreground, with its whole traceback, or in a debugger."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pileup.cli.arguments import SUITE, set_option
from pileup.cli.command import Command
from pileup.cli.config import environment
from pileup.cli.messages import echo
from pileup.cli.working import working

if TYPE_CHECKING:
    from pileup.model.plan import Case
    from pileup.model.results import RunResults
    from pileup.record import RunFolder

PACKAGE = str(Path(__file__).resolve().parent.parent) + os.sep
SHOWN = 200
"""Operations that are shown."""


@click.command(
    "try",
    cls=Command,
    examples=[
        ("one iteration of the test `copy`", "pileup try copy.yaml copy"),
        ("the same, in the debugger where it fails", "pileup try copy.yaml copy --pdb"),
    ],
    page="plugins.md",
)
@click.argument("suite", type=SUITE)
@click.argument("test")
@click.option("--client", type=click.IntRange(0), default=0, show_default=True, help="Which client it is.")
@set_option()
@click.option("--pdb", "debug", is_flag=True, help="Enter the debugger of Python where it fails.")
@click.pass_context
def command(context: click.Context, suite: str, test: str, client: int, settings: tuple[str, ...], debug: bool) -> None:
    """Run one iteration of a test in the foreground.

    TEST has the options, the target and the limits that SUITE gives it. What it prints comes as it is printed; then its
    operations with their times, the verdict with its reason, and the whole traceback. `breakpoint()` works in it. Tests
    that it comes `after` are done before, loads among them with one iteration. Servers that pileup starts are ended,
    and the run folder is removed; Ctrl-C ends it in order, as does `q` in the debugger.

    Exit codes as those of `pileup run`.
    """
    import tempfile

    from pileup.cli.common import parse_settings
    from pileup.run.foreground import Foreground, one_iteration
    from pileup.run.recovery.leftovers import sweep
    from pileup.run.start import planned

    with working("checking the suite"):
        plan, case = one_iteration(planned(suite, parse_settings(settings), None, environment()), test)
    for line in sweep():
        echo(line, err=True)
    if case.test.environment or plan.suite.environment:
        echo("its `environment` is not sourced here: source it in your shell", err=True)
    base = Path(tempfile.mkdtemp(prefix="pileup-try-"))
    foreground = Foreground(client, partial(_failed, debug=debug), patient=debug)
    with _interrupted():
        runner, results = foreground.run(plan, case, base)
    _tell(runner.folder, results, case)
    _leave(runner.folder, base)
    context.exit(int(results.exit_code))


def _failed(problem: BaseException, *, debug: bool) -> None:
    """Show the whole traceback at once, and enter the debugger if that is wanted."""
    trace = _of_users(problem.__traceback__)
    echo("".join(traceback.format_exception(type(problem), problem, trace)).rstrip(), err=True)
    if debug:
        import pdb

        pdb.post_mortem(_up_to_user(trace) or problem.__traceback__)


def _of_users(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without pileup's own calls before the user's first line; as it is where none is."""
    first = trace
    while first is not None and first.tb_frame.f_code.co_filename.startswith(PACKAGE):
        first = first.tb_next
    return first or trace


def _up_to_user(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback that ends with the line that called pileup, not inside of it, as `self.expect` does."""
    frames: list[TracebackType] = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    while len(frames) > 1 and frames[-1].tb_frame.f_code.co_filename.startswith(PACKAGE):
        frames.pop()
    made: TracebackType | None = None
    for each in reversed(frames):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


@contextmanager
def _interrupted() -> Iterator[None]:
    """While it lasts, SIGINT and SIGTERM interrupt, also where a shell's `&` made this process ignore SIGINT."""

    def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    kept = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _tell(folder: RunFolder, results: RunResults, case: Case) -> None:
    """Print the operations, what was reported, and the verdict."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.show.layout import Column, Grid
    from pileup.model.units import format_size, format_time

    rows = _operations(folder, case)
    numbers = [Column(title, "right") for title in ("Took", "Bytes", "Calls")]
    table = Grid((Column("Operation", "fold"), Column("Object", "fold"), *numbers, Column("Outcome", "fold")))
    for name, key, took, moved, calls, outcome, error, parent in rows[:SHOWN]:
        if parent:
            end = outcome if outcome == "passed" else f"{outcome}: {error}"
            table.add(name, key, format_time(took), format_size(moved) if moved else "-", str(calls or "-"), end)
    if len(rows) > SHOWN:
        table.notes.append(f"and {len(rows) - SHOWN} more")
    if case.point:
        echo(f"at {', '.join(f'{axis}={value}' for axis, value in case.point.items())}")
    if table.rows:
        console = SafeConsole()
        console.print(table)
    for row in folder.samples():
        if row.monitor == case.test.name:
            echo(f"reported {row.sample.metric}: {row.sample.value:g} {row.sample.unit}".rstrip())
    iteration = next((row for row in rows if not row[-1]), None)
    found = next(each for each in results.cases if each.id == case.id)
    if results.run.stopped:
        echo(f"{case.test.name}: stopped by the user")
    elif iteration is None:
        reasons = [each.reason for each in results.cases if each.reason]
        echo(f"{case.test.name}: {found.outcome}{'; '.join(['', *reasons]) if reasons else ''}")
    else:
        _, _, took, _, _, outcome, error, _ = iteration
        echo(f"{case.test.name}: {outcome}{f': {error}' if error else ''} ({format_time(took)})")


def _operations(folder: RunFolder, case: Case) -> list[tuple[Any, ...]]:
    """Return what the iteration did in order: name, object, ns, bytes, calls, outcome, error, id of its iteration."""
    with folder.operations().connect() as connection:
        return connection.execute(
            """SELECT operation, key, "end" - start, bytes, calls, outcome, error, parent FROM operations
            WHERE case_id = ? AND side = 'client' AND phase = 'measure' ORDER BY start, id""",
            [case.id],
        ).fetchall()


def _leave(folder: RunFolder, base: Path) -> None:
    """Remove the record, unless something is left that only it knows."""
    import shutil

    from pileup.run.recovery.intents import left_over, staying

    left = (*staying(folder), *left_over(folder))
    for told in left:
        echo(f"not cleaned up or removed: {told}", err=True)
    if left:
        echo(f"it can be tried again: pileup clean {folder.path}", err=True)
    else:
        shutil.rmtree(base, ignore_errors=True)
