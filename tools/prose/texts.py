"""The prose of a file: paragraphs of pages; comments, docstrings and messages of code. Code itself is left out."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = re.compile(
    r"""(?P<comment>(?:\#[^\n]*(?:\n[ \t]*(?=\#))?)+)
      | [rbfuRBFU]{0,2}(?P<quote>\"{3}|'{3}|"|')(?P<text>(?:\\.|(?!(?P=quote)).)*?)(?P=quote)""",
    re.DOTALL | re.VERBOSE,
)
RUST = re.compile(
    r"""(?P<comment>(?://[^\n]*(?:\n[ \t]*(?=//))?)+)
      | b?r(?P<hashes>\#*)"(?P<raw>.*?)"(?P=hashes)
      | b?"(?P<text>(?:\\.|[^"\\])*)"
      | '(?:\\[^']+|[^'\\])'""",
    re.DOTALL | re.VERBOSE,
)
CODE = re.compile(r"`[^`\n]*`|\{[^{}\n]*\}|\]\([^)\s]*\)|https?://\S+|\\[ntr\"]|\$\S+")
"""What is code inside of prose: names in backquotes, placeholders, addresses, escapes."""
PROSE = re.compile(r"[A-Za-z]{2,},? +[a-z]{2,}")
"""A text without two words is a key or a name, not prose."""


@dataclass
class Paragraph:
    """One paragraph on one line, and where its lines were."""

    text: str = ""
    starts: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Append a line of the file."""
        self.starts.append(len(self.text))
        self.lines.append(line)
        self.text += " ".join(CODE.sub("…", text).split()) + " "

    def line(self, offset: int) -> int:
        """Return the line of the file for an offset of the text."""
        return self.lines[max(0, bisect_right(self.starts, offset) - 1)]


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file."""
    text = path.read_text()
    pieces = _code(text, PYTHON if path.suffix == ".py" else RUST) if path.suffix in (".py", ".rs") else [(1, text)]
    for first, piece in pieces:
        for paragraph in _split(piece, first, pages=path.suffix == ".md"):
            if PROSE.search(paragraph.text):
                yield paragraph


def _code(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each comment and each string; strings side by side are one."""
    first, joined, end = 0, "", -1
    for match in pattern.finditer(text):
        if joined and text[end : match.start()].strip():
            yield first, joined
            joined = ""
        if match["comment"]:
            piece = re.sub(r"(?m)^[ \t]*(#+|//[/!]?)", "", match["comment"])
        else:
            piece = match["text"] or match.groupdict().get("raw") or ""
        if joined:
            joined += "\n" * text.count("\n", end, match.start())
        else:
            first = text.count("\n", 0, match.start()) + 1
        joined, end = joined + piece, match.end()
    if joined:
        yield first, joined


def _split(text: str, first: int, pages: bool) -> Iterator[Paragraph]:
    """Cut a text at empty lines, items, headings and rows of tables; fenced and indented blocks of pages are code."""
    paragraph, fenced = Paragraph(), False
    for number, line in enumerate(text.splitlines(), first):
        begins = not line.strip() or re.match(r"\s*([-*|#]|\d+\.)\s*", line)
        if begins and paragraph.text:
            yield paragraph
            paragraph = Paragraph()
        if pages and line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not (pages and line.startswith("    ")):
            paragraph.add(number, line)
    if paragraph.text:
        yield paragraph
