"""Which worker gets which events of which file next: a state machine without a clock, which reads and sends nothing.

A *packet* is a range of events of one file, along the edges of its clusters. A worker asks for one, reads it, and asks
again. Sizes follow each worker's rate, so that a packet takes about `SECONDS`, and shrink towards the end (guided
self-scheduling: a share of what is left in proportion to the rate). A worker gets files of its own node first. When
they are done it gets a part of a packet that is late; then files of the node nearby that would need longest for what it
has left, or of one further away that would need far longer, if not too many read there from afar; and where nothing
else is left, a few more may. Files of a node whose own worker is late are read by quick workers at once. Whoever is
done first counts: the packet, or all of its parts. Every event counts once. Times are given by who calls, in seconds of
any clock that does not go back.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

SECONDS = 1.0
"""What a packet should take."""
SHARE = 0.5
"""Part of a worker's share in what is left that it gets at once."""
HOLDERS = 3
"""Workers that may read the same packet at once."""
PARTS = 4
"""Parts into which a packet is divided that somebody is late with."""
READERS = 4
"""Workers of other nodes that read from a node at once, as in PROOF's adaptive packetizer (PROOF_MaxSlavesNode)."""
FAR = 2.0
"""A node further away is read from when it would need so many times longer than one nearby."""
CROWD = 3
"""So many times more of them read there rather than do nothing."""
LATE = 2.0
"""A packet is late after so many times what its worker should need, more where many read."""
LEAST = 0.1
"""Seconds for which no packet is late, however few events it has: any worker may be held up for so long."""
NEWS = 0.1
"""Change of a rate of which the need of a node is worked out again at once."""
NEW, OLD = 0.5, 0.5
"""Weights of the rate of the last packet, and of those before."""


@dataclass(frozen=True, slots=True)
class File:
    """A file to read: its node, as a way from the network down ("switch1/node7"), and the edges of its clusters."""

    node: str
    edges: Sequence[int]


@dataclass(frozen=True, slots=True)
class Packet:
    """Events `begin` to `end` of a file, by its number."""

    id: int
    file: int
    begin: int
    end: int

    @property
    def events(self) -> int:
        """How many events they are."""
        return self.end - self.begin


@dataclass(slots=True)
class _Out:
    """A packet that is out, or waits to go out as a part of another one."""

    packet: Packet
    first: int
    stop: int
    """Its clusters."""
    whole: int | None = None
    """The id of the packet that it is a part of."""
    holders: set[str] = field(default_factory=set)
    parts: list[int] = field(default_factory=list)
    done: bool = False


@dataclass(slots=True)
class _Node:
    """What is left of the files of a node: (file, first cluster, end of the clusters)."""

    left: deque[tuple[int, int, int]] = field(default_factory=deque)
    events: int = 0
    readers: int = 0
    """Workers of other nodes that read its files now."""
    rate: float = 0.0
    """Events per second of its own workers."""
    needs: float = 0.0
    """Seconds that those who read here now would need for what is left."""

    def open(self, most: int) -> bool:
        """Whether there is something for workers of other nodes: nothing while so many read here."""
        return bool(self.events) and self.readers < most


@dataclass(slots=True)
class _Worker:
    node: str
    rate: float = 0.0
    """Events per second; 0 until a packet has come back."""
    held: dict[int, Packet] = field(default_factory=dict)


