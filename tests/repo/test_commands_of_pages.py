"""Every command of pileup that README and docs/ show is one: its name, options, choices and suites are there.

Pages whose commands are also run: tests/e2e/test_tutorial.py, tests/e2e/test_lines_of_pages.py.
"""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pileup.cli.describe import find
from pileup.model.errors import PileupError
from tests.commands import fault as refused
from tests.commands import typed

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
TYPED = re.compile(r"^(?:    |\$ )?(?:\S*/)?pileup (?!was )(.+)$")
INLINE = re.compile(r"`pileup ([^`]+)`")


def shown(text: str) -> Iterator[str]:
    """Yield what follows `pileup` in each command of a page: in blocks of code, and within sentences."""
    yield from (words for words, _ in commands(text))


def commands(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the same, and whether it is a line of its own: a sentence may name a part of a command."""
    inside = printed = False
    for line in text.replace("\\\n", " ").splitlines():
        inside ^= line.startswith("```")
        printed = inside and (printed or line.startswith("```console"))
        if printed and not line.startswith("$ "):
            continue
        if (found := TYPED.match(line)) and (inside or line.startswith("    ")):
            yield re.split(r"(?<=\S) {3,}|  (?=[a-z]+ )| [;|#&]", found[1])[0], True
        elif not inside:
            yield from ((words, False) for words in INLINE.findall(line))


def fault(words: list[str], whole: bool = True) -> str:
    """Return what is wrong with a command, if anything: its words, the suites and pages that it names."""
    if problem := refused(words, whole):
        return problem
    suites = {path.stem for path in (ROOT / "examples").iterdir()} | {"NAME"}
    unknown = [word for word in words if word.startswith("suite:") and word.removeprefix("suite:") not in suites]
    if unknown:
        return f"no suite {unknown}"
    named = words[1] if words[0] == "describe" and len(words) > 1 else ""
    return undescribed(named) if named and not named.startswith(("-", "./")) and not named.isupper() else ""


@cache
def undescribed(name: str) -> str:
    """Return what is wrong with a name that `pileup describe` is given, if anything."""
    try:
        find(name, None)
    except PileupError as problem:
        return problem.what
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_is_one(page: Path) -> None:
    faults = {}
    for text, whole in commands(page.read_text()):
        if words := typed(text):
            faults[text] = fault(words, whole)
    assert not {text: problem for text, problem in faults.items() if problem}


def test_commands_are_found_wherever_a_page_shows_them() -> None:
    page = "\n".join(
        [
            "```sh",
            "pileup run a.yaml   # twice",
            "$ pileup show RUN | less",
            "```",
            "```console",
            "pileup 0.1.0",
            "```",
            "    pileup plan b.yaml      what",
        ]
    )
    assert [*shown(page + "\nand `pileup list` too")] == ["run a.yaml", "show RUN", "plan b.yaml", "list"]


@pytest.mark.parametrize(
    "text",
    [
        "rnu a.yaml",
        "run a.yaml --sett x=1",
        "run a.yaml b.yaml",
        "run suite:first-rnu",
        "practice storrage",
        "practice storage 20",
        "export RUN samples",
        "list suits",
        "bench /tmp --clients many",
        "describe suite:first-rnu",
        "describe storage.raed",
    ],
)
def test_a_command_that_is_none_is_found(text: str) -> None:
    assert fault(shlex.split(text))
    assert fault(shlex.split(text), whole=False)


@pytest.mark.parametrize("text", ["run", "export RUN --to csv", "relay"])
def test_a_command_that_lacks_something_is_found_where_it_is_a_line(text: str) -> None:
    assert fault(shlex.split(text))
    assert not fault(shlex.split(text), whole=False)
