"""Commands with examples: what `--help`, the reference and the man pages show comes from here alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from pileup.model.errors import UsageError
from pileup.model.nearest import nearest

HELP = frozenset({"-h", "--help"})
Example = tuple[str, str]
"""What it does, and what is typed."""


class OneOf(click.Choice[str]):
    """One of several words; a misspelled one is answered by the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word. Raises UsageError."""
        if value in self.choices:
            return str(value)
        path = ctx.command_path if ctx else "pileup"
        name = param.opts[0] if isinstance(param, click.Option) else (param.name or "").upper() if param else ""
        expected = " or ".join(map(repr, nearest(str(value), self.choices))) or f"one of {', '.join(self.choices)}"
        raise UsageError(f"{name} is {str(value)[:60]!r}", expected, f"for more: {path} --help")


class Command(click.Command):
    """A command that shows examples, and names the page of the docs that says more."""

    def __init__(self, *arguments: Any, examples: Sequence[Example] = (), page: str = "", **words: Any) -> None:
        super().__init__(*arguments, **words)
        self.examples, self.page = tuple(examples), page

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command, with the defaults that the user's configuration has for it."""
        if not ctx.resilient_parsing and HELP.isdisjoint(args):
            from pileup.cli.config import defaults_of

            ctx.default_map = defaults_of(self, ctx)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as problem:
            problem.ctx = problem.ctx or ctx  # else nobody knows of which command it speaks
            raise

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write which page says more."""
        write_page(self.page, formatter)


class Group(click.Group):
    """A group of commands, which shows the same."""

    def __init__(self, *arguments: Any, examples: Sequence[Example] = (), page: str = "", **words: Any) -> None:
        super().__init__(*arguments, **words)
        self.examples, self.page = tuple(examples), page

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands are for, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(self.examples, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called. Raises UsageError with the nearest name."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            near = " or ".join(f"{ctx.command_path} {each}" for each in nearest(args[0], names))
            what = (
                f"`{ctx.command_path}` has no command {args[0]!r}" if ctx.parent else f"there is no command {args[0]!r}"
            )
            raise UsageError(
                what, near or f"{ctx.command_path} COMMAND", f"for all commands: {ctx.command_path} --help"
            )
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands first: they are what is looked for."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write which page says more."""
        write_page(self.page, formatter)


def write_examples(examples: Sequence[Example], formatter: click.HelpFormatter) -> None:
    """Write examples as they are typed, each below what it does; lines are not broken, so that they can be copied."""
    if examples:
        with formatter.section("Examples"):
            for number, (what, typed) in enumerate(examples):
                if number:
                    formatter.write_paragraph()
                formatter.write_text(f"# {what}")
                formatter.write(f"{'':>{formatter.current_indent}}{typed}\n")


def write_page(page: str, formatter: click.HelpFormatter) -> None:
    """Write which page of the docs says more."""
    if page:
        formatter.write_paragraph()
        formatter.write(f"Docs: docs/{page}\n")
