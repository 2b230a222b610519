"""What pileup itself costs on this machine: a short load that does nothing, native and in Python, before a run."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pileup._core._native import now
from pileup.fleet import Fleet, Order, Pressing, Work
from pileup.fleet.place import LocalPlace
from pileup.model.errors import PileupError
from pileup.model.loads.load import Load
from pileup.model.program import Program, Step
from pileup.model.record import Claimed
from pileup.plugin import Context, Op, Test
from pileup.record.tally import Counters, counted

LENGTH = 10_000_000
"""How long each kind is pressed at a time, ns."""
ENOUGH, MOST = 2, 4
"""How often it is measured, of which the fastest counts: wanted, and tried at most."""
LONGEST = 0.5
"""Seconds after which it is given up."""
TIMEOUT = 10**9


class DoNothing(Test):
    """A Python test that does nothing."""

    def run(self, op: Op) -> None:
        """Return at once."""


class NullOutput:
    """Where the output of nothing goes."""

    def append(self, stream: str, title: str, text: str) -> None:
        """Forget it."""

    def note(self, text: str) -> None:
        """Forget it."""

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Forget it."""

    def claim(self, claims: Sequence[Claimed]) -> None:
        """Forget it."""


def calibrate() -> dict[str, float]:
    """Return ns per iteration of one client that does nothing: `native`, and `python` in a thread.

    A value that cannot be measured is left out, since a run does not need it. Takes about 50 ms on an idle machine.
    """
    program = Program((Step("noop", "noop"),))
    works = {"native": Work(_make, program), "python": Work(_make)}
    found = {}
    for kind, work in works.items():
        try:
            costs = _costs(work)
        except (PileupError, OSError, ValueError):
            continue
        if costs:
            found[kind] = min(costs)
    return found


def _costs(work: Work) -> list[float]:
    costs: list[float] = []
    for _ in range(MOST):
        if len(costs) < ENOUGH and (cost := _cost(work)) is not None:
            costs.append(cost)
    return costs


def _make(client: int) -> Test:
    return DoNothing(None, Context(client=client))


def _cost(work: Work) -> float | None:
    """Return ns per iteration, None when it did not end in time. The table of its rows is thrown away."""
    with tempfile.TemporaryDirectory(prefix="pileup-calibration-") as folder:
        fleet = Fleet([LocalPlace(0, Path(folder) / "operations.table")])
        try:
            order = Order(0, "calibration", Load.model_validate({"clients": 1, "for": LENGTH}), TIMEOUT, seed=1)
            begin = now()
            return _pressed(fleet.press(order, work, NullOutput()), begin)
        finally:
            fleet.close()


def _pressed(pressing: Pressing, begin: int) -> float | None:
    over = pressing.wait(LONGEST)
    took = now() - begin
    if not over:
        pressing.stop(at_once=True)
        pressing.wait(LONGEST)
    done = counted(pressing.frames(), lambda row: row.iteration).get(True, Counters())
    pressing.close()
    passed = done.counts["passed"]
    return min(took, LENGTH) / passed if over and passed else None
