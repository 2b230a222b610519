"""What a place is told to press: the load as arithmetic, and the work of one iteration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from pileup.fleet.starts import StartsFile
from pileup.model.hold import Hold
from pileup.model.plan import Case
from pileup.model.program import ClientSpec, Program
from pileup.model.record import Phase
from pileup.model.suite import Load, Stage
from pileup.plugin import Test

MOST_THREADS = 64
"""Clients in flight of an open load of a plain Python test that does not say: more only wait for the interpreter."""
TRIAL = {Phase.MEASURE: Phase.WARM_UP, Phase.WARM_UP: Phase.RAMP}
"""Phase of a load -> that of a trial."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one iteration is: a program for the native engine, or a Python test made for each client."""

    make: Callable[[int], Test]
    """Makes the test of a client."""
    program: Program | None = None
    client: ClientSpec | None = None
    coroutine: bool = False
    """Whether the Python test's `run` is async."""


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
    stamp: str = ""
    """What makes the names that its tests give to jobs its own."""

    @staticmethod
    def of(case: Case, seed: int, target: int) -> Order:
        """The order for the load of a case; `seed` is the suite's."""
        return Order(case.id, case.name, case.load, case.test.timeout, case_seed(seed, case.name), target)

    def phase_at(self, elapsed: int) -> Phase:
        """Return the phase of an iteration that was due so many ns after the beginning of the load."""
        found = _phase_at(self.load, elapsed) if self.phase is None else self.phase
        return TRIAL.get(found, found) if self.trial else found

    def share(self, shard: int, shards: int) -> int | None:
        """Return how many iterations a shard has in all, None when no number bounds them."""
        load = self.load
        times = 1 if load.kind == "once" else self.starts.count if self.starts else load.times
        if times is None:
            return None
        sharing = min(shards, load.most or 1) if load.kind != "open" else shards
        return len(range(shard, times, sharing)) if shard < sharing else 0

    def part(self, shard: int, shards: int, most: int | None = None) -> tuple[int, int] | None:
        """Return which starts of an open load a shard begins: (number, of how many), None when none.

        A load with fewer clients than shards (docs/engine.md) belongs to as many of them as it has clients.
        """
        sharing = min(shards, self.load.clients or most or shards)
        return (shard, sharing) if shard < sharing else None

    def to_native(
        self, place: int, shard: int, shards: int, start: int, most: int | None = None, *, workers: int = 1
    ) -> str:
        """Return the load as the engine takes it (docs/engine.md); `most` bounds an open load's clients."""
        load = self.load
        plain: dict[str, object] = {
            "case": self.case,
            "name": self.name,
            "target": self.target,
            "place": place,
            "shard": shard,
            "shards": shards,
            "seed": self.seed,
            "start": start,
            "kind": load.kind,
            "times": load.times,
            "clients": load.clients or (most if load.kind == "open" else None),
            "rate": load.pace,
            "arrivals": load.arrivals,
            "ramp": load.ramp,
            "warm_up": load.warm_up,
            "for": load.for_,
            "think": load.think.to_native() if load.think else None,
            "phase": self.phase,
            "timeout": self.timeout,
            "pacing": "normal",
            "workers": workers,
            "errors_in_a_row": self.errors_in_a_row,
            "operations": self.operations,
        }
        if load.stages:
            plain["segments"] = _segments(load.stages)
        if load.endless:
            plain["endless"] = True
        if self.starts:
            plain |= self.starts.to_native()
        if self.trial:
            plain["trial"] = True
        if load.hold:
            plain |= _steered(load.hold)
        return json.dumps(plain)


def _steered(hold: Hold) -> dict[str, object]:
    """Return what the engine is told of a load whose level is changed while it goes on."""
    first = int(hold.first) if hold.by == "clients" else hold.first
    return {hold.by: first, "warm_up": hold.settle, "steered": hold.between[1]}


def _phase_at(load: Load, elapsed: int) -> Phase:
    """Return the phase of a load so many ns after its beginning."""
    parts = load.stages or (load,)
    for part in parts:
        for length, phase in ((part.ramp, Phase.RAMP), (part.before, Phase.WARM_UP)):
            if elapsed < length:
                return phase
            elapsed -= length
        if part.for_ is None or elapsed < part.for_:
            return Phase.MEASURE
        elapsed -= part.for_
    return Phase.MEASURE


def _segments(stages: tuple[Stage, ...]) -> list[dict[str, object]]:
    """Return the stages of a load as the engine takes them."""
    words = ("level", "ramp", "warm_up", "for_")
    return [{word.strip("_"): getattr(stage, word) for word in words} for stage in stages]


def client_to_native(client: ClientSpec | None) -> str:
    """Return a client as the engine takes it (docs/engine.md); the one that does nothing where there is none."""
    plain: dict[str, object] = {"protocol": "noop", "settings": {}}
    if client:
        plain = {"protocol": client.protocol, "settings": client.settings}
    return json.dumps(plain)


def case_seed(seed: int, name: str) -> int:
    """Return the seed of a case: different for every name, the same in every run of the suite."""
    digest = blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
