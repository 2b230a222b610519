"""Pages as HTML files that need nothing else: readable in light and dark, on paper and on a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pileup.cli.pages.markdown import target
from pileup.cli.pages.page import INDEX, INLINE, Block, Code, Heading, Page, Table, Words, anchor
from pileup.cli.pages.paragraphs import Part, cells, parts

STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3a4048); --soft: light-dark(#f4f5f7, #22262b);
  --link: light-dark(#0b57a4, #7db7f2); }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: light-dark(#1c2024, #e6e8ea); background: light-dark(#fff, #16191c); }
h1, h2 { line-height: 1.25; } h2 { margin-top: 2.2rem; } a { color: var(--link); }
code, pre { font: 0.9em ui-monospace, monospace; background: var(--soft); border-radius: 3px; }
code { padding: 0.1em 0.3em; } pre { padding: 0.8rem; overflow-x: auto; } pre code { padding: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.7rem 0.35rem 0;
  border-bottom: 1px solid var(--line); }
"""


def html(page: Page, linked: bool = False) -> str:
    """Return a page as an HTML document; `linked`: with a link to the index, which is beside it."""
    index = linked and page.path != INDEX
    back = f'<p><a href="{target(INDEX, page.folder, "html")}">Reference</a></p>\n' if index else ""
    body = "\n".join(text for block in page.blocks for text in _block(block, page.folder))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)} - pileup</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{back}<h1>{escape(page.title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block, folder: str) -> Iterator[str]:
    match block:
        case Heading(text):
            yield f'<h2 id="{anchor(text)}">{_inline(text, folder)}</h2>'
        case Words(text):
            yield from (_part(part, folder) for part in parts(text))
        case Code(text):
            yield _code(text)
        case Table(head, rows):
            yield _table(head, rows, folder)


def _part(part: Part, folder: str) -> str:
    match part.kind:
        case "code":
            return _code("\n".join(part.lines))
        case "list":
            return "<ul>" + "".join(f"<li>{_inline(line, folder)}</li>" for line in part.lines) + "</ul>"
        case "table":
            head, *rows = (tuple(cells(line)) for line in part.lines)
            return _table(head, tuple(rows), folder)
    return f"<p>{_inline(part.lines[0], folder)}</p>"


def _code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def _table(head: tuple[str, ...], rows: tuple[tuple[str, ...], ...], folder: str) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "\n".join("<tr>" + "".join(f"<td>{_inline(cell, folder)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _inline(text: str, folder: str) -> str:
    done, at = "", 0
    for found in INLINE.finditer(text):
        done += escape(text[at : found.start()])
        if found["code"]:
            done += f"<code>{escape(found['code'])}</code>"
        else:
            done += f'<a href="{escape(target(found["to"], folder, "html"))}">{escape(found["words"])}</a>'
        at = found.end()
    return done + escape(text[at:])
