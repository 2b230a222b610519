"""Clients of an async test share their loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from pileup.fleet.order import Order, Work
from pileup.fleet.place import LocalPlace
from pileup.fleet.python.coroutines import TURNS
from pileup.model.loads.load import Load
from pileup.model.record import Claimed
from pileup.plugin import Op, Test

SECOND = 10**9


class Silent:
    """Takes output and forgets it."""

    def append(self, stream: str, title: str, text: str) -> None:
        """Forget."""

    def note(self, text: str) -> None:
        """Forget."""

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Forget."""

    def claim(self, claims: Sequence[Claimed]) -> None:
        """Forget."""


class NeverWaits(Test):
    """Comes back at once, without having waited for anything."""

    turns: ClassVar[list[int]] = []

    async def run(self, op: Op) -> None:
        self.turns.append(op.client)


def test_clients_that_never_wait_take_turns(tmp_path: Path) -> None:
    NeverWaits.turns.clear()
    place = LocalPlace(0, tmp_path / "operations.table")
    load = Load(clients=3, times=TURNS * 30)
    part = place.prepare(
        Order(1, "case", load, 5 * SECOND, seed=1), Work(lambda _client: NeverWaits(), coroutine=True), Silent()
    )
    part.begin(0)
    assert part.wait(20)
    part.close()
    place.close()
    turns = NeverWaits.turns
    assert len(turns) == TURNS * 30
    assert min(Counter(turns).values()) >= TURNS * 9
    longest = max(len(list(same)) for _, same in groupby(turns))
    assert longest <= TURNS, "nobody goes on for longer while others are due"
