"""The practice cluster as a machine in virtual time: workers that read the packets of a query."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterable
from functools import partial
from random import Random
from typing import ClassVar, NamedTuple, Protocol

from pileup.builtin.analysis.hand_out import HandOut, Task
from pileup.builtin.analysis.rules import MakesRule
from pileup.builtin.practice.cluster import ClusterSettings
from pileup.plugin import Ask, Failed, Reply, Target, VirtualTime
from pileup.plugin.coordinator import Answered, Plain

LOOKS = 20_000_000
"""Time between two looks at how many workers have a packet, ns."""
WAIT: Plain = {"do": "wait"}


class Read(NamedTuple):
    """A packet that a worker has read; times in ns since the epoch."""

    worker: int
    kind: str
    """Of its node."""
    own: bool
    """Whether the file was its own."""
    file: str
    begin: int
    end: int
    bytes: int
    start: int
    stop: int


class Watches(Protocol):
    """What learns of a query while it runs."""

    def read(self, packet: Read) -> None:
        """A packet was read."""

    def active(self, workers: int) -> None:
        """So many workers have a packet."""


class File(NamedTuple):
    """A file of the query, at a node."""

    name: str
    place: str


class Over(NamedTuple):
    """A query that is over."""

    record: Answered
    """What `HandOut` says of it."""
    idle: float
    """Share of the time of all workers in which they had no packet."""


class SimulatedCluster(Target):
    """Nodes with a worker and a file each."""

    kind = "practice-cluster"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "cluster"})

    def __init__(self, settings: ClusterSettings, time: VirtualTime) -> None:
        super().__init__()
        self.settings, self.time = settings, time

    async def query(self, rule: MakesRule, number: int, watch: Watches) -> Over:
        """Run a query whose packets are handed out by a rule; its random times are those of its number.

        Raises Failed when some of the events were not read.
        """
        return await ClusterQuery(self.settings, self.time, rule, number, watch).run()


class ClusterQuery:
    """One query under way."""

    def __init__(
        self, settings: ClusterSettings, time: VirtualTime, rule: MakesRule, number: int, watch: Watches
    ) -> None:
        self._settings, self._time, self._watch = settings, time, watch
        random = Random(f"{settings.seed} {time.seed} {number}")
        workers = settings.workers
        each = [kind for kind in settings.generations for _ in range(kind.share)]
        self._kinds = [each[worker * len(each) // workers] for worker in range(workers)]
        random.shuffle(self._kinds)
        self._stalls = {
            worker: time.now() + int(random.uniform(0, settings.stall_within))
            for worker in random.sample(range(workers), round(workers * settings.stalling))
        }
        """When workers stall that have not done so yet."""
        self._files = [File(f"f{worker}", f"s{worker // settings.switch}/n{worker}") for worker in range(workers)]
        edges = [*range(0, settings.events, settings.cluster), settings.events]
        task = Task(self._files, [edges] * workers, "", lambda _: None, rule=rule)
        self._hand_out = HandOut(task, workers)
        self._asks: deque[Ask] = deque()
        self._busy = False
        self._reading: Counter[int] = Counter()
        """File -> workers that read it from elsewhere or here."""
        self._read: list[tuple[int, int, int]] = []
        self._active, self._looks, self._last_look = 0, False, 0
        self._waits: dict[int, int] = {}
        """Worker that waits -> since when."""
        self._idle = 0
        self._planned: int | None = None
        """When the hand-out is to be woken, as the clock knows."""
        self._over: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()

    async def run(self) -> Over:
        """Run it to its end. Raises Failed when some of the events were not read."""
        begin = self._time.now()
        for worker, file in enumerate(self._files):
            self._waits[worker] = begin
            join = {"do": "join", "node": file.place, "place": worker, "missing": []}
            self._asks.append(Ask(worker, join))
        self._talk()
        record = await self._over
        end = self._time.now()
        self._watch.active(0)
        self._idle += sum(end - since for since in self._waits.values())
        self._check()
        return Over(record, self._idle / max(1, (end - begin) * self._settings.workers))

    def _talk(self) -> None:
        """Bring what workers ask to the hand-out, and its answers to them, until nobody asks."""
        if self._busy:
            return
        self._busy = True
        while self._asks and not self._over.done():
            asks, self._asks = self._asks, deque()
            self._take(list(self._hand_out.take(asks, self._time.now())))
        self._busy = False
        self._plan()

    def _take(self, replies: Iterable[Reply]) -> None:
        for reply in replies:
            told: Answered = reply.told
            if "packet" in told:
                self._begin(reply.client, *told["packet"])
            elif "wait" in told:
                self._waits[reply.client] = self._time.now()
                self._asks.append(Ask(reply.client, WAIT))
            elif (record := told["over"].get("record")) is not None and not self._over.done():
                self._over.set_result(record)

    def _begin(self, worker: int, file: int, begin: int, end: int) -> None:
        """Let a worker read a packet."""
        now, own = self._time.now(), file == worker
        self._idle += now - self._waits.pop(worker, now)
        self._reading[file] += 1
        read = self._settings.local if own else self._settings.remote * self._reading[file]
        took = (end - begin) * (self._kinds[worker].event + read)
        if now + took > self._stalls.get(worker, 2**63):
            took += self._settings.stall
            del self._stalls[worker]
        self._moved(1)
        self._time.at(now + took, partial(self._ended, worker, (file, begin, end), now))

    def _ended(self, worker: int, packet: tuple[int, int, int], start: int) -> None:
        """Bring a packet back; one that comes after the end is of no use to anybody."""
        if self._over.done():
            return
        now, (file, begin, end) = self._time.now(), packet
        self._reading[file] -= 1
        self._read.append(packet)
        self._moved(-1)
        size = (end - begin) * self._settings.event_size
        kind = self._kinds[worker].name
        self._watch.read(Read(worker, kind, file == worker, self._files[file].name, begin, end, size, start, now))
        self._asks.append(Ask(worker, {"do": "next", "seconds": (now - start) / 1e9}))
        self._talk()

    def _plan(self) -> None:
        """Have the hand-out woken when it wants to be."""
        wake = self._hand_out.wake
        if wake is not None and (self._planned is None or wake < self._planned):
            self._planned = wake
            self._time.at(max(wake, self._time.now()), self._tick)

    def _tick(self) -> None:
        self._planned = None
        if not self._over.done():
            self._take(list(self._hand_out.tick(self._time.now())))
            self._talk()

    def _moved(self, more: int) -> None:
        """Note that more workers or fewer have a packet; that is reported at most once in `LOOKS`."""
        self._active += more
        if not self._looks:
            self._looks = True
            self._time.at(max(self._time.now(), self._last_look + LOOKS), self._look)

    def _look(self) -> None:
        self._looks, self._last_look = False, self._time.now()
        if not self._over.done():
            self._watch.active(self._active)

    def _check(self) -> None:
        """Raise Failed unless the packets that have come back have all events of all files."""
        reached = [0] * len(self._files)
        for file, begin, end in sorted(self._read):
            if begin <= reached[file]:
                reached[file] = max(reached[file], end)
        if missing := next((file for file, end in enumerate(reached) if end < self._settings.events), None):
            told = f"events of {self._files[missing].name} from {reached[missing]} on were counted and not read"
            raise Failed(told, "all events, each of them read", "report this as an internal error of pileup")
