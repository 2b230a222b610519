"""pileup describe: pages about plug-ins and about the language of suites, made from what they say of themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.messages import echo
from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from pileup.cli.pages.page import Page

KINDS = {each.removesuffix("s"): each for each in ("tests", "targets", "monitors", "reports", "charts", "exporters")}


@click.command("describe")
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(list(KINDS)), help="Which, where plug-ins of several kinds bear the name.")
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "html"]), help="How.  [default: text, into files: html]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write files into this folder: the page of NAME, or without NAME all pages with an index.",
)
def command(name: str | None, kind: str | None, form: str | None, out: Path | None) -> None:
    """Show what a plug-in does and which options it takes, or what may be in a suite.

    NAME is a plug-in as in `pileup list`, or ./file.py:Class, or one of suite, checks, metrics, units, verdicts,
    commands, plugin, or a word of the suite that holds others, like load, limits, criteria.
    """
    from pileup.cli.pages.contents import all_pages

    if name is None and out is None:
        raise UsageError(
            "nothing says what to describe", "a NAME, or --out FOLDER for all pages", "pileup describe --help"
        )
    pages = all_pages() if name is None else find(name, kind)
    if out is not None:
        write(pages, out, form or "html", linked=name is None)
        echo(out)
    elif form in (None, "text"):
        print_pages(pages)
    else:
        echo("\n".join(rendered(page, form or "") for page in pages), nl=False)


def find(name: str, kind: str | None) -> list[Page]:
    """Return the pages of that name. Raises UsageError, or PluginError with the reason why it cannot be loaded."""
    from pileup.cli.pages.contents import topic
    from pileup.cli.pages.plugins import plugin_page
    from pileup.plugin import registry

    kinds = [kind] if kind else list(KINDS)
    if ".py:" in name:
        each, cls = _from_file(name, kinds)
        return [plugin_page(each, name, cls)]
    having = [each for each in kinds if name in registry.names(KINDS[each])]
    if having:
        return [plugin_page(each, name, registry.load(KINDS[each], name)) for each in having]
    page = None if kind else topic(name)
    if page is None:
        raise UsageError(
            f"there is no {kind or 'page about'} {name!r}", _near(name, kinds), "`pileup list` shows all plug-ins"
        )
    return [page]


def _from_file(name: str, kinds: list[str]) -> tuple[str, type]:
    """Return the class in a user's file with its kind. Raises PluginError: no such class, or a mistake in it."""
    from pileup.model.errors import PluginError
    from pileup.plugin import registry
    from pileup.plugin.userfile import NoClassError

    lacking: list[NoClassError] = []
    for each in kinds:
        try:
            return each, registry.load(KINDS[each], name, Path())
        except NoClassError as raised:
            lacking.append(raised)
    if len(lacking) == 1:
        raise lacking[0]
    file, _, class_name = name.rpartition(":")
    offered = [other for each in lacking for other in each.offered]
    expected = f"one of {', '.join(offered)}" if offered else "a class that derives from one of pileup.plugin"
    raise PluginError(f"{Path(file).name} has no plug-in {class_name!r}", expected)


def _near(name: str, kinds: list[str]) -> str:
    import difflib

    from pileup.cli.pages.contents import TOPICS
    from pileup.plugin import registry

    known = sorted({*TOPICS, *(each for kind in kinds for each in registry.names(KINDS[kind]))})
    return " or ".join(difflib.get_close_matches(name, known, 3)) or "a name from `pileup list`"


def print_pages(pages: list[Page]) -> None:
    """Print pages on the terminal, or 120 columns wide into a pipe."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.pages.terminal import show

    console = SafeConsole(width=None if sys.stdout.isatty() else 120)
    for number, page in enumerate(pages):
        if number:
            console.print()
        show(console, page)


def rendered(page: Page, form: str, linked: bool = False) -> str:
    """Return a page as "md" or "html"; `linked`: it is beside the index."""
    from pileup.cli.pages.html import html
    from pileup.cli.pages.markdown import markdown

    return markdown(page) if form == "md" else html(page, linked)


def write(pages: list[Page], folder: Path, form: str, linked: bool = False) -> None:
    """Write pages as files below a folder. Raises UsageError when that cannot be, or when the form is text."""
    from pileup.cli.pages.page import file_name

    if form == "text":
        raise UsageError("--format text is for the terminal", "md or html beside --out", "--format html")
    for page in pages:
        path = folder / file_name(page.path, form)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rendered(page, form, linked))
        except OSError as problem:
            raise UsageError(
                f"{path} cannot be written: {problem.strerror}", "a folder that can be written", "another --out"
            ) from problem
