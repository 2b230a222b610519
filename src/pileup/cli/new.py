"""pileup new: a working plug-in, package of plug-ins, or suite to begin with."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo
from pileup.model.errors import UsageError

SKELETONS = Path(__file__).parent / "skeletons"
KINDS = ("test", "target", "monitor", "report", "chart", "exporter", "suite", "package")
USED = {
    "report": "pileup report RUN --to",
    "chart": "pileup export RUN --charts svg --out DIR --chart",
    "exporter": "pileup export RUN --out DIR --to",
}
"""Kind that no suite needs -> how it is used on any run folder."""
PACKAGE = "package"
LOG = "monitor-log"
"""Folder of the monitor that reads a log."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*|[A-Za-z]")
LONGEST = 50


@click.command(
    "new",
    cls=Command,
    examples=[
        ("a working suite", "pileup new suite copy-stress"),
        ("a test in Python, with a suite that uses it", "pileup new test list-folder"),
    ],
    page="plugins.md",
)
@click.argument("kind", type=OneOf(KINDS), metavar="KIND")
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="Folder for it.  [default: here]"
)
@click.option("--log", is_flag=True, help="With monitor: one that reads a log.")
def command(kind: str, name: str, out: Path, log: bool) -> None:
    """Create a working suite or plug-in.

    KIND is test, target, monitor, report, chart, exporter, suite or package. The new files work without changes. A
    plug-in comes with a test of its own and a suite that uses it.

    A package is a folder that pip installs, with a target, a test and a monitor, which `pileup list` then shows.
    Existing files are never overwritten. docs/plugins.md has more.
    """
    if log and kind != "monitor":
        raise UsageError(f"--log with a {kind}", "a monitor, which reads a log", f"pileup new monitor {name} --log")
    words = spelled(name)
    folder = SKELETONS / (LOG if log else kind)
    files = {
        filled(str(path.relative_to(folder)).removesuffix(".txt"), words): filled(path.read_text(), words)
        for path in sorted(folder.rglob("*.txt"))
    }
    if kind == PACKAGE:
        files = {f"{words['thing-name']}/{path}": text for path, text in files.items()}
    write(files, out, "" if kind == "suite" else words["thing_name"])
    for told in advice(kind, words, out):
        echo(told)


def spelled(name: str) -> dict[str, str]:
    """Return the words of a skeleton -> the name in their spelling. Raises UsageError for what is not a name."""
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    if not NAME.fullmatch(name) or keyword.iskeyword(module) or len(name) > LONGEST:
        raise UsageError(
            f"{name[:60]!r} is not a name for it",
            f"letters and digits, joined by - or _, at most {LONGEST}, no word of Python",
            "e.g. list-folder",
        )
    plain = module.replace("_", "-")
    return {"thing_name": module, "thing-name": plain, "ThingName": "".join(part.title() for part in plain.split("-"))}


def filled(text: str, words: dict[str, str]) -> str:
    """Return a text of a skeleton with the name in the place of its own."""
    return re.sub("thing_name|thing-name|ThingName", lambda found: words[found.group()], text)


def write(files: dict[str, str], folder: Path, module: str) -> None:
    """Write all files or none. Raises UsageError when one is there already, or the folder cannot be written.

    `module` is what they make importable, which nothing else may be; empty for none.
    """
    there = [name for name in files if (folder / name).exists()]
    if there:
        raise UsageError(
            f"{folder / there[0]} is there already", "another name, or another folder", "nothing was written"
        )
    if module and (taken := importable(module)):
        raise UsageError(f"`import {module}` is {taken}", "a name that no other module has", f"e.g. my-{module}")
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    except OSError as problem:
        raise UsageError(
            f"{folder} cannot be written: {problem.strerror}", "a folder that can be", "--out"
        ) from problem


def importable(module: str) -> str:
    """Return what is imported by this name, in words; empty when nothing is. Nothing is imported to find out."""
    if module in sys.stdlib_module_names:
        return "a module of Python itself"
    try:
        found = find_spec(module)
    except (ImportError, ValueError):
        return ""
    return f"there already: {found.origin}" if found is not None and found.origin else ""


def advice(kind: str, words: dict[str, str], folder: Path) -> list[str]:
    """Return the lines that say what is where and what to type next."""
    module, cls = words["thing_name"], words["ThingName"]
    path = folder / module
    lines = []
    if kind == PACKAGE:
        home = folder / words["thing-name"]
        lines.append(f"{home}: the package; pip install -e {home}, then pileup list")
        lines.append(f"{home / 'tests'}: its own tests; python -m pytest {home}")
        lines.append(f"{home / module}.yaml: a suite with it; pileup run {home / module}.yaml")
        return lines
    if kind != "suite":
        lines.append(f"{path}.py: the {kind}; pileup describe ./{path}.py:{cls}")
        lines.append(f"{folder / f'test_{module}.py'}: its own test; python -m pytest {folder / f'test_{module}.py'}")
    if kind in USED:
        lines.append(f"on any run folder: {USED[kind]} ./{path}.py:{cls}")
    else:
        lines.append(f"{path}.yaml: {'the suite' if kind == 'suite' else 'a suite with it'}; pileup run {path}.yaml")
        lines.append(f"for your editor: pileup schema > {folder / 'pileup.schema.json'}")
    return lines
