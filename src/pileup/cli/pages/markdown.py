"""Pages as Markdown, as GitHub and most generators of sites read it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from pileup.cli.pages.page import INLINE, Block, Code, Heading, Page, Table, Words, file_name

SPECIAL = re.compile(r"[\\*|]|<(?=[A-Za-z/!?])")


def markdown(page: Page) -> str:
    """Return a page as the text of a Markdown file."""
    blocks = (text for block in page.blocks for text in _block(block, page.folder))
    return "\n\n".join([f"# {page.title}", *blocks]) + "\n"


def _block(block: Block, folder: str) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f"## {text}"
        case Words(text):
            yield _linked(text, folder)  # a docstring is Markdown already
        case Code(text):
            yield "\n".join(f"    {line}".rstrip() for line in text.splitlines())
        case Table(head, rows):
            yield "\n".join(_row(cells, folder) for cells in (head, ("---",) * len(head), *rows))


def _row(cells: tuple[str, ...], folder: str) -> str:
    return "| " + " | ".join(_inline(cell, folder) for cell in cells) + " |"


def _inline(text: str, folder: str) -> str:
    """Escape what would be markup, but for code and links; a `|` would end the cell even in code."""
    done, at = "", 0
    for found in INLINE.finditer(text):
        done += SPECIAL.sub(r"\\\g<0>", text[at : found.start()])
        done += found.group().replace("|", "\\|") if found["code"] else _link(found, folder)
        at = found.end()
    return done + SPECIAL.sub(r"\\\g<0>", text[at:])


def _linked(text: str, folder: str) -> str:
    return INLINE.sub(lambda found: found.group() if found["code"] else _link(found, folder), text)


def _link(found: re.Match[str], folder: str) -> str:
    return f"[{found['words']}]({target(found['to'], folder, 'md')})"


def target(to: str, folder: str, form: str) -> str:
    """Return where a link of a page in `folder` leads: an anchor as it is, else the other page's file."""
    page, sign, place = to.partition("#")
    return posixpath.relpath(file_name(page, form), folder or ".") + sign + place if page else to
