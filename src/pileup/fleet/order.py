"""What a place has to run: the load as arithmetic, and the work of one iteration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

from pileup._core import _native
from pileup.fleet.asking import Answerer
from pileup.fleet.starts import StartsFile
from pileup.model.loads.load import Load
from pileup.model.plan import Case
from pileup.model.program import ClientSpec, Program
from pileup.model.record import Phase
from pileup.plugin import Coordinator, Test

MOST_THREADS = 64
"""Clients in flight of an open load of a plain Python test that does not say: more would wait for the interpreter."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one iteration: a program for the native engine, or a Python test made for each client."""

    make: Callable[[int], Test]
    """Makes the test of a client."""
    program: Program | None = None
    client: ClientSpec | None = None
    coroutine: bool = False
    """Whether the Python test's `run` is async."""
    by_place: tuple[Program, ...] = ()
    """The program of each place of the fleet, where they differ; `program` is that of the first."""
    coordinator: Callable[[], Coordinator | None] | None = None
    """Makes what answers the clients of a load at all places, if anything does."""
    answerer: Answerer | None = None
    """What answers them while a load is under way."""

    def at(self, position: int) -> Work:
        """Return the work of a place, by its position in the fleet from 1."""
        if not self.by_place:
            return self
        return replace(self, program=self.by_place[(position - 1) % len(self.by_place)], by_place=())


@dataclass(frozen=True, slots=True)
class Order:
    """One load of one case. Times in nanoseconds."""

    case: int
    name: str
    load: Load
    timeout: int
    seed: int
    target: int = 0
    """Index of the target in run.json."""
    phase: Phase | None = None
    """Phase of every row, for programs that prepare or clean up."""
    errors_in_a_row: int | None = None
    operations: int | None = None
    starts: StartsFile | None = None
    """What a load of replayed starts looks them up in."""
    trial: bool = False
    """Whether the load only looks for something: what it measures is warm-up, its warm-up ramp."""
    shared: str = ""
    """What the `begin_run` of its test returned, as text."""
    stamp: str = ""
    """The stamp in the names of its jobs, which makes them unique."""
    places: int | frozenset[str] | None = None
    """The places of the fleet that run it: how many, or these numbers (from 1) and names; None: all."""

    @staticmethod
    def of(case: Case, seed: int, target: int) -> Order:
        """The order for the load of a case; `seed` is the suite's."""
        return Order(case.id, case.name, case.load, case.test.timeout, case_seed(seed, case.name), target)

    def phase_at(self, elapsed: int) -> Phase:
        """Return the phase of an iteration that was due so many ns after the beginning of the load."""
        return Phase(self.at_place().phase(elapsed))

    def share(self, shard: int, shards: int) -> int | None:
        """Return how many iterations a shard has in all, None when no number bounds them."""
        return self.at_place(0, shard, shards).number_here

    def part(self, shard: int, shards: int, most: int | None = None) -> tuple[int, int] | None:
        """Return which starts of an open load a shard begins: (number, of how many), None when none.

        A load with fewer clients than shards (docs/engine.md) belongs to as many of them as it has clients.
        """
        return self.at_place(0, shard, shards, most=most).numbers_here

    def at_place(
        self,
        place: int = 0,
        shard: int = 0,
        shards: int = 1,
        start: int = 0,
        most: int | None = None,
        *,
        workers: int = 1,
    ) -> _native.Load:
        """Return what the engine makes of the load at a place; arguments as of `to_native`."""
        return _native.Load(self.to_native(place, shard, shards, start, most, workers=workers))

    def to_native(
        self, place: int, shard: int, shards: int, start: int, most: int | None = None, *, workers: int = 1
    ) -> str:
        """Return the load as the engine takes it (docs/engine.md); `most` bounds an open load's clients."""
        plain = self.load.to_native() | {
            "case": self.case,
            "name": self.name,
            "target": self.target,
            "place": place,
            "shard": shard,
            "shards": shards,
            "seed": self.seed,
            "start": start,
            "phase": self.phase,
            "timeout": self.timeout,
            "workers": workers,
            "errors_in_a_row": self.errors_in_a_row,
            "operations": self.operations,
            "trial": self.trial,
        }
        if self.load.open:
            plain["clients"] = self.load.clients or most
        if self.starts:
            plain |= self.starts.to_native()
        return json.dumps(plain)


def client_to_native(client: ClientSpec | None) -> str:
    """Return a client as the engine takes it (docs/engine.md); the one that does nothing where there is none."""
    return json.dumps(_plain(client or ClientSpec("noop")))


def _plain(client: ClientSpec) -> dict[str, object]:
    others = {name: _plain(other) for name, other in client.others.items()}
    return {"protocol": client.protocol, "settings": client.settings, **({"others": others} if others else {})}


def case_seed(seed: int, name: str) -> int:
    """Return the seed of a case: different for every name, the same in every run of the suite."""
    digest = blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
