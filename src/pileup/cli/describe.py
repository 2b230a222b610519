"""pileup describe: pages about plug-ins and about the language of suites, made from what they say of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo
from pileup.cli.width import columns
from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from pileup.cli.data import Described, DescribedBlock
    from pileup.cli.pages.page import Block, Page

KINDS = {each.removesuffix("s"): each for each in ("tests", "targets", "monitors", "reports", "charts", "exporters")}


@click.command(
    "describe",
    cls=Command,
    examples=[
        ("a test with its options", "pileup describe storage.read"),
        ("the keys of a load", "pileup describe load"),
        ("a suite that comes with pileup", "pileup describe suite:first-run"),
    ],
    page="reference/README.md",
)
@click.argument("name", required=False)
@click.option("--kind", type=OneOf(list(KINDS)), help="Which, where plug-ins of several kinds have the name.")
@click.option("--format", "form", type=OneOf(["text", "md", "html"]), help="How.  [default: text, into files: html]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write files into this folder: the page of NAME, or without NAME all pages with an index.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the pages as one JSON object.")
def command(name: str | None, kind: str | None, form: str | None, out: Path | None, as_json: bool) -> None:
    """Explain a plug-in, a suite, a key or a mistake.

    NAME is a plug-in as in `pileup list`, or ./file.py:Class; suite:NAME for a suite that comes with pileup; a key of
    the suite, like load, scan or think; the code of a mistake that `pileup validate` reports, like unknown-key; or one
    of suite, checks, metrics, units, verdicts, commands, plugin, mistakes, exit-codes, environment, config, json.
    """
    from pileup.cli.pages.contents import all_pages

    if name is None and out is None and not as_json:
        raise UsageError(
            "nothing says what to describe", "a NAME, or --out FOLDER for all pages", "pileup describe --help"
        )
    pages = all_pages() if name is None else find(name, kind)
    if as_json:
        echo(json.dumps(as_data(pages), indent=2))
    elif out is not None:
        write(pages, out, form or "html", linked=name is None)
        echo(out)
    elif form in (None, "text"):
        print_pages(pages)
    else:
        echo("\n".join(rendered(page, form or "") for page in pages), nl=False)


def as_data(pages: list[Page]) -> Described:
    """Return pages as data; of the marks of links only the words are left."""
    return {
        "pages": [
            {
                "kind": page.folder,
                "name": page.name,
                "title": page.title,
                "summary": page.summary,
                "blocks": [_block(block) for block in page.blocks],
            }
            for page in pages
        ]
    }


def _block(block: Block) -> DescribedBlock:
    from pileup.cli.pages.page import Code, Heading, Words
    from pileup.cli.pages.terminal import bare

    match block:
        case Heading(text):
            return {"heading": bare(text)}
        case Words(text):
            return {"text": bare(text)}
        case Code(text):
            return {"code": text}
    return {"rows": [dict(zip(block.head, map(bare, row), strict=True)) for row in block.rows]}


def find(name: str, kind: str | None) -> list[Page]:
    """Return the pages of that name. Raises UsageError, or PluginError with the reason why it cannot be loaded."""
    from pileup.cli.pages.contents import topic
    from pileup.cli.pages.plugins import plugin_page
    from pileup.plugin import registry
    from pileup.suite.shipped import SHIPPED

    if name.startswith(SHIPPED) and not kind:
        from pileup.cli.pages.suites import shipped_page

        return [shipped_page(name)]
    kinds = [kind] if kind else list(KINDS)
    if ".py:" in name:
        each, cls = _from_file(name, kinds)
        return [plugin_page(each, name, cls)]
    having = [each for each in kinds if name in registry.names(KINDS[each])]
    pages = [plugin_page(each, name, registry.load(KINDS[each], name)) for each in having]
    if not kind and (page := topic(name)):
        pages.append(page)
    if not pages:
        raise UsageError(
            f"there is no {kind or 'page about'} {name!r}", _near(name, kinds), "`pileup list` shows all plug-ins"
        )
    return pages


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
    from pileup.cli.pages.contents import TOPICS
    from pileup.model.nearest import nearest
    from pileup.plugin import registry

    known = sorted({*TOPICS, *(each for kind in kinds for each in registry.names(KINDS[kind]))})
    return " or ".join(map(repr, nearest(name, known))) or "a name from `pileup list`"


def print_pages(pages: list[Page]) -> None:
    """Print pages as wide as the terminal, or as $COLUMNS says."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.pages.terminal import show

    console = SafeConsole(width=columns())
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
