"""Every command of pileup that README and docs/ show is one: its name, options, choices and suites are there.

Pages whose commands are also run: tests/e2e/test_tutorial.py, tests/e2e/test_lines_of_pages.py.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pileup.cli.app import app

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
    inside = printed = False
    for line in text.replace("\\\n", " ").splitlines():
        inside ^= line.startswith("```")
        printed = inside and (printed or line.startswith("```console"))
        if printed and not line.startswith("$ "):
            continue
        if (found := TYPED.match(line)) and (inside or line.startswith("    ")):
            yield re.split(r"(?<=\S) {3,}|  (?=[a-z]+ )| [;|#&]", found[1])[0]
        elif not inside:
            yield from INLINE.findall(line)


def fault(words: list[str]) -> str:
    """Return what is wrong with a command, if anything."""
    if words[0].startswith("-"):
        return ""
    context = click.Context(app)
    command = app.get_command(context, words[0])
    rest = words[1:]
    if isinstance(command, click.Group):
        if not rest or rest[0].startswith("-") or rest[0].isupper():
            return ""
        command, rest = command.get_command(context, rest[0]), rest[1:]
    if command is None:
        return f"no command {' '.join(words[:2])}"
    try:
        command.make_parser(click.Context(command)).parse_args(args=list(rest))
    except click.UsageError as problem:
        return problem.format_message()
    suites = {path.stem for path in (ROOT / "examples").iterdir()} | {"NAME"}
    unknown = [word for word in rest if word.startswith("suite:") and word.removeprefix("suite:") not in suites]
    return f"no suite {unknown}" if unknown else ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_is_one(page: Path) -> None:
    faults = {}
    for text in shown(page.read_text()):
        if words := shlex.split(text.replace("…", "x"), comments=True):
            faults[text] = fault(words)
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


@pytest.mark.parametrize("text", ["rnu a.yaml", "run a.yaml --sett x=1", "run suite:first-rnu", "practice storrage"])
def test_a_command_that_is_none_is_found(text: str) -> None:
    assert fault(shlex.split(text))
