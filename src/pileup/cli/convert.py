"""pileup convert: a suite from YAML to XML and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pileup.cli.arguments import SUITE
from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo
from pileup.cli.working import working

if TYPE_CHECKING:
    from pileup.cli.data import ConvertedData
    from pileup.suite.formats.convert import Format

HERE = "-"
FORMATS: dict[str, Format] = {".xml": "xml", ".yaml": "yaml", ".yml": "yaml"}


@click.command(
    "convert",
    cls=Command,
    examples=[
        ("YAML to XML", "pileup convert copy.yaml copy.xml"),
        ("a shipped suite as XML, on the screen", "pileup convert suite:first-run"),
    ],
    page="suite-file.md",
)
@click.argument("suite", metavar="IN", type=SUITE)
@click.argument("out", default=HERE, metavar="[OUT]")
@click.option(
    "--to",
    type=OneOf(["yaml", "xml"]),
    help="Format to write. Default: that of OUT's name; for stdout, the one that IN is not in.",
)
@click.option("--force", is_flag=True, help="Write over OUT when there is such a file.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written to OUT, and what was lost, as JSON.")
def command(suite: str, out: str, to: Literal["yaml", "xml"] | None, force: bool, as_json: bool) -> None:
    """Write a suite as XML, or as YAML.

    IN is a file, suite:NAME, or - for stdin; OUT is a file, or - for stdout (the default). The document is converted
    as it is: variables stay variables, and what it says is not judged (`pileup validate` does). There and back
    gives an equal suite; comments are lost, which is reported. The suite looks for files with a relative path beside
    itself: keep OUT in the same folder.
    """
    from pileup.cli.messages import print_note
    from pileup.model.errors import UsageError
    from pileup.suite.formats.convert import convert, other_format

    if as_json and out == HERE:
        raise UsageError(
            "--json where the suite itself goes to stdout", "a file as OUT", "pileup convert IN OUT --json"
        )
    data, name, suffix = _read(suite)
    wanted: Format = to or FORMATS.get(Path(out).suffix.lower()) or other_format(data, suffix)
    with working("converting"):
        converted = convert(data, suffix, name, wanted)
    _write(out, converted.text, force)
    if as_json:
        told: ConvertedData = {"files": [out], "format": wanted, "lost": list(converted.lost)}
        echo(json.dumps(told, indent=2))
    elif converted.lost:
        print_note(f"{name}: not carried over: {', '.join(converted.lost)}")


def _read(suite: str) -> tuple[bytes, str, str]:
    """Return the bytes of a suite, its name in messages, and how its name ends."""
    from pileup.suite.formats.reading import read_file
    from pileup.suite.problems import Problems
    from pileup.suite.shipped import suite_path

    path = Path("/dev/stdin") if suite == HERE else suite_path(suite)
    name = "stdin" if suite == HERE else str(path)
    problems = Problems(name)
    data = read_file(path, problems)
    if data is None:
        raise problems.error()
    return data, name, "" if suite == HERE else path.suffix


def _write(out: str, text: str, force: bool) -> None:
    from pileup.model.errors import UsageError

    if out == HERE:
        sys.stdout.write(text)
        return
    try:
        with Path(out).open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"there is a file {out!r} already", "a new name", "--force writes over it") from None
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or problem
        raise UsageError(
            f"{out!r} cannot be written: {said}", "a file in a folder that can be written to", "another OUT"
        ) from None
