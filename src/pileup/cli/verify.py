"""pileup verify: whether the record of a run is whole and agrees with itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.exits import ExitCode
from pileup.model.units import counted

if TYPE_CHECKING:
    from pileup.cli.data import Verified
    from pileup.model.journal import JournalEntry
    from pileup.model.results import RunResults
    from pileup.record import RunFolder


@click.command(
    "verify",
    cls=Command,
    examples=[
        ("is the record whole?", "pileup verify RUN"),
        ("the findings, for a program", "pileup verify RUN --json"),
    ],
    page="verify.md",
)
@click.argument("run", type=RUN)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def command(run: Path, as_json: bool) -> int:
    """Check that the record of a run is complete.

    It must agree with itself, too. Checksums, counts, ids, percentiles, verdicts, and what was left open are checked.

    Prints every finding. Exit code 0 when there is none, else 1.
    """
    from pileup.record import RunFolder
    from pileup.record.reading import reading

    with working("verifying"), reading(run):
        found = list(findings(RunFolder.open(run)))
    if as_json:
        told: Verified = {
            "folder": str(run.resolve()),
            "whole": not found,
            "findings": [{"where": where, "what": what} for where, what in found],
        }
        echo(json.dumps(told))
    else:
        for where, what in found:
            echo(f"{where}: {what}")
        echo(counted(len(found), "finding") if found else "the record is whole")
    return ExitCode.CASE_FAILED if found else ExitCode.PASSED


def findings(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """Yield (where, what) for everything that is wrong; where files are damaged, figures are not looked at."""
    import duckdb

    from pileup.model.errors import DamagedRecord
    from pileup.record.damage import damage
    from pileup.record.missing import missing
    from pileup.run.recovery.intents import open_intents
    from pileup.stats import results
    from pileup.stats.verify import disagreements

    torn = list(damage(folder))
    yield from torn
    yield from missing(folder)
    for intent in open_intents(folder):
        if intent.problem:
            yield "journal", intent.problem
        elif not _kept(intent.entry):
            yield "journal", f"entry {intent.number} ({intent.what}) was never closed: `pileup clean` cleans it up"
    if any(path.endswith(".parquet") for path, _ in torn):
        return
    try:
        made = results(folder, anew=True)
        if results(folder).cases != made.cases:
            yield "dependence.json", "it is not what its tables give: remove it, it is found again when it is needed"
        yield from disagreements(folder, made)
    except (duckdb.Error, DamagedRecord) as problem:  # without sums, and its columns are not those of any version
        yield "operations", f"they cannot be read: {str(problem).splitlines()[0]}"
        return
    yield from _reported(folder, made)


OLDER = ("passed", "failed", "not checked")
"""Verdicts of criteria of pileup 0.1, which decided by the figure alone: they say nothing that can be made again."""


def _kept(entry: JournalEntry) -> bool:
    """Whether an entry stays open on purpose: objects that the suite wants to keep."""
    return entry.what == "objects" and entry.cleanup in ("never", "passed")


def _reported(folder: RunFolder, made: RunResults) -> Iterator[tuple[str, str]]:
    """Yield the criteria and groups of equal answers whose verdict in results.json is not the one made again."""
    from pileup.record import files

    path = folder.path / "results.json"
    try:
        results = json.loads(files.read(path))
        told = {each["id"]: each["verdict"] for each in results["criteria"]}
        told |= {", ".join(each["tests"]): each["verdict"] for each in results.get("equivalences", ())}
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as problem:
        yield path.name, f"it cannot be read ({type(problem).__name__}): `pileup report --to json` makes it again"
        return
    criteria = {each.id for each in made.criteria}
    anew = [(each.id, str(each.verdict)) for each in made.criteria]
    anew += [(", ".join(each.tests), each.verdict) for each in made.equivalences]
    for name, verdict in anew:
        if told.get(name) in OLDER and name in criteria:
            continue
        if told.get(name, verdict) != verdict:
            yield path.name, f"{name} was {told[name]}, computed again from the record it is {verdict}"
