"""What a benchmark gives, how it is kept (results/NAME.json) and shown (docs/benchmarks.md)."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from meter import machine

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

What pileup costs, measured against the tools one would take otherwise, on one machine and in turn. This page is made by
`make bench` from [benchmarks/results/](../benchmarks/results/), where every single run is; how it is measured, and
how to get the peers: [benchmarks/README.md](../benchmarks/README.md). A ratio is that of pairs of runs, one right after
the other; its mean is the geometric one, with its 95 % interval (Student's t on logarithms). A median far from the mean
reports on runs of two kinds. A bar is met when the whole interval keeps to it. Commands are without the folders of that
machine; files that they name are made by the benchmark.
"""


@dataclass(slots=True)
class Report:
    """The figures of one benchmark."""

    about: str
    figures: dict[str, dict[str, Any]]
    levels: dict[str, dict[str, float]]
    runs: dict[str, list[dict[str, float]]]
    commands: dict[str, list[str]]
    versions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def progress(text: str) -> None:
    """Show how far it is."""
    print(f"  {text}", flush=True)


def keep(name: str, report: Report, before: dict[str, Any]) -> None:
    """Write the results of a benchmark."""
    RESULTS.mkdir(exist_ok=True)
    plain = asdict(report)
    plain["machine"] = before
    plain["taken"] = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    plain["commands"] = {who: " ".join(map(tidy, words)) for who, words in report.commands.items()}
    (RESULTS / f"{name}.json").write_text(json.dumps(rounded(plain), indent=1) + "\n")


def tidy(word: str) -> str:
    """Return a word of a command without the folders of this machine."""
    word = re.sub(r"(?<![\w:/.])/(?:[\w.+-]+/)+", "", word.replace(f"{ROOT}/", ""))
    return f"'{word}'" if set(word) & set(' "{}') else word


def rounded(value: Any) -> Any:
    """Return plain data with 5 significant digits: what is behind them is noise."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value


def page(order: tuple[str, ...]) -> None:
    """Write the page of the docs from all results there are."""
    parts = [HEAD]
    for name in order:
        file = RESULTS / f"{name}.json"
        if file.exists():
            parts.append(section(name, json.loads(file.read_text())))
    PAGE.write_text("\n".join(parts))


def section(name: str, result: dict[str, Any]) -> str:
    """Return the part of the page of one benchmark."""
    lines = [
        f"## {name}",
        "",
        result["about"],
        "",
        "| figure | median | mean | its 95 % interval | bar | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [row(what, figure) for what, figure in result["figures"].items()]
    lines += ["", *table(result["levels"])]
    lines += [f"* {note}" for note in result["notes"]]
    lines += [] if not result["notes"] else [""]
    versions = ", ".join(f"{who} {which}" for who, which in result["versions"].items())
    host = result["machine"]
    engine = f", engine by {host['engine']}" if "engine" in host else ""
    lines.append(
        f"Taken {result['taken']} on {host['processor']}, {host['cores']} cores, {host['memory_gib']} GiB, "
        f"{host['system']}, Linux {host['kernel']}, Python {host['python']}{engine}; load of the machine before: "
        f"{host['load_before']}." + (f" Versions: {versions}." if versions else "")
    )
    return "\n".join([*lines, "", *typed(result["commands"])])


def typed(commands: dict[str, str]) -> list[str]:
    """Return the command of one run of each contender, as a block of the page."""
    if not commands:
        return []
    lines = [line for who, words in commands.items() for line in (f"# {who}", words)]
    return ["The commands of one run:", "", "```sh", *lines, "```", ""]


def row(what: str, figure: dict[str, Any]) -> str:
    """Return a line of the table of figures."""
    between = "too few runs" if figure["interval"] is None else " to ".join(map(short, figure["interval"]))
    bar = figure["bar"]
    words = "" if not bar else f"at most {bar['most']:g}" if bar["most"] is not None else f"at least {bar['least']:g}"
    verdict = {True: "met", False: "**missed**", None: ""}[figure["met"]]
    count = figure.get("pairs") or figure.get("runs")
    middle = f"{short(figure['median'])} | {short(figure['mean'])}"
    return f"| {what} ({count}) | {middle} | {between} | {words} | {verdict} |"


def table(levels: dict[str, dict[str, float]]) -> list[str]:
    """Return medians as a table, one line for each contender; nothing where there are none."""
    if not levels:
        return []
    columns = list(dict.fromkeys(column for of in levels.values() for column in of))
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for who, of in levels.items():
        lines.append(f"| {who} | " + " | ".join(short(of[column]) if column in of else "" for column in columns) + " |")
    return [*lines, ""]


def short(value: float) -> str:
    """Return a number with 3 digits, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def before() -> dict[str, Any]:
    """Return the machine as it is before a benchmark."""
    return dict(machine())
