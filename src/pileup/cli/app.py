"""The group `pileup`: finds commands by name and turns every exception into a message and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from pileup.cli.messages import echo, print_problem, print_suite_error
from pileup.model.errors import PileupError, SuiteError
from pileup.model.exits import ExitCode
from pileup.model.surroundings import introduce

COMMANDS = {
    "check": "pileup.cli.check",
    "bench": "pileup.cli.bench",
    "run": "pileup.cli.run",
    "try": "pileup.cli.try_out",
    "watch": "pileup.cli.watch",
    "resume": "pileup.cli.resume",
    "clean": "pileup.cli.clean",
    "validate": "pileup.cli.validate",
    "plan": "pileup.cli.plan",
    "convert": "pileup.cli.convert",
    "schema": "pileup.cli.schema",
    "list": "pileup.cli.list",
    "describe": "pileup.cli.describe",
    "new": "pileup.cli.new",
    "show": "pileup.cli.show.command",
    "report": "pileup.cli.report",
    "export": "pileup.cli.export.command",
    "compare": "pileup.cli.compare.command",
    "verify": "pileup.cli.verify",
    "merge": "pileup.cli.merge",
    "practice": "pileup.cli.practice",
    "relay": "pileup.cli.relay",
    "trace": "pileup.cli.trace.command",
    "place": "pileup.cli.place",
}
"""Name of a command -> module that has it as `command`. A new command is one line here."""

LATER = "push pull history serve probe"
"""Commands of later parts."""


class Commands(click.Group):
    """Imports the module of a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; None when there is none."""
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their first sentence whole."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(200)) for name, command in found if command and not command.hidden]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Say of a reserved command that it is not there yet."""
        if args[0] in LATER.split():
            raise click.UsageError(f"`pileup {args[0]}` is reserved: not yet built", ctx)
        return super().resolve_command(ctx, args)


@click.group("pileup", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pileup", message="pileup %(version)s")
def app() -> None:
    """Load, stress and performance tests for distributed scientific data systems."""
    introduce(os.environ, os.geteuid())


def run_app(arguments: Sequence[str] | None) -> int:
    """Run the group and return the exit code of the process."""
    try:
        result = app.main(None if arguments is None else list(arguments), "pileup", standalone_mode=False)
        sys.stdout.flush()
    except (click.ClickException, click.Abort) as problem:
        return _wrong_usage(problem)
    except BrokenPipeError:
        return _closed_output()
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
    else:
        context = getattr(problem, "ctx", None)
        path = context.command_path if context else "pileup"
        pieces = context.command.collect_usage_pieces(context) if context else ["COMMAND"]
        print_problem(problem.format_message().rstrip("."), " ".join([path, *pieces]), f"{path} --help")
    return ExitCode.USAGE


def _told(problem: PileupError) -> int:
    if isinstance(problem, SuiteError):
        print_suite_error(problem)
    else:
        print_problem(problem.what, problem.expected, problem.hint)
    return problem.exit_code


def _closed_output() -> int:
    """Who reads our output has gone (`| head`): nothing to say, and nothing to flush at the end of Python."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.PASSED


def _own_bug(problem: Exception) -> int:
    """Say that pileup itself is at fault, and keep the traceback in a file; PILEUP_DEBUG=1 shows it."""
    trace = "".join(traceback.format_exception(problem))
    said = str(problem).splitlines()[:1]
    told = f"an internal error of pileup itself: {type(problem).__name__}" + (f": {said[0]}" if said else "")
    number, name = tempfile.mkstemp(prefix="pileup-fault-", suffix=".txt")
    with os.fdopen(number, "w") as file:
        file.write(trace)
    print_problem(told, "", f"please report it with {Path(name)}")
    if os.environ.get("PILEUP_DEBUG") == "1":
        echo(trace, err=True)
    return ExitCode.INTERNAL
