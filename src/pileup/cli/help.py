"""pileup help: the help of a command, or a page about what several of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.table import COMMANDS, TOPICS
from pileup.model.errors import UsageError
from pileup.model.nearest import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SAME = {"selectors": "checks"}
"""Topic -> the page that it is a part of."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    known = {name: entry.says for name, entry in COMMANDS.items() if entry.says} | TOPICS
    return [CompletionItem(name, help=says) for name, says in known.items() if name.startswith(incomplete)]


@click.command(
    "help",
    cls=Command,
    examples=[
        ("what the exit code says", "pileup help exit-codes"),
        ("the options of a command", "pileup help bench"),
    ],
    page="reference/README.md",
)
@click.argument("words", nargs=-1, metavar="[COMMAND|TOPIC]", shell_complete=_complete)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Explain a command or a topic.

    Topics: exit-codes, environment, config, units, selectors, json. Plug-ins and keys of a suite have pages of their
    own: `pileup describe NAME`.
    """
    group = context.find_root()
    if not words:
        echo(group.get_help())
    elif words[0] in TOPICS:
        from pileup.cli.describe import print_pages
        from pileup.cli.pages.contents import TOPICS as MADE

        print_pages([MADE[SAME.get(words[0], words[0])]()])
    elif words[0] in COMMANDS:
        echo(_help_of(group, words))
    else:
        near = " or ".join(map(repr, nearest(words[0], (*COMMANDS, *TOPICS))))
        expected = near or f"a command, or one of {', '.join(TOPICS)}"
        raise UsageError(
            f"there is no help on {words[0]!r}", expected, "pileup describe NAME explains plug-ins and keys"
        )


def _help_of(context: click.Context, words: tuple[str, ...]) -> str:
    """Return the help of a command, or of one inside it. Raises UsageError."""
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise UsageError(
                f"`{context.command_path}` has no command {word!r}", "no more words", "pileup help COMMAND"
            )
        found = group.get_command(context, word)
        if found is None:
            near = " or ".join(map(repr, nearest(word, group.list_commands(context))))
            hint = f"for more: {context.command_path} --help"
            raise UsageError(f"`{context.command_path}` has no command {word!r}", near or "one of its commands", hint)
        context = click.Context(found, parent=context, info_name=word)
    return context.get_help()
