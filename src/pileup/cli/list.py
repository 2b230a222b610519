"""pileup list: the plug-ins that are installed, the suites that come with pileup, the runs in a folder."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.config import config_path, endpoints, environment
from pileup.cli.messages import echo
from pileup.cli.working import working
from pileup.model.collecting import uncollected
from pileup.model.errors import UsageError

if TYPE_CHECKING:
    from pileup.cli.data import Listed
    from pileup.plugin.registry import Found
    from pileup.record import RunFolder

PLUGINS = ("tests", "targets", "monitors", "reports", "charts", "exporters")
KINDS = (*PLUGINS, "suites", "runs", "endpoints")


@click.command(
    "list",
    cls=Command,
    examples=[
        ("the suites that come with pileup", "pileup list suites"),
        ("what each suite is for, as a table", "pileup list suites --labels"),
        ("your runs, for a program", "pileup list runs --json"),
    ],
    page="reference/README.md",
)
@click.argument("kind", type=OneOf(KINDS), required=False, metavar="[KIND]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the runs to list [default: $PILEUP_RUNS, else ./runs].",
)
@click.option("--labels", is_flag=True, help="Suites: a table of their labels, in place of what each shows.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: kind -> what there is of it.")
def command(kind: str | None, out: Path | None, labels: bool, as_json: bool) -> None:
    """List plug-ins, suites, runs or endpoints.

    KIND is tests, targets, monitors, reports, charts, exporters, suites, runs or endpoints. A line each: plug-ins that
    are installed, suites that come with pileup, runs of a folder, endpoints of your configuration (`pileup help
    config`). All but runs and endpoints when KIND is left out. Plug-ins that cannot be loaded are listed with the
    reason, runs by their start, the newest last.
    """
    if labels and kind != "suites":
        raise UsageError("`--labels` is given", "it with `pileup list suites` alone", "suites have labels")
    kinds = [kind] if kind else [*PLUGINS, "suites"]
    with working("reading the runs" if kind == "runs" else "looking"), uncollected():
        found = {each: rows(each, out) for each in kinds}
        if labels:
            _add_labels(found["suites"])
    if as_json:
        echo(json.dumps(found, indent=2))
        return
    if labels:
        _print_labels(found["suites"])
        return
    for number, each in enumerate(kinds):
        if number:
            echo()
        print_kind(each, found[each])


def rows(kind: str, out: Path | None = None) -> list[Listed]:
    """Return what there is of a kind, as plain data; the first value is the name."""
    if kind == "suites":
        return list(_suites())
    if kind == "endpoints":
        return list(_endpoints())
    return list(_runs(out)) if kind == "runs" else list(_plugins(kind))


def print_kind(kind: str, found: Sequence[Listed]) -> None:
    """Print what there is of a kind, a line each."""
    none = {"suites": "none", "runs": "none in this folder", "endpoints": f"none in {config_path(os.environ)}"}.get(
        kind, "none is installed"
    )
    echo(f"{kind}:" if found else f"{kind}: {none}")
    width = max((len(str(each["name"])) for each in found), default=0)
    for each in found:
        package = f"  [{each['package']}]" if each.get("package") not in (None, "", "pileup") else ""
        verdict = f"{each['verdict']:<9} " if "verdict" in each else ""
        echo(f"  {each['name']:<{width}}  {verdict}{each['about']}{package}")


def _plugins(kind: str) -> Iterator[Listed]:
    from pileup.plugin.registry import find_all

    for each in find_all(kind):
        yield {"name": each.name, "about": line(each), "package": each.package, "available": each.cls is not None}


def _suites() -> Iterator[Listed]:
    from pileup.suite.shipped import SHIPPED, opening, shipped_suites

    for name, path in shipped_suites().items():
        question, _, _ = opening(path.read_text(encoding="utf-8")).partition("\n")
        yield {"name": f"{SHIPPED}{name}", "about": question, "file": str(path)}


def _add_labels(suites: list[Listed]) -> None:
    from pileup.suite.labels import labels_of

    for each in suites:
        each["labels"] = labels_of(Path(each["file"]))


def _print_labels(suites: list[Listed]) -> None:
    """Print the suites against the features of their use, and what the words mean."""
    from pileup.suite.labels import VOCABULARY

    table = [["suite", *VOCABULARY]]
    table += [[each["name"], *(each["labels"].get(feature, "-") for feature in VOCABULARY)] for each in suites]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        echo("  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    for feature, words in VOCABULARY.items():
        echo(f"\n{feature}")
        for word, meaning in words.items():
            echo(f"  {word:<12}{meaning}")


def _runs(out: Path | None) -> Iterator[Listed]:
    """Yield the runs of a folder; what is not a run, or cannot be read, is skipped."""
    from contextlib import suppress

    from pileup.model.errors import RecordError
    from pileup.record import RunFolder
    from pileup.run.start import runs_path

    base = runs_path(out, environment())
    for path in sorted(base.iterdir()) if base.is_dir() else ():
        with suppress(RecordError, OSError):
            folder = RunFolder.open(path)
            info = folder.manifest()
            yield {
                "name": str(path),
                "about": info.title,
                "verdict": str(info.verdict or ("broken off" if _is_broken_off(folder) else info.state)),
                "exit_code": info.exit_code,
                "started": info.started,
                "ended": info.ended,
            }


def _is_broken_off(folder: RunFolder) -> bool:
    """Whether the pileup of a run is gone before the end of the run; of a simulation that cannot be seen."""
    info = folder.manifest()
    if info.has_ended or info.simulated:
        return False
    from pileup.run.recovery.leftovers import alive

    return not alive(folder)


def _endpoints() -> Iterator[Listed]:
    from pileup.suite.quick import kind_of_url

    for name, each in endpoints().items():
        kind = each.kind or kind_of_url(each.url)
        yield {"name": name, "about": f"{each.url} ({kind or 'of no known kind'})", "url": each.url, "kind": kind}


def line(plugin: Found) -> str:
    """Return the first line of a plug-in's page, or why it is unavailable."""
    if plugin.cls is None:
        return f"unavailable: {plugin.reason}"
    page = inspect.getdoc(plugin.cls) if plugin.cls.__doc__ else None
    return page.splitlines()[0] if page else "(no description)"
