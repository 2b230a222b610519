"""Command lines that pages and help show: whether pileup would take them, without running any."""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from unittest.mock import patch

import click

from pileup.cli.app import app
from pileup.model.errors import UsageError

SHELL = frozenset({">", ">>", "2>", "<", "|", "||", "&", "&&", ";"})
"""What ends a command, or says where its output goes."""


def typed(line: str) -> list[str]:
    """Return the words of a line, up to what is the shell's; a sign of what is left out is a word as any other."""
    words = shlex.split(line.replace("…", "x"), comments=True)
    return words[: next((place for place, each in enumerate(words) if each in SHELL), len(words))]


def fault(words: Sequence[str], whole: bool = True) -> str:
    """Return why pileup refuses the words that follow its name, "" where it does not.

    Without `whole` a command may lack what it needs: a sentence names one with the option that it speaks of.
    """
    command: click.Command = app
    context, rest = click.Context(app, info_name="pileup"), list(words)
    try:
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            name, found, rest = command.resolve_command(context, rest)
            assert found is not None
            command, context = found, click.Context(found, parent=context, info_name=name)
        if rest or not isinstance(command, click.Group):
            _parse(command, context, rest, whole)
    except click.exceptions.Exit:  # --help and --version
        return ""
    except click.UsageError as problem:
        return problem.format_message()
    except UsageError as problem:
        return problem.what
    return ""


def _parse(command: click.Command, context: click.Context, rest: list[str], whole: bool) -> None:
    """Parse the words of a command as pileup does, without the user's configuration. Raises UsageError."""
    with ExitStack() as changed:
        changed.enter_context(patch("pileup.cli.config.found_config", return_value=None))
        for each in [] if whole else command.params:
            changed.enter_context(patch.object(each, "required", False))
        command.make_context(context.info_name, rest, parent=context.parent)
