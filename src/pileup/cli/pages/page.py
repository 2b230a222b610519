"""A page of the reference as plain data, before it becomes text, Markdown or HTML.

Inline text may hold `code` and links: [words](#anchor) to a heading of the same page, [words](tests/noop) to another
page. Nothing else is markup.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<words>(?:[^\[\]]|\[\])+)\]\((?P<to>[#A-Za-z0-9][A-Za-z0-9._/#-]*)\)")
INDEX = "README"
"""Path of the page that lists all."""
HEAD = ("name", "type", "default", "bounds", "what")
"""Head of a table of options, settings or words."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below that of the page."""

    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """Text as a docstring holds it: paragraphs, lists, and code that is indented by four."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Text as it is typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of inline text under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Words | Code | Table


@dataclass(frozen=True, slots=True)
class Page:
    """One page: `folder` is the kind of what it is about, "" for a page that stands alone."""

    folder: str
    name: str
    title: str
    summary: str
    blocks: tuple[Block, ...]

    @property
    def path(self) -> str:
        """Where it is among the others, without an ending; a safe name of a file."""
        name = re.sub(r"[^A-Za-z0-9._-]", "-", self.name)
        return f"{self.folder}/{name}" if self.folder else name


def file_name(path: str, form: str) -> str:
    """Return the name of a page's file: an index has the name under which it is shown when its folder is opened."""
    return f"index.{form}" if form == "html" and path == INDEX else f"{path}.{form}"


def anchor(heading: str) -> str:
    """Return what a link to a heading ends with, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring on one line."""
    paragraph = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return re.split(r"(?<=[.?!])\s", paragraph)[0]


def without_empty_columns(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table that leaves out the columns that are empty."""
    kept = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return Table(tuple(head[each] for each in kept), tuple(tuple(row[each] for each in kept) for row in rows))
