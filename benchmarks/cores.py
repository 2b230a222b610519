"""How far apart the cores of server and generator are, which a host may change at any time: those that share a cache
hand a line to each other in some 30 ns, others in 70 (Intel Xeon) to 170 (AMD EPYC), and then a request over TCP costs
a quarter more. Runs are compared with runs of the same kind."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import meter
from peers import CC, here

NEAR = 50.0
"""Cores that hand a cache line to each other in less time, ns, share a cache."""
LEAST = 5
"""Runs of the rarer kind that are needed for a figure of it."""
KINDS = ("near", "far")
WORDS = {"near": ", cores that share a cache", "far": ", cores that do not"}

Run = dict[str, float]


class Distance:
    """Measures it. Without a compiler nothing says how far apart they are."""

    def __init__(self, folder: Path) -> None:
        self._program: Path | None = folder / "cores_apart" if here(CC) else None
        if self._program is not None:
            source = Path(__file__).with_name("cores_apart.c")
            subprocess.run([str(CC.path()), "-O2", "-pthread", "-o", str(self._program), str(source)], check=True)

    def around(self, run: Callable[[], Run]) -> Run:
        """Do a run; return what it gives with `apart_before` and `apart_after`, ns; 0: not known."""
        before = self._apart()
        found = run()
        return found | {"apart_before": before, "apart_after": self._apart()}

    def _apart(self) -> float:
        if self._program is None:
            return 0.0
        cores = [str(meter.SERVER_CORE), str(meter.GENERATOR_CORE)]
        done = subprocess.run([str(self._program), *cores], capture_output=True, text=True, check=True, timeout=60)
        return float(done.stdout)


def kind(run: Mapping[str, float]) -> str:
    """Return `near` or `far`; empty when the cores were moved meanwhile, or nothing is known."""
    ends = {KINDS[apart >= NEAR] if apart else "" for apart in (run["apart_before"], run["apart_after"])}
    return ends.pop() if len(ends) == 1 else ""


def by_kind(*together: Sequence[Run]) -> dict[str, list[list[Run]]]:
    """Return the runs that were one right after the other and of one kind, by the words of that kind.

    A kind that was too rare is left out. Where nothing is known of any run they are all of one kind, without words.
    """
    if not any(one["apart_before"] for runs in together for one in runs):
        return {"": [list(runs) for runs in together]}
    rows = [row for row in zip(*together, strict=True) if len({kind(one) for one in row}) == 1]
    found = {name: [row for row in rows if kind(row[0]) == name] for name in KINDS}
    most = max(map(len, found.values()))
    return {
        WORDS[name]: [list(runs) for runs in zip(*of, strict=True)]
        for name, of in found.items()
        if of and (len(of) >= LEAST or len(of) == most)
    }
