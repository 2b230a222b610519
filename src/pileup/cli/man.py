"""pileup man: manual pages, made from the commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.table import COMMANDS
from pileup.model.errors import UsageError
from pileup.model.nearest import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=each.says) for name, each in COMMANDS.items() if name.startswith(incomplete)]


@click.command(
    "man",
    cls=Command,
    examples=[
        ("the page of a command", "pileup man bench"),
        ("all pages, for `man pileup-bench`", "pileup man --out ~/.local/share/man/man1"),
    ],
    page="install.md",
)
@click.argument("name", metavar="[COMMAND]", required=False, shell_complete=_complete)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Write every page into this folder, and show none."
)
@click.pass_context
def command(context: click.Context, name: str | None, out: Path | None) -> None:
    """Show the manual page of a command.

    Without COMMAND it is that of pileup itself. On a terminal `man` shows it; into a pipe or a file it is written as
    roff. With --out all pages are written into a folder, where `man pileup-run` finds them if it is one of `manpath`.
    """
    from pileup.cli.pages.man import manual_pages

    pages = manual_pages(context.find_root())
    if out is not None:
        write(pages, out)
        echo(out)
        return
    file = "-".join(["pileup", *([name] if name else [])]) + ".1"
    if file not in pages:
        near = " or ".join(map(repr, nearest(name or "", COMMANDS)))
        raise UsageError(f"there is no command {name!r}", near or "a command", "for all commands: pileup --help")
    show(pages[file])


def show(page: str) -> None:
    """Show a page with `man` on a terminal that has it; else print it."""
    man = shutil.which("man") if sys.stdout.isatty() else None
    if man is None:
        echo(page, nl=False)
    else:
        subprocess.run([man, "-l", "-"], input=page, text=True, check=False)


def write(pages: dict[str, str], folder: Path) -> None:
    """Write pages into a folder. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as problem:
        told = f"{folder} cannot be written: {problem.strerror}"
        raise UsageError(told, "a folder you may write to", "--out DIR") from problem
