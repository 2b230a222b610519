"""Two programs at the same time on one core, each with a server of its own on the other: 64 keep-alive HTTP connections
beside wrk and oha, and stat by 64 and by 1,000 XRootD sessions beside the loop in C of `sessions`.

Runs one after the other differ by what the machine does at that moment: on a virtual one by more than a tenth. What it
does here it does to both: CPU time of each, by the kernel, and its operations, by its server, between the same two
moments. The second starts when the first is under way, and who was there first is dearer by some percent: a pair is two
such windows together, of either order, with the servers swapped. Each waits for the other, so that rates are half of
what one alone reaches, and the caches of the core are shared: those of two programs with 1,000 sessions each do not
fit, and that figure has no bar (`sessions` has, where each is alone). pileup records every operation in full.
"""

from __future__ import annotations

import contextlib
import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import closed_http
import meter
import storage_servers
import storage_stat
from figures import Report, progress
from peers import CC, NGINX, OHA, WRK, XROOTD, here, versions
from ratios import Bar, ratio
from servers import nginx
from together import Side, total, window

WARM, WINDOW, SPARE = 1.0, 2.5, 3.5
"""Seconds for which both run before the window, in it, and for which pileup runs on, or has run alone before."""
LONG = 15
"""Seconds that the programs beside pileup would run: they are ended when they have been looked at."""
STARTED = 1000
"""Operations after which a program is in its steady part."""
UNCOUNTED = 3000
"""Most operations of a server that are not of the load: logins, and questions how many there were."""
COUNTED = re.compile(r"<misc>(\d+)</misc>")
OURS = "pileup"

Count = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Pair:
    """pileup and a peer on servers of one kind."""

    kind: str
    unit: str
    commands: tuple[Callable[[Any], list[str]], Callable[[Any], list[str]]]
    """What starts each of them on a server."""
    peer: str
    bar: Bar | None

    @property
    def figure(self) -> str:
        """Name of the ratio."""
        return f"CPU per {self.unit}, {OURS} / {self.peer}"


def over_http(folder: Path) -> list[Pair]:
    """Return the pairs over HTTP, of the peers that are here."""
    ours = partial(closed_http.pileup, _folder=folder, seconds=WARM + WINDOW + SPARE)
    peers = {"wrk": (WRK, closed_http.wrk), "oha": (OHA, closed_http.oha)}
    return [
        Pair("http", "request", (ours, partial(command, _folder=folder, seconds=LONG)), name, closed_http.BARS[name])
        for name, (peer, command) in peers.items()
        if here(peer)
    ]


def over_root(folder: Path) -> list[Pair]:
    """Return the pairs over root://: none where no compiler is."""
    program = storage_stat.compiled(folder) if here(CC, XROOTD) == [CC, XROOTD] else None
    return [
        Pair(
            "root",
            f"stat, {sessions:,} sessions",
            (
                lambda one, n=sessions: storage_stat.by_engine(one.url, n, WINDOW + SPARE),
                lambda one, n=sessions: storage_stat.by_loop(program, one.url, n, LONG),
            ),
            "loop in C",
            storage_stat.CLOSE if sessions == storage_stat.FEW else None,
        )
        for sessions in (storage_stat.FEW, storage_stat.SESSIONS)
        if program
    ]


@dataclass(frozen=True, slots=True)
class Stats:
    """An XRootD, which counts each stat twice among its miscellaneous requests."""

    url: str

    def requests(self) -> int:
        """Return how many stats it has done."""
        found = COUNTED.search(storage_stat.statistics_of(self.url))
        if not found:
            raise meter.Trouble("the server does not count requests; expected `misc` among its statistics")
        return int(found[1]) // 2


@contextlib.contextmanager
def servers(kind: str, folder: Path) -> Iterator[list[Any]]:
    """Run two servers of a kind on the server's core while the block lasts."""
    with contextlib.ExitStack() as stack:
        found: list[Any] = []
        for name in ("one", "other"):
            place = folder / f"{kind}-{name}"
            place.mkdir(parents=True)
            if kind == "http":
                found.append(stack.enter_context(nginx(place)))
            else:
                storage_servers.prepare(place, {storage_stat.FILE: 1000})
                found.append(Stats(stack.enter_context(storage_servers.xrootd(place)).urls["root"]))
        yield found


def side(command: list[str], server: Any, *, ours: bool) -> Side:
    """Return one of a pair on its server."""
    before = server.requests()
    check = partial(closed_http.check, server=server, before=before, others=UNCOUNTED) if ours else lambda child: None
    return Side(command, meter.GENERATOR_CORE, lambda _: server.requests() - before, STARTED, check)


def once(pair: Pair, there: list[Any], number: int, folder: Path) -> dict[str, dict[str, float]]:
    """Run both at the same time, twice; return CPU µs per operation and operations per second of each."""
    windows = []
    for mine, others, way in ((*there, 1), (*there[::-1], -1)):
        sides = {
            OURS: side(pair.commands[0](mine), mine, ours=True),
            pair.peer: side(pair.commands[1](others), others, ours=False),
        }
        order = list(sides)[:: way if number % 2 == 0 else -way]
        windows.append(window({name: sides[name] for name in order}, folder, WINDOW, WARM))
    length, uses = total(windows)
    return {name: {"us": 1e6 * used.cpu / used.done, "per_second": used.done / length} for name, used in uses.items()}


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    meter.open_files()
    folder.chmod(0o755)  # a server may run as a user of its own
    report = Report(about=" ".join((__doc__ or "").split()), figures={}, levels={}, runs={}, commands={})
    for all_of in (over_http(folder), over_root(folder)):
        for pair in all_of:
            with servers(pair.kind, folder / f"{len(report.figures)}") as there:
                take(report, pair, there, pairs, folder)
    if not report.figures:
        raise meter.Trouble("no peer is here; expected wrk, oha, or a C compiler and XRootD (benchmarks/README.md)")
    report.versions = versions([NGINX, *here(WRK, OHA, XROOTD)])
    return report


def take(report: Report, pair: Pair, there: list[Any], pairs: int, folder: Path) -> None:
    """Add a pair's figure, runs and commands to the report."""
    names = (OURS, pair.peer)
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for number in range(pairs):
        found = once(pair, there, number, folder)
        progress(f"{pair.unit}: " + ", ".join(f"{name} {found[name]['us']:.2f} µs" for name in names))
        for name in names:
            runs[name].append(found[name])
    report.figures[pair.figure] = ratio(*([one["us"] for one in runs[name]] for name in names), pair.bar)
    for name, command in zip(names, pair.commands, strict=True):
        words = f"{name} beside {pair.peer}" if name == OURS else name
        words = f"{pair.unit}: {words}"
        report.levels[words] = {
            "CPU µs": statistics.median(one["us"] for one in runs[name]),
            "per second": statistics.median(one["per_second"] for one in runs[name]),
        }
        report.runs[words] = runs[name]
        report.commands[words] = command(there[0])