class Packetizer:
    """Hands out the events of files to workers."""

    def __init__(
        self, files: Sequence[File], seconds: float = SECONDS, readers: int = READERS, private: Collection[str] = ()
    ) -> None:
        self._files = files
        self._private = private
        """Nodes whose files only their own workers can read."""
        self._seconds = seconds
        self._readers = readers
        self._nodes: dict[str, _Node] = {}
        self._workers: dict[str, _Worker] = {}
        self._most: dict[str, list[tuple[float, str]]] = {}
        """For each place in the network, its nodes by what they have left: a heap, some of it out of date."""
        self._crowded: list[tuple[float, str]] = []
        """The same of nodes where `READERS` read already."""
        self._stuck: dict[str, None] = {}
        """Nodes with files whose own worker is late, or lost."""
        self._out: dict[int, _Out] = {}
        """By id, oldest first."""
        self._parts: deque[int] = deque()
        """Parts that nobody holds."""
        self._late: list[tuple[float, int]] = []
        """When packets are late: a heap."""
        self._overdue: deque[int] = deque()
        """Packets that are late and that somebody else may take."""
        self._rates = 0.0
        self._next = 0
        self.unassigned = 0
        """Events that nobody has been given."""
        self.uncounted = 0
        """Events that have not been counted."""
        for number, file in enumerate(files):
            if len(file.edges) > 1:
                self._put(file.node, (number, 0, len(file.edges) - 1))
        self.uncounted = self.unassigned

    @property
    def done(self) -> bool:
        """Whether every event has been counted."""
        return self.uncounted == 0

    @property
    def due(self) -> float | None:
        """When the next packet may be late, which idle workers could take over; None when none is out."""
        return self._late[0][0] if self._late else None

    def may_give(self, now: float) -> bool:
        """Whether there may be something for a worker that asks now."""
        if self._parts or self._overdue or (self._late and self._late[0][0] <= now):
            return True
        if not self.unassigned or self._private:
            return self.unassigned > 0
        return (self._first(self._most.get("", []), self._readers) or self._crowd()) is not None

    def join(self, worker: str, node: str) -> None:
        """Let a worker at a node take part."""
        self._workers[worker] = _Worker(node)

    def ask(self, worker: str, now: float) -> Packet | None:
        """Return the next packet of a worker; None when there is nothing it could do now, so that it asks again."""
        asking = self._workers[worker]
        self._find_late(now)
        out = self._own(asking) or self._part(asking) or self._of_late(worker) or self._from_afar(asking)
        if out is None:
            return None
        crowd = max(1.0, self._nodes[self._files[out.packet.file].node].readers / self._readers)
        patience = max(LATE * crowd * self._needs(asking, out.packet), LEAST)
        heappush(self._late, (now + patience, out.packet.id))
        out.holders.add(worker)
        asking.held[out.packet.id] = out.packet
        self._read_from_afar(asking, out.packet, 1)
        return out.packet

    def finish(self, worker: str, packet: Packet, seconds: float) -> list[Packet]:
        """Accept a packet, read in so many seconds; return the packets whose results count from now on.

        None do when others were faster. A part counts, with the others, when all parts are back before the whole.
        """
        back = self._workers[worker]
        if packet.id not in back.held:
            return []
        del back.held[packet.id]
        self._read_from_afar(back, packet, -1)
        self._stuck.pop(back.node, None)
        self._learn(back, packet.events / max(seconds, 1e-9))
        out = self._out.get(packet.id)
        if out is None or out.done:
            return []
        out.done = True
        if out.whole is None:
            return self._count([out])
        whole = self._out[out.whole]
        parts = [self._out[each] for each in whole.parts]
        return self._count(parts, whole) if all(part.done for part in parts) else []

    def exchange(
        self, asks: Iterable[tuple[str, Packet | None, float]], now: float
    ) -> Iterator[tuple[str, Packet | None, list[Packet]]]:
        """Accept and hand out for many workers: (worker, packet that is done, its seconds).

        Yields for each the worker, its next packet, and the packets that count from now on.
        """
        for worker, packet, seconds in asks:
            counted = [] if packet is None else self.finish(worker, packet, seconds)
            yield worker, self.ask(worker, now), counted

    def lose(self, worker: str) -> None:
        """Forget a worker; what it held goes to others."""
        gone = self._workers.pop(worker)
        self._rates -= gone.rate
        if (has := self._nodes.get(gone.node)) is not None:
            has.rate -= gone.rate
        if has is not None and has.events:
            self._stuck[gone.node] = None
        for number, packet in gone.held.items():
            self._read_from_afar(gone, packet, -1)
            out = self._out.get(number)
            if out is None or out.done:
                continue
            out.holders.discard(worker)
            if out.holders or out.parts:
                continue
            if out.whole is None:
                del self._out[number]
                self._put(self._files[out.packet.file].node, (out.packet.file, out.first, out.stop))
            else:
                self._parts.appendleft(number)

    def _learn(self, worker: _Worker, rate: float) -> None:
        known = worker.rate
        worker.rate = NEW * rate + OLD * known if known else rate
        self._rates += worker.rate - known
        if (has := self._nodes.get(worker.node)) is not None:
            has.rate += worker.rate - known
            if abs(worker.rate - known) > NEWS * known:
                self._weigh(worker.node, 0)

    def _count(self, outs: list[_Out], whole: _Out | None = None) -> list[Packet]:
        """Count these, and forget what is in their place: the parts of a packet, or the packet of parts."""
        for out in outs:
            self.uncounted -= out.packet.events
            self._forget(out)
        if whole is not None:
            self._forget(whole)
        return [out.packet for out in outs]

    def _forget(self, out: _Out) -> None:
        out.done = True
        self._out.pop(out.packet.id, None)
        for each in out.parts:
            if part := self._out.pop(each, None):
                part.done = True

    def _put(self, node: str, clusters: tuple[int, int, int]) -> None:
        """Add clusters to what is left at a node, as the next ones."""
        file, first, stop = clusters
        edges = self._files[file].edges
        self.unassigned += edges[stop] - edges[first]
        has = self._nodes.setdefault(node, _Node())
        has.left.appendleft(clusters)
        self._weigh(node, edges[stop] - edges[first])

    def _weigh(self, node: str, more: int) -> None:
        """Note that a node has `more` events left than before, everywhere on the way to it."""
        has = self._nodes[node]
        has.events += more
        if node in self._private:
            return
        mean = self._rates / max(1, len(self._workers))
        rate = has.readers * mean + (0.0 if node in self._stuck else has.rate)
        has.needs = has.events / max(rate, mean / 10, 1e-9)
        if has.open(self._readers):
            for place in _way(node):
                heappush(self._most.setdefault(place, []), (-has.needs, node))
        elif has.open(CROWD * self._readers):
            heappush(self._crowded, (-has.needs, node))

    def _read_from_afar(self, worker: _Worker, packet: Packet, more: int) -> None:
        """Note that a worker begins to read a packet, or has ended."""
        node = self._files[packet.file].node
        if node != worker.node:
            self._nodes[node].readers += more
            self._weigh(node, 0)

    def _own(self, worker: _Worker) -> _Out | None:
        """Return a new packet from the files of its node; to one that is quick, first of a node that is stuck."""
        quick = worker.rate * len(self._workers) > self._rates
        if quick and self.unassigned and (node := self._stuck_node()) is not None:
            return self._from_node(worker, node)
        own = self._nodes.get(worker.node)
        return self._from_node(worker, worker.node) if own is not None and own.events else None

    def _from_afar(self, worker: _Worker) -> _Out | None:
        """Return a new packet from the files of another node."""
        node = (self._nearest(worker.node) or self._crowd()) if self.unassigned else None
        return None if node is None else self._from_node(worker, node)

    def _from_node(self, worker: _Worker, node: str) -> _Out:
        has = self._nodes[node]
        file, first, stop = has.left.popleft()
        edges = self._files[file].edges
        end, wanted = first + 1, self._size(worker)
        while end < stop and edges[end + 1] - edges[first] <= wanted:
            end += 1
        if end < stop:
            has.left.appendleft((file, end, stop))
        events = edges[end] - edges[first]
        self.unassigned -= events
        self._weigh(node, -events)
        if not has.events:
            self._stuck.pop(node, None)
        return self._new(file, first, end)

    def _size(self, worker: _Worker) -> float:
        """Return the events that a worker should get: one cluster until its rate is known."""
        if not worker.rate:
            return 0.0
        share = SHARE * self.unassigned * worker.rate / max(self._rates, worker.rate)
        return min(worker.rate * self._seconds, share)

    def _nearest(self, node: str) -> str | None:
        """Return the node that needs help most among the nearest, or one further away that needs it far more."""
        near: str | None = None
        for place in _way(node):
            found = self._first(self._most.get(place, []), self._readers)
            if found and (near is None or self._far_worse(found, near)):
                near = found
        return near

    def _far_worse(self, far: str, near: str) -> bool:
        """Whether a node needs help so much more than one nearby; nothing is known of that without rates."""
        return self._rates > 0 and self._nodes[far].needs > FAR * self._nodes[near].needs

    def _first(self, heap: list[tuple[float, str]], most: int) -> str | None:
        """Return the first node of a heap that is up to date and where fewer than `most` read from afar."""
        while heap:
            needs, found = heap[0]
            if -needs == self._nodes[found].needs and self._nodes[found].open(most):
                return found
            heappop(heap)
        return None

    def _stuck_node(self) -> str | None:
        """Return a node with files that its own worker does not read, if others may."""
        for node in self._stuck:
            if node not in self._private and self._nodes[node].open(self._readers):
                return node
        return None

    def _crowd(self) -> str | None:
        """Return the node that needs help most of all where not too many read, even if they disturb each other."""
        return self._first(self._crowded, CROWD * self._readers)

    def _find_late(self, now: float) -> None:
        """Note what is late, and whose files nobody reads meanwhile."""
        while self._late and self._late[0][0] <= now:
            _, number = heappop(self._late)
            out = self._out.get(number)
            if out is None or out.done:
                continue
            self._overdue.append(number)
            for node in (self._workers[each].node for each in out.holders):
                if (has := self._nodes.get(node)) is not None and has.events:
                    self._stuck[node] = None
                    self._weigh(node, 0)

    def _new(self, file: int, first: int, stop: int, whole: int | None = None) -> _Out:
        edges = self._files[file].edges
        out = _Out(Packet(self._next, file, edges[first], edges[stop]), first, stop, whole)
        self._out[self._next] = out
        self._next += 1
        return out

    def _part(self, worker: _Worker) -> _Out | None:
        """Return a part that nobody holds."""
        for _ in range(len(self._parts)):
            number = self._parts.popleft()
            out = self._out.get(number)
            if out is None or out.done:
                continue
            if self._reads(worker, out):
                return out
            self._parts.append(number)
        return None

    def _reads(self, worker: _Worker, out: _Out) -> bool:
        """Whether a worker can read the file of a packet."""
        node = self._files[out.packet.file].node
        return node == worker.node or node not in self._private

    def _of_late(self, worker: str) -> _Out | None:
        """Return what another worker is late with: a part of it, or the same if it is one cluster."""
        asking = self._workers[worker]
        for _ in range(len(self._overdue)):
            number = self._overdue.popleft()
            out = self._out.get(number)
            if out is None or out.done or out.parts or worker in out.holders or len(out.holders) >= HOLDERS:
                continue  # nobody else needs to take it
            if not self._reads(asking, out):
                self._overdue.append(number)
                continue
            if out.whole is None and out.stop - out.first > 1:
                self._divide(out)
                return self._part(asking)
            return out
        return None

    def _needs(self, worker: _Worker, packet: Packet) -> float:
        """Return the seconds that a worker should need: by its rate, else by that of all, else as a packet should."""
        rate = worker.rate or self._rates / max(1, len(self._workers))
        return packet.events / rate if rate else self._seconds

    def _divide(self, whole: _Out) -> None:
        """Make parts of a packet, along the edges of clusters."""
        number = whole.stop - whole.first
        cuts = [whole.first + number * part // min(PARTS, number) for part in range(min(PARTS, number) + 1)]
        for first, stop in itertools.pairwise(cuts):
            part = self._new(whole.packet.file, first, stop, whole.packet.id)
            whole.parts.append(part.packet.id)
            self._parts.append(part.packet.id)


def _way(node: str) -> Iterator[str]:
    """Yield the places around a node, the smallest first: "a/b/c" is in "a/b", "a", and ""."""
    while node:
        node = node.rpartition("/")[0]
        yield node
