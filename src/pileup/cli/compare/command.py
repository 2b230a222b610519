"""pileup compare: runs against a baseline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pileup.cli.arguments import RUN
from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo, plain
from pileup.cli.working import working
from pileup.model.errors import UsageError
from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from pileup.model.contrast import RunComparison
    from pileup.model.gate import Gate, GateResult
    from pileup.model.results import RunResults

FORMATS = ("text", "json", "html")


@click.command(
    "compare",
    cls=Command,
    examples=[
        ("a new run against an old one", "pileup compare runs/old runs/new"),
        (
            "in CI: exit with 4 when the p99 grew by more than 5 % since the last run that passed",
            "pileup compare --last-green runs/new --fail-if 'p99 > 5 %'",
        ),
    ],
    page="compare.md",
)
@click.argument("runs", nargs=-1, required=True, metavar="BASELINE RUN...", shell_complete=RUN.shell_complete)
@click.option("--last-green", is_flag=True, help="Take the newest earlier run that passed as BASELINE.")
@click.option("--all", "everything", is_flag=True, help="Also list metrics without a change that is shown.")
@click.option("--format", "form", type=OneOf(FORMATS), default="text", show_default=True, help="Form of output.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write to.  [default: stdout]")
@click.option(
    "--matters",
    default="5 %",
    show_default=True,
    metavar="SHARE",
    help="Smallest difference that matters, as a share of the baseline.",
)
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 4 when a shown change is so large: worse, 'p99 > 5 %', 'rate(read) < -5 %', 'worse > 10 %'. "
    "May be given several times.",
)
def command(
    runs: tuple[str, ...],
    last_green: bool,
    everything: bool,
    form: str,
    as_json: bool,
    out: Path | None,
    matters: str,
    conditions: tuple[str, ...],
) -> int:
    """Compare runs with a baseline.

    The baseline is the first folder; RUN,RUN takes several runs as one side. A sentence says whether something is
    better or worse; then what has changed is listed: rate, throughput, response times, share not passed of each test
    and operation, with the interval of the change at 95 %.

    With --last-green the baseline is the newest run in the folder of RUN that passed before it, of the same suite on
    the same machine.

    Exit codes: 0, or with --fail-if 4 when a condition holds, 8 when one cannot be judged.
    """
    form, gates = "json" if as_json else form, [_gate(text) for text in conditions]
    found = compared((_green(runs[0]), *runs) if last_green else runs, matters)
    judged = _judged(found, gates)
    data = _rendered(found, form, everything, judged)
    if out is not None:
        from pileup.cli.report import write

        echo(write(out, data.encode()))
    else:
        echo(prefix=data if form == "text" else plain(data), nl=not data.endswith("\n"))  # colours of our own
    if any(each.holds for each in judged):
        return ExitCode.CRITERION_NOT_MET
    return ExitCode.UNKNOWN if any(each.holds is None for each in judged) else ExitCode.PASSED


def _gate(text: str) -> Gate:
    from pileup.model import gate

    try:
        return gate.parse(text)
    except ValueError as problem:
        raise UsageError(f"--fail-if {problem}", f"a condition such as {gate.EXAMPLE}", "docs/compare.md") from problem


def _judged(found: RunComparison, gates: Sequence[Gate]) -> tuple[GateResult, ...]:
    from pileup.stats.compare.gates import judge

    try:
        return judge(found, gates)
    except ValueError as problem:
        names = dict.fromkeys(each.test for against in found.against for each in against.contrasts)
        raise UsageError(f"--fail-if {problem}", f"a metric of {', '.join(names)}", "--all lists them") from problem


def _green(word: str) -> str:
    """Return the baseline of a side. Raises UsageError when no earlier run passed."""
    from pileup.record import RunFolder
    from pileup.record.earlier import last_green

    folder = RunFolder.open(word if Path(word).exists() else word.partition(",")[0])
    green = last_green(folder)
    if green is not None and green.alike:
        return str(green.path)
    beside, expected = folder.path.parent, "a run of the same suite on the same machine"
    if green is None:
        told = f"no run of {folder.manifest().title!r} in {beside} passed before {folder.path.name}"
        raise UsageError(told, f"{expected} that passed", "name the baseline: pileup compare BASELINE RUN")
    other = "another machine" if green.same_suite else "another text of the suite, or other values"
    told = f"the last run that passed before {folder.path.name} is of {other}: {green.path.name}"
    raise UsageError(told, expected, f"to compare all the same: pileup compare {green.path} {word}")


def compared(runs: Iterable[str], matters: str) -> RunComparison:
    """Return the runs compared. Raises UsageError and RecordError."""
    from pileup.stats.compare.runs import compare_runs

    smallest = _share(matters)
    sides = [_side(word) for word in runs]
    if len(sides) < 2:
        raise UsageError(
            "there is one run alone", "a baseline and at least one more", "--last-green takes the last one that passed"
        )
    _check_apart([run for side in sides for run in side])
    found = compare_runs(sides[0], sides[1:], smallest)
    for against in found.against:
        if not against.contrasts:
            raise UsageError(
                f"{found.baseline.name} and {against.candidate.name} have no test in common that measured anything",
                "runs of the same suite, or of suites with tests of the same names",
                "pileup show RUN",
            )
    return found


def _check_apart(runs: Iterable[RunResults]) -> None:
    """Raise UsageError when a run is there twice, or a copy of it."""
    seen: dict[str, str] = {}
    for run in runs:
        name = run.run.nonce or run.folder
        if known := seen.get(name):
            told = (
                f"{run.folder} is given twice" if known == run.folder else f"{known} and {run.folder} are the same run"
            )
            raise UsageError(told, "different runs", "pileup list runs")
        seen[name] = run.folder


def _side(word: str) -> list[RunResults]:
    """Return the results of one run, or of several with commas between them."""
    names = [word] if Path(word).exists() else [name for name in word.split(",") if name]
    if not names:
        raise UsageError(f"{word!r} names no run", "a run folder, or several", "RUN,RUN takes several as one")
    return [_read(Path(name)) for name in names]


def _read(run: Path) -> RunResults:
    from pileup.cli.reading import read_run

    with working("reading the runs"):
        return read_run(run)


def _share(text: str) -> float:
    from pileup.model.units import parse

    try:
        found = float(parse(text, "fraction"))
    except ValueError as problem:
        raise UsageError(f"--matters {text!r}: {problem}", "a share of the baseline", "--matters '5 %'") from problem
    if not 0 <= found < 1:
        raise UsageError(f"--matters {text!r} is no share", "0 % or more, and less than 100 %", "--matters '5 %'")
    return found


def _rendered(found: RunComparison, form: str, everything: bool, gates: Sequence[GateResult]) -> str:
    if form == "json":
        from pileup.model.contrast_words import sentence
        from pileup.stats import plain as data_of

        told = [sentence(against, found.smallest) for against in found.against]
        head = {"verdict": found.verdict, "sentences": told, "fail_if": [data_of(each) for each in gates]}
        plain_data = data_of(replace(found, against=tuple(replace(each, overlays=()) for each in found.against)))
        return json.dumps({**head, **plain_data}, indent=1)
    if form == "html":
        from pileup.plugin import Report, registry

        report: Report = registry.load("reports", "html")()
        return report.compared(found).decode()
    return _text(found, everything, gates)


def _text(found: RunComparison, everything: bool, gates: Sequence[GateResult]) -> str:
    """Return the tables; coloured and as wide as the terminal where there is one."""
    from pileup.cli.compare.text import print_comparison
    from pileup.cli.console import SafeConsole

    console = SafeConsole()
    with console.capture() as capture:
        print_comparison(found, console, everything, gates)
    return capture.get()
