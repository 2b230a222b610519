"""The page of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from pileup.cli.command import Command
from pileup.cli.pages.page import Block, Code, Heading, Page, Table, Words, without_empty_columns

DEFAULT = re.compile(r"\s*\[default: ([^\]]*)\]\.?")
WIDTH = 80
"""Columns of a usage, whatever the terminal has."""
Found = tuple[str, click.Command, click.Context]


def commands_page(app: click.Group) -> Page:
    """Return the page with a section for every command of a group, those of groups inside it too."""
    found = list(_commands(click.Context(app, info_name="pileup", terminal_width=WIDTH)))
    summary = [(f"[{name}](#{name.replace(' ', '-')})", each.get_short_help_str(200)) for name, each, _ in found]
    blocks: list[Block] = [Table(("command", "what"), tuple(summary))]
    for name, each, context in found:
        blocks.extend(_section(name, each, context))
    return Page("", "commands", "Commands", "every command with its arguments and options", tuple(blocks))


def commands_of(context: click.Context) -> Iterator[Found]:
    """Yield the commands of a group that are listed: name, command, context."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command, click.Context(command, parent=context, info_name=name)


def _commands(context: click.Context) -> Iterator[Found]:
    for _, command, below in commands_of(context):
        if isinstance(command, click.Group):
            yield from _commands(below)
        else:
            yield below.command_path, command, below


def _section(name: str, command: click.Command, context: click.Context) -> Iterator[Block]:
    yield Heading(name)
    yield Code(command.get_usage(context).removeprefix("Usage: "))
    yield Words(inspect.cleandoc(command.help or "").replace("\f", ""))
    rows = [row for each in command.get_params(context) if (row := _option(each, context))]
    yield without_empty_columns(("option", "default", "what"), rows)
    if isinstance(command, Command) and command.examples:
        yield Code("\n".join(f"{typed}   # {what}" for what, typed in command.examples))


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str, str] | None:
    """Return how an option is written, its default and its help; None for arguments, which the usage shows."""
    if not isinstance(parameter, click.Option) or parameter.hidden or "--help" in parameter.opts:
        return None
    record = parameter.get_help_record(context)
    written, told = record if record else (parameter.opts[0], "")
    found = DEFAULT.search(told)
    return f"`{written}`", found[1] if found else "", DEFAULT.sub("", told).strip()
