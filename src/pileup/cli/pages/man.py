"""Manual pages in roff, from the commands themselves: names, usage, options, examples, exit codes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import version

import click

from pileup.cli.command import Command, Group
from pileup.cli.pages.commands import commands_of
from pileup.cli.pages.language import EXIT_WORDS
from pileup.cli.pages.page import first_sentence
from pileup.cli.table import GROUPS
from pileup.model.exits import ExitCode

WITH_RUN = ("check", "bench", "run", "try", "resume")
"""Commands whose exit code is the verdict of a run."""


def manual_pages(context: click.Context) -> dict[str, str]:
    """Return file name -> page in roff, for pileup and each of its commands; those of a group are in its page."""
    pages = {"pileup.1": "\n".join(_of_group(context)) + "\n"}
    for name, command, below in commands_of(context):
        pages[f"pileup-{name}.1"] = "\n".join(_of_command(name, command, below)) + "\n"
    return pages


def _head(name: str, says: str, usage: str) -> Iterator[str]:
    yield f'.TH "{name.upper()}" "1" "" "pileup {version("pileup")}" "pileup"'
    yield ".SH NAME"
    yield f"{roff(name)} \\- {roff(says.rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield f"\\fB{roff(usage)}\\fR"


def _of_group(context: click.Context) -> Iterator[str]:
    root = context.command
    yield from _head("pileup", first_sentence(root.help or ""), "pileup COMMAND [OPTIONS] [ARGUMENTS]")
    yield from _examples(root)
    for title, entries in GROUPS.items():
        yield f".SS {roff(title)}"
        for name, entry in entries.items():
            if entry.says:
                yield from (".TP", f"\\fBpileup\\-{roff(name)}\\fR(1)", roff(entry.says))
    yield from _exit_codes()


def _of_command(name: str, command: click.Command, context: click.Context) -> Iterator[str]:
    text = inspect.cleandoc(command.help or "").replace("\f", "")
    usage = context.command_path + " " + " ".join(command.collect_usage_pieces(context))
    yield from _head(f"pileup-{name}", first_sentence(text), usage)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(text.partition("\n\n")[2] or text)  # the first line is the name
    if isinstance(command, click.Group):
        for inner, each, below in commands_of(context):
            yield f".SH {roff(f'pileup {name} {inner}'.upper())}"
            yield from _paragraphs(inspect.cleandoc(each.help or ""))
            yield from _options(each, below)
            yield from _examples(each, ".SS")
    yield from _options(command, context)
    yield from _examples(command)
    if name in WITH_RUN:
        yield from _exit_codes()
    yield ".SH SEE ALSO"
    yield "\\fBpileup\\fR(1), \\fBpileup help\\fR exit\\-codes | environment | config | units | selectors | json"


def _paragraphs(text: str) -> Iterator[str]:
    for part in text.split("\n\n"):
        yield from (".PP", roff(" ".join(part.split())))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    rows = [each.get_help_record(context) for each in command.get_params(context) if isinstance(each, click.Option)]
    yield ".SS OPTIONS" if context.parent and context.parent.parent else ".SH OPTIONS"
    for row in rows:
        if row is not None:
            yield from (".TP", f"\\fB{roff(row[0])}\\fR", roff(row[1]))


def _examples(command: click.Command, heading: str = ".SH") -> Iterator[str]:
    if not isinstance(command, (Command, Group)) or not command.examples:
        return
    yield f"{heading} EXAMPLES"
    for what, typed in command.examples:
        yield from (".PP", f"{roff(what[:1].upper() + what[1:])}:", ".PP", ".nf", ".RS", roff(typed), ".RE", ".fi")


def _exit_codes() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code in ExitCode:
        yield from (".TP", f"\\fB{int(code)}\\fR", roff(EXIT_WORDS[code]))


def roff(text: str) -> str:
    """Return a text as roff takes it: dashes and backslashes as they are, no line taken for a request."""
    written = text.replace("\\", "\\e").replace("-", "\\-")
    written = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in written)
    return re.sub(r"^([.'])", r"\\&\1", written, flags=re.MULTILINE)
