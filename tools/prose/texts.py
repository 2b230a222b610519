"""The prose of a file: paragraphs of pages; comments, docstrings and messages of code. Code itself is left out."""

import json
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
JAVASCRIPT = re.compile(
    r"""(?P<comment>(?://[^\n]*(?:\n[ \t]*(?=//))?)+)
      | (?P<quote>["'`])(?P<text>(?:\\.|(?!(?P=quote)).)*?)(?P=quote)""",
    re.DOTALL | re.VERBOSE,
)
LANGUAGES = {".py": PYTHON, ".pyi": PYTHON, ".rs": RUST, ".js": JAVASCRIPT}
"""Suffix -> where comments and strings are."""
NAMES = r"`[^`\n]*`|\]\([^)\s]*\)|https?://\S+|\\[ntr\"]|\$\S+"
"""What is code in any prose: names in backquotes, addresses, escapes."""
CODE = re.compile(NAMES + r"|\{[^{}\n]*\}")
"""The same, and placeholders."""
IN_MAPPINGS = re.compile(NAMES)
"""The same in YAML, where braces hold mappings, and texts in them."""
MAPPINGS = (".yaml", ".ipynb")
CELL = re.compile(r'\s*("(?:[^"\\]|\\.)*"),?$')
"""A line of a notebook's file that is a line of a cell."""
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
        self.text += " ".join(text.split()) + " "

    def line(self, offset: int) -> int:
        """Return the line of the file for an offset of the text."""
        return self.lines[max(0, bisect_right(self.starts, offset) - 1)]


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file; a skeleton `thing.py.txt` is what it becomes."""
    suffix = Path(path.name.removesuffix(".txt")).suffix
    text = _cells(path.read_text()) if suffix == ".ipynb" else path.read_text()
    pieces = _code(text, LANGUAGES[suffix]) if suffix in LANGUAGES else [(1, text)]
    code = IN_MAPPINGS if suffix in MAPPINGS else CODE
    for first, piece in pieces:
        for paragraph in _split(piece, first, code, pages=suffix == ".md"):
            if PROSE.search(paragraph.text):
                yield paragraph


def _cells(text: str) -> str:
    """Return the lines of a notebook's cells, each at its line of the file."""
    found = (CELL.match(line) for line in text.splitlines())
    return "\n".join(" ".join(json.loads(line[1]).splitlines()) if line else "" for line in found)


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


def _split(text: str, first: int, code: re.Pattern[str], pages: bool) -> Iterator[Paragraph]:
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
            paragraph.add(number, code.sub("…", line))
    if paragraph.text:
        yield paragraph
