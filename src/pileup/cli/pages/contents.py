"""All pages of the reference, and how one is found by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pileup.cli.pages import language, topics
from pileup.cli.pages.commands import commands_page
from pileup.cli.pages.mistakes import mistake_page, mistakes_page
from pileup.cli.pages.page import INDEX, Block, Heading, Page, Table, Words
from pileup.cli.pages.plugins import missing_page, plugin_page
from pileup.plugin.registry import KINDS, Found, find_all

FOLDERS = {
    "tests": "Tests",
    "targets": "Kinds of targets",
    "monitors": "Monitors",
    "reports": "Reports",
    "charts": "Charts",
    "exporters": "Formats of exports",
}


def _metrics() -> Page:
    return language.metrics_page((each.name, each.cls) for each in find_all("monitors") if each.cls is not None)


def _commands() -> Page:
    from pileup.cli.app import app

    return commands_page(app)


def _programming() -> Page:
    from pileup.cli.pages.programming import programming_page

    return programming_page()


TOPICS: dict[str, Callable[[], Page]] = {
    "suite": language.suite_page,
    "checks": language.checks_page,
    "metrics": _metrics,
    "units": language.units_page,
    "verdicts": language.verdicts_page,
    "commands": _commands,
    "plugin": _programming,
    "exit-codes": topics.exit_codes_page,
    "environment": topics.environment_page,
    "config": topics.config_page,
    "json": topics.json_page,
    "mistakes": mistakes_page,
}
"""Name of a page that is about no plug-in -> what makes it."""


def topic(name: str) -> Page | None:
    """Return a page that is about no plug-in: one of TOPICS, or a word of the suite, like `load` or `scan`, or the code
    of a mistake, like unknown-key.
    """
    if name in TOPICS:
        return TOPICS[name]()
    page = language.suite_page()
    for title, blocks in _sections(page):
        if name in (word.strip("`[]").rpartition(".")[2] for word in title.split(", ")):
            return Page("", name, f"{title} in a suite", "", tuple(_apart(block) for block in blocks))
    return mistake_page(name) or _word(page, name)


def _word(suite: Page, name: str) -> Page | None:
    """Return what the tables of the suite's page say of one word."""
    found: list[Block] = []
    for title, blocks in _sections(suite):
        for table in (block for block in blocks if isinstance(block, Table)):
            if rows := tuple(row for row in table.rows if row[0].strip("`") == name):
                found += [Heading(title), _apart(Table(table.head, rows))]
    return Page("", name, f"`{name}` in a suite", "", tuple(found)) if found else None


def _sections(page: Page) -> list[tuple[str, list[Block]]]:
    """Return the headings of a page with what is below each."""
    found: list[tuple[str, list[Block]]] = []
    for block in page.blocks:
        if isinstance(block, Heading):
            found.append((block.text, []))
        elif found:
            found[-1][1].append(block)
    return found


def _apart(block: Block) -> Block:
    """Return a block of the suite's page for a page of its own: its links lead there."""
    if not isinstance(block, Table):
        return block
    return Table(block.head, tuple(tuple(cell.replace("](#", "](suite#") for cell in row) for row in block.rows))


def all_pages(own: bool = False) -> list[Page]:
    """Return the index and every page; `own`: only plug-ins that come with pileup."""
    pages = [make() for make in TOPICS.values()]
    for kind in KINDS:
        pages.extend(_page_of(found) for found in find_all(kind) if not own or found.package == "pileup")
    return [_index(pages), *pages]


def _page_of(found: Found) -> Page:
    return (
        missing_page(found) if found.cls is None else plugin_page(found.kind.removesuffix("s"), found.name, found.cls)
    )


def _index(pages: list[Page]) -> Page:
    first = Words(
        "Made from the schema, the plug-ins and the commands themselves: `pileup describe` shows the same pages."
    )
    return Page("", INDEX, "Reference", "all pages", (first, *_lists(pages)))


def _lists(pages: list[Page]) -> Iterator[Heading | Table]:
    for folder, title in {"": "Suites and commands", **FOLDERS}.items():
        rows = [(f"[{page.name}]({page.path})", page.summary) for page in pages if page.folder == folder]
        if rows:
            yield Heading(title)
            yield Table(("page", "what"), tuple(rows))
