"""Check the words of pages, docstrings, comments and messages: proselint with the house style in style.yaml.

Findings are errors. Sentences that are too long are counted (`--long` lists them), and are no errors.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import yaml
from proselint.checks import __register__ as of_proselint
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags, types

sys.path.insert(0, str(Path(__file__).parent))
from texts import paragraphs

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    "*.md", "docs/**/*.md", "src/pileup/**/*.py", "src/pileup/**/*.pyi", "src/pileup/**/*.jinja", "src/pileup/**/*.js",
    "src/pileup/cli/skeletons/**/*.txt", "crates/**/*.rs", "tools/**/*.py", "benchmarks/*.md", "benchmarks/*.py",
    "examples/**/*.md", "examples/**/*.yaml", "examples/**/*.xml", "examples/**/*.ipynb",
)  # fmt: skip
HISTORY = ("CHANGELOG.md", "docs/decisions/", "docs/measured/")
"""What was written once and is not rewritten."""
GENERATED = "docs/reference/"
"""Pages that are docstrings, with the words of code."""


class Style(NamedTuple):
    """What style.yaml says."""

    words: dict[str, str]
    words_of_pages: dict[str, str]
    checks: dict[str, bool]
    sentence: int
    allowed: dict[str, list[str]]


class Finding(NamedTuple):
    """One thing to rewrite."""

    path: str
    line: int
    found: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


@cache
def style() -> Style:
    """Return the house style."""
    return Style(**yaml.safe_load(Path(__file__).with_name("style.yaml").read_text()))


@cache
def checks(page: bool) -> list[Check]:
    """Return the house style, for pages or for code, and the checks of proselint that it takes."""
    words = style().words | (style().words_of_pages if page else {})
    message, flags = "write '{}', not '{}'", CheckFlags(allow_quotes=True)
    own = Check(types.PreferredFormsSimple(items=words), path="pileup", message=message, flags=flags)
    registry = CheckRegistry()
    registry.register_many(() if registry.checks else of_proselint)
    return [own, *registry.get_all_enabled(style().checks)]


def files() -> list[Path]:
    """Return the files that the style is for."""
    found = {path for pattern in FILES for path in ROOT.glob(pattern)}
    return sorted(path for path in found if not path.relative_to(ROOT).as_posix().startswith(HISTORY))


def findings(paths: list[Path]) -> list[Finding]:
    """Return what is to be rewritten in these files."""
    pages = {path for path in paths if path.suffix == ".md" and not _name(path).startswith(GENERATED)}
    return sorted(
        {*_found(sorted(pages), page=True), *_found([path for path in paths if path not in pages], page=False)}
    )


def _found(paths: list[Path], page: bool) -> Iterator[Finding]:
    """Yield what is to be rewritten: all files in one text, which is many times as fast as one after another."""
    parts = [(path, part) for path in paths for part in paragraphs(path)]
    starts = list(accumulate((len(part.text) + 1 for _, part in parts), initial=1))
    text = "\n" + "".join(f"{part.text}\n" for _, part in parts)
    for check in checks(page):
        for result in check.check_with_flags(text):
            begin, end = result.span
            if re.search(r"\w\w", text[end - 1 : end + 1]):  # proselint finds parts of words, where a word is found
                continue
            number = bisect_right(starts, begin) - 1
            path, part = parts[number]
            found = text[begin:end].strip()
            if found.lower() not in style().allowed.get(_name(path), []):
                yield Finding(_name(path), part.line(begin - starts[number]), found, result.message)


def long_sentences(paths: list[Path]) -> Iterator[Finding]:
    """Yield sentences of more words than the style wants."""
    for path in paths:
        for part in paragraphs(path):
            for sentence in re.finditer(r"[^.!?|]+", part.text):
                if len(sentence[0].split()) > style().sentence:
                    line = part.line(sentence.start())
                    yield Finding(
                        _name(path), line, sentence[0], f"{len(sentence[0].split())} words: {sentence[0].strip()}"
                    )


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def main() -> int:
    """Print the findings of all files, or of those that are named."""
    named = [Path(each).resolve() for each in sys.argv[1:] if not each.startswith("-")] or files()
    found, long = findings(named), list(long_sentences(named))
    print(*(long if "--long" in sys.argv else found), sep="\n")
    print(
        f"prose: {len(named)} files, {len(found)} findings, {len(long)} sentences of more than {style().sentence} words"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
