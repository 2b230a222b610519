"""The page of a suite that comes with pileup: what its file says first, its variables, tests and criteria."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.cli.pages.page import Block, Heading, Page, Table, Words, first_sentence, without_empty_columns

if TYPE_CHECKING:
    from pileup.model.suite import Suite

FOLDER = "suites"


def shipped_page(name: str) -> Page:
    """Return the page of a suite, `name` as in `suite:first-run`. Raises UsageError when none has that name."""
    from pileup.suite import load
    from pileup.suite.shipped import opening, suite_path

    path = suite_path(name)
    about, plan = opening(path.read_text(encoding="utf-8")), load(path, records=False, servers=False)
    return Page(FOLDER, name, name, first_sentence(about), (Words(about), *_blocks(plan.suite, path)))


def _blocks(suite: Suite, path: Path) -> Iterator[Block]:
    from pileup.model.words import load_words

    if suite.variables:
        yield Heading("Variables")
        yield Words("`--set NAME=VALUE` gives one another value.")
        yield Table(("name", "value"), tuple((f"`{name}`", value or "") for name, value in suite.variables.items()))
    yield Heading("Tests")
    tests = [(each.name, each.use, each.aim or "", load_words(each.load)) for each in suite.tests]
    yield without_empty_columns(("name", "use", "target", "load"), tests)
    if suite.criteria:
        yield Heading("Criteria")
        rows = [(each.id, each.says, f"`{each.check}`" if each.check else "", each.coverage) for each in suite.criteria]
        yield without_empty_columns(("id", "says", "check", "coverage"), rows)
    yield Words(f"`pileup plan` shows how long it takes. The file: {path}")
