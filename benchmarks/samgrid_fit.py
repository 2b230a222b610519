"""Find what the paper of the SAMGrid study leaves open: nodes, drives, times, and what lies together on a cartridge.

    python benchmarks/samgrid_fit.py [--tries 200] [--seed 1]
    python benchmarks/samgrid_fit.py --check       # the settings of examples/samgrid-tuning.yaml

Draws settings at random, runs the test `tape.project` on the practice library in virtual time with 5 and with 1
transfers at a time, and prints the settings in the order of their distance from what the paper says: 8 h and 10 h in
all, 5 h and 8 h a project. The distance is the largest of the four relative differences. Settings where the queue wait
of a file handed to tape is not shorter with 1 come last. Nothing is recorded, so that a try takes about a second.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pileup.builtin.practice.tape import PracticeTapeTarget
from pileup.builtin.tape.project import TapeProject
from pileup.plugin import Context, Target
from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.loop import VirtualLoop
from pileup.run.simulation.machines import MachineTime
from pileup.suite import load

PROJECTS = 200
HOUR = 3600 * 10**9
PAPER = {5: (8.0, 5.0), 1: (10.0, 8.0)}
"""Transfers at a time -> hours in all, and of a project on the average."""
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "samgrid-tuning.yaml"


@dataclass
class Counted:
    """An iteration of which only the sums are kept (plugin.Op), and its open operations (plugin.Ledger)."""

    number: int
    sums: dict[str, int]
    bytes: int = 0
    calls: int = 0
    client: int = field(init=False)

    def __post_init__(self) -> None:
        """A client has one project."""
        self.client = self.number

    @contextmanager
    def __call__(self, name: str, key: str = "", **_: Any) -> Iterator[Counted]:
        """Time nothing."""
        yield self

    def record(self, name: str, key: str = "", *, start: int, end: int, **_: Any) -> None:
        """Add up what was timed."""
        self.sums[name] = self.sums.get(name, 0) + end - start

    def begin(self, *_: Any) -> None:
        """Keep nothing."""

    def end(self, *_: Any, **__: Any) -> bool:
        """Know of nothing."""
        return False


def study(launch: dict[str, Any], options: dict[str, Any], transfers: int) -> tuple[float, float, float]:
    """Return hours in all, of a project, and of the queue wait of a file, on the average."""
    clock = VirtualClock(0)
    loop = VirtualLoop(clock)
    sums: dict[str, int] = {}

    async def project(tape: Target, number: int) -> int:
        test = TapeProject(tape, Context(client=number), **options)
        op = Counted(number, sums)
        test.ledger = op  # type: ignore[assignment]
        await test.run(op)  # type: ignore[arg-type]
        return clock.now()

    async def main() -> list[int]:
        tape = PracticeTapeTarget().simulated({**launch, "max_transfers": transfers}, MachineTime(clock, 1))
        return await asyncio.gather(*(project(tape, number) for number in range(PROJECTS)))

    try:
        ends = loop.run_until_complete(main())
    finally:
        loop.close()
    return max(ends) / HOUR, sum(ends) / PROJECTS / HOUR, sums["queue_wait"] / (PROJECTS * int(options["files"])) / HOUR


def drawn(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings and options of a try. Times are in shares of what a drive has for a file, scaled afterwards."""
    drives = random.choice([6, 8, 10, 12, 16])
    seconds = 8 * 3600 * drives / (PROJECTS * 10)  # of a drive for one file, if it is always busy
    together, ahead = random.choice([2, 5, 10, 10]), random.choice([2, 5, 5, 10])
    change = random.uniform(0.15, 0.6) * seconds  # of cartridges
    reading = max(5.0, seconds - change / min(together, 5))
    seek = random.uniform(0.1, 0.4) * reading
    launch = {
        "nodes": random.choice([40, 50, 67, 80, 100, 110, 120, 130, 140, 150, 160, 200]),
        "drives": drives,
        "arms": drives,
        "cartridges": 5000,
        "order": "cartridge",
        "mount": f"{change * 2 / 3:.0f} s",
        "dismount": f"{change / 3:.0f} s",
        "seek": {"uniform": ["0 s", f"{2 * seek:.0f} s"]},
        "speed": f"{1000 / (reading - seek):.2f} MB/s",
    }
    return launch, {"files": 10, "size": "1 GB", "work": "1 min", "ahead": ahead, "together": together}


def told(launch: dict[str, Any], options: dict[str, Any]) -> tuple[float, str]:
    """Return the distance of settings from the paper, and both in words."""
    found = {transfers: study(launch, options, transfers) for transfers in PAPER}
    shorter = found[1][2] < found[5][2]
    distances = [abs(got / wanted - 1) for each in PAPER for got, wanted in zip(found[each], PAPER[each], strict=False)]
    words = (f"{each}: {whole:.2f} h, {one:.2f} h, wait {wait:.2f} h" for each, (whole, one, wait) in found.items())
    figures = "; ".join(words)
    return max(distances) if shorter else 9.0, figures


def example() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the shipped suite."""
    plan = load(EXAMPLE)
    return dict(plan.suite.targets["tape"].launch or {}), dict(plan.suite.tests[0].options)


def main() -> None:
    """Draw, try, print the best."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    random = Random(given.seed)
    tries = [example()] if given.check else [drawn(random) for _ in range(given.tries)]
    found = sorted(((*told(*each), *each) for each in tries), key=lambda each: each[0])
    for distance, figures, launch, options in found[:10]:
        print(f"{distance:.0%}  {figures}\n    {launch}\n    {options}")


if __name__ == "__main__":
    main()
