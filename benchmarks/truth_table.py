"""Write truth and reported values as a table into docs/truth.md: `python benchmarks/truth_table.py [--only GROUP ...]`.

Every condition of tests/truth/ is pressed, as its tests do, by servers of their own that keep logs. A cell has what the
log says and what pileup reports; a figure that does not agree, by the tolerances of the tests, is bold, and the exit
code is 1. With `--only` the tables of these groups are printed and nothing is written.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from meter import machine  # noqa: E402  beside this file

from tests.truth import conditions, special  # noqa: E402
from tests.truth.compared import Line, Seen, counts, lines, rate, share  # noqa: E402
from tests.truth.press import Pressed  # noqa: E402

PAGE = ROOT / "docs" / "truth.md"
BEGIN, END = "<!-- table of truth: begin -->", "<!-- table of truth: end -->"
FIGURES = ("rate", "bytes", "p50", "p90", "p99", "did not pass", "missed")
"""Columns of the table of loads."""
GROUPS: Mapping[str, tuple[Callable[[Path], Mapping[str, conditions.Run]], int]] = {
    "overload": (conditions.overloads, 6),
    "outcomes": (conditions.singles, 3),
    "disturbed": (conditions.disturbed, 5),
    "busy": (conditions.on_busy_machine, 1),
    "levels": (conditions.levels, 5),
}
"""Group -> its runs, and how many go on at once."""
WORDS = {
    "open_80": "80 /s offered, open",
    "calm_fixed": "calm, fixed service",
    "calm_exponential": "calm, exponential service",
    "calm_lognormal": "calm, log-normal service, closed",
    "refused": "30 % refused at random",
    "shed": "503 beyond 5 in the system, 2 x",
    "timed_out": "most time out at 1 s, 2 x",
    "late": "many time out at 1 s, 1.6 x",
    "stops": "the server stops for 1 s",
    "open_long": "2000 /s offered, open, 1000 in flight: most take longer than the window",
    "stopped": "pileup stopped for 0.4 s",
    "busy": "two busy loops beside it",
    "dead": "dead, two busy loops beside it",
    "killed": "kill -9 three times, away for 1 s",
}


def title(name: str) -> str:
    """Return a condition in words."""
    if name in WORDS:
        return WORDS[name]
    kind, offered, *warm = name.split("_")
    return f"{offered} /s offered, {kind}" + (", ramp and warm-up" if warm else "")


def loads(runs: Mapping[str, Pressed]) -> Iterator[tuple[str, list[Line]]]:
    """Yield the lines of each load that has the usual figures."""
    for run in runs.values():
        for name in run.conditions:
            if name in WORDS or name.startswith(("open_", "closed_")):
                yield title(name), list(figures(run, name))


def figures(run: Pressed, name: str) -> Iterator[Line]:
    """Yield the figures of a load; quantiles are of the system, so not where something held up the clients."""
    if name not in {"busy", "dead", "killed"}:
        yield from lines(run, name)
        return
    seen = Seen(run, name)
    yield rate(seen)
    yield share(seen)
    if name != "killed":  # what was in its hands is ambiguous, and has no answer in the log
        yield from counts(seen)


def others(runs: Mapping[str, Pressed]) -> Iterator[tuple[str, list[Line]]]:
    """Yield figures that only some loads have."""
    if "killed" in runs:
        yield title("killed"), list(special.recoveries(runs["killed"], "killed"))
    if "stopped" in runs:
        yield title("stopped"), [special.excused(runs["stopped"])]
    if "drip" in runs:
        yield "2 clients, transfers of 10 MB at 20 MB/s each", [special.moved(runs["drip"], "drip")]
        yield "the same of 200 MB: none ends in the window", [special.moved(runs["drip"], "drip_long")]
    for name in conditions.FINDS:
        if name in runs:
            yield f"`find`, {name}", [special.level(runs[name], name)]
    if "held" in runs:
        yield "`hold` of 20 in flight, +-50 %", [special.held_share(runs["held"], "held")]
    if "pair" in runs:
        yield "5 pairs, 20 ms and 23 ms", [special.paired(runs["pair"])]


def cell(line: Line | None) -> str:
    """Return the truth and what pileup reports."""
    if line is None:
        return ""
    text = line.truth if line.truth == line.told else f"{line.truth} / {line.told}"
    return text if line.agrees else f"**{text}**"


def load_table(found: Iterable[tuple[str, list[Line]]]) -> list[str]:
    """Return a row for each load."""
    made = [f"| condition | {' | '.join(FIGURES)} |", "|---" * (len(FIGURES) + 1) + "|"]
    for name, told in found:
        by_name = {line.figure: line for line in told}
        made.append(f"| {name} | {' | '.join(cell(by_name.get(figure)) for figure in FIGURES)} |")
    return made


def other_table(found: Iterable[tuple[str, list[Line]]]) -> list[str]:
    """Return a row for each figure."""
    made = ["| condition | figure | by the log / reported |", "|---|---|---|"]
    return made + [f"| {name} | {line.figure} | {cell(line)} |" for name, told in found for line in told]


def write(text: str) -> None:
    """Put the tables between the markers of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> int:
    """Press everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=GROUPS, help="print the tables of these groups alone")
    only = parser.parse_args().only
    host = machine()
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Pressed] = {}
        for name in only or GROUPS:
            print(f"  {name}", flush=True)
            make, most = GROUPS[name]
            runs |= conditions.pressed(make(Path(folder) / name), most)
        usual, special_ones = list(loads(runs)), list(others(runs))
    every = [line for _, told in (*usual, *special_ones) for line in told]
    wrong = sum(not line.agrees for line in every)
    taken = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    on = f"{host['cores']} cores, load {host['load_before']} before"
    said = f"{len(every)} figures, {wrong} of them do not agree. Taken {taken} on {on}."
    text = "\n".join([said, "", *load_table(usual), "", *other_table(special_ones)])
    if only:
        print(text)
    else:
        write(text)
        print(f"{PAGE.relative_to(ROOT)}: {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
