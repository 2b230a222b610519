"""The group `pileup`: finds commands by name and turns every exception into a message and an exit code."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import HELP, Group
from pileup.cli.messages import echo, print_problem, print_suite_error
from pileup.cli.table import COMMANDS, GROUPS, LATER, TOPICS
from pileup.cli.width import columns
from pileup.model.errors import PileupError, SuiteError, UsageError
from pileup.model.exits import ExitCode
from pileup.model.nearest import nearest
from pileup.model.surroundings import introduce

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

WIDEST = 120
"""Columns of help: longer lines are hard to read."""


class Commands(Group):
    """Imports the module of a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; None when there is none."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = importlib.import_module(entry.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, and the topics of `pileup help`; no command is imported."""
        width = max(map(len, (*COMMANDS, *TOPICS)))
        for title, entries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", entry.says) for name, entry in entries.items() if entry.says])
        with formatter.section("Topics (pileup help TOPIC)"):
            formatter.write_dl([(f"{name:<{width}}", says) for name, says in TOPICS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called. Raises UsageError, also for one that is not yet built."""
        if args[0] in LATER:
            told = f"`pileup {args[0]}` is reserved: not yet built"
            raise UsageError(told, "pileup COMMAND", "for all commands: pileup --help")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin so; no command is imported."""
        from click.shell_completion import CompletionItem

        found = [(name, entry.says) for name, entry in COMMANDS.items() if entry.says and name.startswith(incomplete)]
        if found or not incomplete.startswith("-"):
            return [CompletionItem(name, help=says) for name, says in found]
        return [each for each in super().shell_complete(ctx, incomplete) if each.value.startswith("-")]


@click.group(
    "pileup",
    cls=Commands,
    context_settings={"help_option_names": sorted(HELP)},
    examples=[
        ("a verdict on your own system", "pileup check root://se01.site.org//data/pileup"),
        ("a first run, without a server", "pileup run suite:first-run"),
    ],
    page="tutorial.md",
)
@click.version_option(package_name="pileup", message="pileup %(version)s")
def app() -> None:
    """Load, stress and performance tests for distributed scientific data systems."""
    introduce(os.environ, os.geteuid())


def run_app(arguments: Sequence[str] | None) -> int:
    """Run the group and return the exit code of the process."""
    try:
        words = None if arguments is None else list(arguments)
        result = app.main(words, "pileup", standalone_mode=False, terminal_width=min(columns(), WIDEST))
    except (click.ClickException, click.Abort) as problem:
        return _wrong_usage(problem)
    except PileupError as problem:
        return _told(problem)
    except Exception as problem:
        return _own_bug(problem)
    return result if isinstance(result, int) else 0


def _wrong_usage(problem: click.ClickException | click.Abort) -> int:
    if isinstance(problem, click.Abort):
        print_problem("stopped by the user")
        return ExitCode.STOPPED_BY_USER
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        problem.show()
        return ExitCode.USAGE
    context = getattr(problem, "ctx", None)
    path = context.command_path if context else "pileup"
    if isinstance(problem, click.NoSuchOption) and context is not None:
        print_problem(*_no_option(problem.option_name, context))
    else:
        pieces = context.command.collect_usage_pieces(context) if context else ["COMMAND"]
        print_problem(problem.format_message().rstrip("."), " ".join([path, *pieces]), f"for more: {path} --help")
    return ExitCode.USAGE


def _no_option(name: str, context: click.Context) -> tuple[str, str, str]:
    """Return what to say of an option that a command does not have: the nearest one, or the command that has it."""
    path, hint = context.command_path, f"for more: {context.command_path} --help"
    near = nearest(name, _options(context.command, context))
    if near:
        return f"`{path}` has no option {name}", " or ".join(f"{path} {each}" for each in near), hint
    having = []
    for other in COMMANDS:
        command = app.get_command(context, other)
        if command is not None and not command.hidden and name in _options(command, context):
            having.append(f"`pileup {other}`")
    if having:
        hint = f"{', '.join(having[:3])} has {name}; {hint}" if len(having) < 4 else hint
    usage = " ".join([path, *context.command.collect_usage_pieces(context)])
    return f"`{path}` has no option {name}", usage, hint


def _options(command: click.Command, context: click.Context) -> list[str]:
    """Return the options of a command that are shown."""
    return [
        word
        for each in command.get_params(context)
        if isinstance(each, click.Option) and not each.hidden
        for word in (*each.opts, *each.secondary_opts)
    ]


def _told(problem: PileupError) -> int:
    if isinstance(problem, SuiteError):
        print_suite_error(problem)
    else:
        print_problem(problem.what, problem.expected, problem.hint)
    return problem.exit_code


def _own_bug(problem: Exception) -> int:
    """Say that it is a bug of pileup, and keep the traceback in a file; PILEUP_DEBUG=1 shows it."""
    import tempfile
    import traceback

    trace = "".join(traceback.format_exception(problem))
    said = str(problem).splitlines()[:1]
    told = f"an internal error of pileup itself: {type(problem).__name__}" + (f": {said[0]}" if said else "")
    number, name = tempfile.mkstemp(prefix="pileup-error-", suffix=".txt")
    with os.fdopen(number, "w") as file:
        file.write(trace)
    print_problem(told, "", f"please report it with {Path(name)}")
    if os.environ.get("PILEUP_DEBUG") == "1":
        echo(trace, err=True)
    return ExitCode.INTERNAL
