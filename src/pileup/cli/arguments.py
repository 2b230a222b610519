"""Arguments and options that several commands take, with what a shell completes them to: suites and run folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MOST = 50
"""Run folders that are offered, the newest."""
Decorator = Callable[[Callable[..., None]], Callable[..., None]]
MARKER = "run.json"
"""What every run folder has; the record itself is not imported to look for it."""


class SuiteName(click.ParamType[str]):
    """A file, or suite:NAME for a suite that comes with pileup."""

    name = "suite"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return it as it is: who reads it says what is wrong."""
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the suites that come with pileup, and any file."""
        from click.shell_completion import CompletionItem

        from pileup.suite.shipped import SHIPPED, shipped_suites

        names = [each for each in (f"{SHIPPED}{name}" for name in shipped_suites()) if each.startswith(incomplete)]
        found = [CompletionItem(each) for each in names]
        return found if incomplete.startswith(SHIPPED) else [*found, CompletionItem(incomplete, type="file")]


class RunPath(click.Path):
    """A run folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the newest runs, and any folder."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(each) for each in newest_runs() if each.startswith(incomplete)]
        return [*found[:MOST], CompletionItem(incomplete, type="dir")]


def newest_runs() -> Iterator[str]:
    """Yield the run folders where runs go, the newest first."""
    from pileup.cli.config import environment
    from pileup.run.start import runs_path

    base = runs_path(None, environment())
    try:
        names = sorted((each.name for each in os.scandir(base) if each.is_dir()), reverse=True)
    except OSError:
        return
    yield from (str(base / name) for name in names if (base / name / MARKER).is_file())


SUITE, RUN = SuiteName(), RunPath()


def set_option(says: str = "Set a variable, or a word of the suite by its path: targets.se.url=https://…") -> Decorator:
    """Return the option `--set`."""
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help=says)


SECRET = set_option("Give a secret again that the run was begun with: the record does not keep it.")
RUNS = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for run folders [default: $PILEUP_RUNS, else ./runs].",
)
