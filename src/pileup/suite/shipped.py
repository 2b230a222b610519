"""Which file a suite is: a path, or the name of one that comes with pileup."""

from __future__ import annotations

import inspect
import re
from itertools import takewhile
from pathlib import Path

from pileup.model.errors import UsageError
from pileup.model.nearest import nearest

SHIPPED = "suite:"
SHOWN, MOST = 5, 1000
"""Suites named of a folder; files of one that are looked at."""
SUFFIXES = (".yaml", ".yml", ".xml")
IN_XML = re.compile(r"(?:<\?xml.*?\?>\s*)?<!--(.*?)-->", re.DOTALL)


def shipped_folder() -> Path:
    """Return the folder of the suites that come with pileup: in the package, else `examples/` of the repository."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "suites"
    return installed if installed.is_dir() else package.parent.parent / "examples"


def shipped_suites() -> dict[str, Path]:
    """Return the suites that come with pileup, by the names after `suite:`."""
    folder = shipped_folder()
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    return known | {path.name: path for path in sorted(folder.glob("*.xml"))}


def opening(text: str) -> str:
    """Return the comment that a suite begins with, without its marks; "" where it begins with none."""
    if found := IN_XML.match(text):
        return inspect.cleandoc(found[1])
    lines = takewhile(lambda line: line.startswith("#"), text.splitlines())
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


def suite_path(suite: str) -> Path:
    """Return the file of a suite: a path, or `suite:NAME` for a shipped one. Raises UsageError when there is none."""
    if not suite.startswith(SHIPPED):
        path = Path(suite)
        if "\0" not in suite and path.is_dir():
            found = sorted(each.name for each in path.glob("*.yaml"))[:SHOWN]
            hint = f"in it: {', '.join(found)}" if found else "name the file in it"
            raise UsageError(f"{suite!r} is a folder", "the file of a suite", hint)
        if "\0" in suite or not path.is_file():
            expected = _beside(path) if "\0" not in suite else ""
            expected = expected or "a suite, or suite:NAME for one that comes with pileup"
            raise UsageError(f"there is no file {suite!r}", expected, "is the path right?")
        return path
    known = shipped_suites()
    name = suite.removeprefix(SHIPPED)
    if name not in known:
        raise UsageError(
            f"there is no shipped suite {name!r}",
            " or ".join(f"'{SHIPPED}{each}'" for each in nearest(name, known)) or "a name from `pileup list suites`",
            "or the path of your own",
        )
    return known[name]


def _beside(path: Path) -> str:
    """Return what may have been meant by a file that is not there: suites beside it, or one that comes with pileup."""
    try:
        there = [str(path.parent / each.name) for each in path.parent.iterdir() if each.suffix in SUFFIXES]
    except OSError:
        there = []
    found = nearest(str(path), there[:MOST]) or nearest(str(path.with_suffix("")), shipped_suites())
    return " or ".join(repr(each if each in there else SHIPPED + each) for each in found)
