"""The page of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from pileup.cli.pages.page import Block, Code, Heading, Page, Table, Words, without_empty_columns

DEFAULT = re.compile(r"\s*\[default: ([^\]]*)\]\.?")
Found = tuple[str, click.Command, click.Context]


def commands_page(app: click.Group) -> Page:
    """Return the page with a section for every command of a group, those of groups inside it too."""
    found = list(_commands(app, click.Context(app, info_name="pileup")))
    summary = [(f"[{name}](#{name.replace(' ', '-')})", each.get_short_help_str(200)) for name, each, _ in found]
    blocks: list[Block] = [Table(("command", "what"), tuple(summary))]
    for name, each, context in found:
        blocks.extend(_section(name, each, context))
    return Page("", "commands", "Commands", "every command with its arguments and options", tuple(blocks))


def _commands(group: click.Group, context: click.Context) -> Iterator[Found]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, parent=context, info_name=name)
        if isinstance(command, click.Group):
            yield from _commands(command, below)
        else:
            yield below.command_path, command, below


def _section(name: str, command: click.Command, context: click.Context) -> Iterator[Block]:
    yield Heading(name)
    yield Code(command.get_usage(context).removeprefix("Usage: "))
    yield Words(inspect.cleandoc(command.help or "").replace("\f", ""))
    rows = [row for each in command.get_params(context) if (row := _option(each, context))]
    yield without_empty_columns(("option", "default", "what"), rows)


def _option(parameter: click.Parameter, context: click.Context) -> tuple[str, str, str] | None:
    """Return how an option is written, its default and its help; None for arguments, which the usage shows."""
    if not isinstance(parameter, click.Option) or parameter.hidden or "--help" in parameter.opts:
        return None
    record = parameter.get_help_record(context)
    written, told = record if record else (parameter.opts[0], "")
    found = DEFAULT.search(told)
    return f"`{written}`", found[1] if found else "", DEFAULT.sub("", told).strip()
