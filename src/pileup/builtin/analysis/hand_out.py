"""One query shared by all clients of a load: the state machine that hands out its packets and adds its results up."""

from __future__ import annotations

import statistics
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pileup.builtin.analysis.carried import unpacked
from pileup.builtin.analysis.functions import add
from pileup.builtin.analysis.packages import versions
from pileup.builtin.analysis.rules import MakesRule, Rule, packetizer
from pileup.plugin import Ask, Coordinator, Failed, Reply
from pileup.plugin.coordinator import Plain
from pileup.plugin.packets import LATE, File, Packet

if TYPE_CHECKING:
    from hist import Hist

Told = tuple[str, str, str]
"""What is wrong, what was expected, what to do next."""
LOST, LATER, AFAR, LAST = "lost", "late", "afar", "last"
"""Why a packet was the last one: its worker was lost; it took long; its file is elsewhere; nothing special."""


class Placed(Protocol):
    """A file of a query."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def place(self) -> str:
        """The node that has it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a query is, and how its result is judged."""

    files: Sequence[Placed]
    edges: Sequence[Sequence[int]]
    """Where a packet of each file may begin, and its end."""
    function: str
    """The function of the user's that fills the histograms; empty if pileup does."""
    judge: Callable[[dict[str, Hist[Any]]], Told | None]
    described: Plain = field(default_factory=dict)
    """The data set, for clients that enter."""
    rule: MakesRule = packetizer
    """What hands its packets out."""


@dataclass(slots=True)
class Worker:
    """A client that takes part."""

    node: str
    place: int
    missing: frozenset[int]
    """Files that it cannot read."""
    events: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class FileTimes:
    """When a file was read: from its first packet until the last one that counted, ns; 0: not yet."""

    begin: int = 0
    end: int = 0
    events: int = 0
    """Events that counted."""


@dataclass(slots=True)
class Given:
    """A packet and a worker that has it."""

    packet: Packet
    client: int
    at: int


@dataclass(slots=True)
class Query:
    """A query under way. Times in ns."""

    packets: Rule
    begin: int
    workers: int
    places: int
    idle: OrderedDict[int, None] = field(default_factory=OrderedDict)
    """Clients that wait, in the order of their coming."""
    held: dict[int, Given] = field(default_factory=dict)
    """By client."""
    results: dict[int, bytes] = field(default_factory=dict)
    """Of packets that are done and do not count yet."""
    found: dict[str, Hist[Any]] = field(default_factory=dict)
    files: dict[int, FileTimes] = field(default_factory=dict)
    given: int = 0
    counted: int = 0
    """Packets that were given, and that count."""
    lost: list[Packet] = field(default_factory=list)
    """What workers had that were lost."""
    dry: int = 0
    """When a worker first found nothing that nobody had; 0: not yet."""

    def seconds(self, now: int) -> float:
        """Return how long it has run. As a float, the time since the epoch would be off by 120 ns."""
        return (now - self.begin) / 1e9


class HandOut(Coordinator):
    """Begins a query when all clients are there, gives each its next packet, ends it when all events are counted."""

    def __init__(self, task: Task, clients: int) -> None:
        self._task = task
        self._expected = set(range(clients))
        self._workers: dict[int, Worker] = {}
        self._joined: set[int] = set()
        self._away: set[int] = set()
        """Clients that had left before the last one of the load, though no place was lost."""
        self._query: Query | None = None
        self._over: dict[int, Plain] = {}
        """Clients that work on a query that is over, and their answer."""

    def take(self, asks: Sequence[Ask], now: int) -> Iterator[Reply]:
        """Do as a `Coordinator` does."""
        acts = {"enter": self._enter, "join": self._join, "next": self._next, "wait": self._wait, "fail": self._fail}
        for ask in asks:
            yield from acts[str(ask.told["do"])](ask, now)

    def leave(self, clients: Collection[int], lost: bool, now: int) -> Iterator[Reply]:
        """Do as a `Coordinator` does."""
        for client in set(clients) & self._expected:
            self._expected.discard(client)
            self._joined.discard(client)
            self._over.pop(client, None)
            if not lost:
                self._away.add(client)
            if (query := self._query) is not None and self._workers.get(client):
                query.idle.pop(client, None)
                if (given := query.held.pop(client, None)) is not None:
                    query.lost.append(given.packet)
                query.packets.lose(str(client))
        if self._query is not None and self._expected:
            yield from self._refused(self._query, now) or self._give_idle(now)
        yield from self._begin(now)

    def tick(self, now: int) -> Iterator[Reply]:
        """Do as a `Coordinator` does: give what is late to those who wait."""
        yield from self._give_idle(now)

    def _enter(self, ask: Ask, now: int) -> Iterator[Reply]:
        """Describe the data set to a client, if it has the same packages."""
        del now
        ours = versions()
        theirs: Any = ask.told["versions"]
        if (other := next((name for name in ours if theirs.get(name) != ours[name]), None)) is not None:
            told = f"worker {ask.client} at {ask.told['node']} has {other} {theirs.get(other)}"
            wanted = f"{ours[other]} as here: histograms of all workers are added up"
            yield Reply(ask.client, {"failed": [told, wanted, f"install {other} {ours[other]} there"]})
            return
        yield Reply(ask.client, {"set": self._task.described})

    def _join(self, ask: Ask, now: int) -> Iterator[Reply]:
        missing: Any = ask.told["missing"]
        place = int(str(ask.told["place"]))
        self._workers[ask.client] = Worker(str(ask.told["node"]), place, frozenset(missing))
        self._joined.add(ask.client)
        yield from self._begin(now)

    def _begin(self, now: int) -> Iterator[Reply]:
        """Begin the next query when all who are left are there."""
        if self._query is not None or not self._joined or len(self._joined) < len(self._expected):
            return
        files = [File(file.place, edges) for file, edges in zip(self._task.files, self._task.edges, strict=True)]
        there = {client: self._workers[client] for client in sorted(self._joined)}
        private = {files[number].node for worker in there.values() for number in worker.missing}
        places = len({worker.place for worker in there.values()})
        self._query = query = Query(self._task.rule(files, private, len(there)), now, len(there), places)
        for client, worker in there.items():
            query.packets.join(str(client), worker.node)
        query.idle = OrderedDict.fromkeys(there)
        self._joined = set()
        if self._away:
            told = f"{len(there)} of {len(there) + len(self._away)} clients came to the query"
            wanted = "all: `times` is a multiple of `clients`, and `clients` of the places"
            yield from self._end(query, now, (told, wanted, "change the load"))
            return
        yield from self._refused(query, now) or self._give_idle(now)

    def _refused(self, query: Query, now: int) -> list[Reply]:
        """End a query of which somebody would have to read what nobody can."""
        nodes = {self._workers[client].node for client in self._expected if client in self._workers}
        missing = {number for client in self._expected for number in self._workers[client].missing}
        for number in sorted(missing):
            file, events = self._task.files[number], query.files.get(number, FileTimes()).events
            if file.place not in nodes and events < self._task.edges[number][-1]:
                told = f"{file.name} of the data set is at {file.place}, where no worker is left to read it"
                hint = "use the places that have generated it, or put the files where all can read them"
                return list(self._end(query, now, (told, "a worker at each host that has files", hint)))
        return []

    def _next(self, ask: Ask, now: int) -> Iterator[Reply]:
        """Accept a packet, and give the next one."""
        query, given = self._query, None
        if query is None or ask.client in self._over or (given := query.held.pop(ask.client, None)) is None:
            yield from self._told_over(ask.client)
            return
        worker, seconds = self._workers[ask.client], float(str(ask.told["seconds"]))
        worker.events += given.packet.events
        worker.seconds += seconds
        query.results.setdefault(given.packet.id, ask.blob)
        try:
            for counted in query.packets.finish(str(ask.client), given.packet, seconds):
                self._count(query, counted, now)
        except (Failed, ValueError) as problem:
            query.idle[ask.client] = None
            told = (problem.what, problem.expected, problem.hint) if isinstance(problem, Failed) else None
            yield from self._end(query, now, told or (str(problem), "histograms", "look at the place"), ask.client)
            return
        if query.packets.done:
            query.idle[ask.client] = None
            yield from self._end(query, now, self._task.judge(query.found), ask.client, given)
            return
        yield self._give(query, ask.client, now) or Reply(ask.client, {"wait": True, "active": len(query.held)})
        yield from self._give_idle(now)

    def _wait(self, ask: Ask, now: int) -> Iterator[Reply]:
        """Let a client wait until there is something for it."""
        if self._query is None or ask.client in self._over:
            yield from self._told_over(ask.client)
            return
        self._query.idle[ask.client] = None
        yield from self._give_idle(now)

    def _fail(self, ask: Ask, now: int) -> Iterator[Reply]:
        """End the query: a client could not do its part."""
        what, wanted, hint = (str(each) for each in ask.told["told"])  # type: ignore[attr-defined]
        if self._query is not None and ask.client not in self._over:
            self._query.held.pop(ask.client, None)
            yield from self._end(self._query, now, (f"worker {ask.client}: {what}", wanted, hint))
        self._over.pop(ask.client, None)
        yield Reply(ask.client, {})

    def _count(self, query: Query, packet: Packet, now: int) -> None:
        if data := query.results.pop(packet.id, b""):
            add(query.found, unpacked(data), self._task.function or "a worker")
        query.counted += 1
        times = query.files[packet.file]
        times.end, times.events = now, times.events + packet.events

    def _give(self, query: Query, client: int, now: int) -> Reply | None:
        packet = query.packets.ask(str(client), query.seconds(now))
        if packet is None:
            if not query.packets.unassigned:
                query.dry = query.dry or now
            return None
        query.held[client] = Given(packet, client, now)
        query.given += 1
        if packet.file not in query.files:
            query.files[packet.file] = FileTimes(begin=now)
        return Reply(client, {"packet": [packet.file, packet.begin, packet.end], "active": len(query.held)})

    def _give_idle(self, now: int) -> Iterator[Reply]:
        """Give packets to those who wait, as far as there are some; and note when to try again."""
        query = self._query
        if query is None:
            return
        for _ in range(len(query.idle)):
            if not query.packets.may_give(query.seconds(now)):
                break
            client, _ = query.idle.popitem(last=False)
            if (reply := self._give(query, client, now)) is None:
                query.idle[client] = None
            else:
                yield reply
        due = query.packets.due
        wanted = None if due is None else query.begin + int(due * 1e9) + 1
        self.wake = max(wanted, now + 1_000_000) if query.idle and wanted is not None else None

    def _end(
        self, query: Query, now: int, problem: Told | None, last: int | None = None, given: Given | None = None
    ) -> Iterator[Reply]:
        """End a query, right or wrong; the client of the last packet records it."""
        self._query = self.wake = None
        told: Plain = {"failed": list(problem)} if problem else {}
        recorder = last if last is not None else min(query.idle, default=None)
        for client in self._expected - query.idle.keys():
            self._over[client] = told
        record = self._record(query, now, given)
        for client in sorted(query.idle):
            own = {**told, "record": record} if client == recorder else told
            yield Reply(client, {"over": own})

    def _told_over(self, client: int) -> Iterator[Reply]:
        """Answer a client that the query it works on is over."""
        unknown = {"failed": ["no query is under way", "one that the client has joined", "report this as a fault"]}
        yield Reply(client, {"over": self._over.pop(client, unknown)})

    def _record(self, query: Query, now: int, given: Given | None) -> Plain:
        """Return what is to be recorded of a query; times in ns."""
        files = self._task.files
        known = query.files.items()
        read = [[files[number].name, files[number].place, each.begin, each.end] for number, each in known]
        again = query.given - query.counted - len(query.lost)
        tail = {} if given is None else {"tail": self._tail(query, given, now)}
        size = {"workers": query.workers, "places": query.places}
        counts = {"again": again, "lost": len(query.lost)}
        return {"begin": query.begin, "end": now, "files": read, **size, **counts, **tail}

    def _tail(self, query: Query, given: Given, now: int) -> Plain:
        packet, why = given.packet, self._why(query, given, now)
        key = f"{self._task.files[packet.file].name} {packet.begin}-{packet.end}"
        return {"begin": query.dry or now, "worker": given.client, "packet": key, "why": why}

    def _why(self, query: Query, given: Given, now: int) -> str:
        """Return why this packet was the last one."""
        packet = given.packet
        had = (each for each in query.lost if each.file == packet.file)
        if any(each.begin < packet.end and packet.begin < each.end for each in had):
            return LOST
        rates = [each.events / each.seconds for each in self._workers.values() if each.seconds]
        if packet.events / statistics.median(rates) * LATE < (now - given.at) / 1e9:
            return LATER
        return AFAR if self._workers[given.client].node != self._task.files[packet.file].place else LAST
