"""A cluster in virtual time that runs a query: the RCF cluster of the PROOF benchmark (2004), and larger ones like it.

Nodes are of three generations (18 slow, 99 middle, 75 fast, in these proportions), 24 to a switch, with a worker and a
file of 100 MB each. An event has 50 kB and is one read: 0.2 ms from the own disk, 1.5 ms from another node and as much
more for each worker that reads from it at the same time, as its server does one read after another.
"""

import heapq
from collections import Counter
from dataclasses import dataclass
from random import Random

from pileup.plugin.packets import File, Packetizer

CLASSES = ((18, 1.4), (99, 2.4), (75, 3.0))
"""Nodes, and GHz."""
CPU = 0.015
"""Seconds that an event takes at 1 GHz: 160 events or 8 MB a second at 2.4 GHz, 800 MB/s of 100 workers."""
LOCAL, REMOTE = 0.0002, 0.0015
EVENTS, CLUSTER = 2000, 20
SWITCH = 24
STALL = 60.0
"""Seconds that a stalling worker does nothing, once, from a random moment."""
AGAIN = 0.05
"""Seconds until a worker that got nothing asks again."""
LENGTH = 12.0
"""About what a query takes, in which these moments are."""


@dataclass(frozen=True, slots=True)
class Query:
    """How it went: `tail` from when the first worker found nothing left that nobody had, until the end."""

    seconds: float
    tail: float
    packets: int
    counted: int


class StaticRule:
    """The rule of 2004: packets of one size, own files first, then the next file; who is late is waited for."""

    def __init__(self, files):
        self._total = sum(file.edges[-1] for file in files)
        self._left = {number: (file.node, 0, file.edges[-1]) for number, file in enumerate(files)}
        self._own = {file.node: number for number, file in enumerate(files)}
        self._size = max(1, self._total // (20 * len(files)))
        self._workers = {}
        self.unassigned = self.uncounted = self._total

    @property
    def done(self):
        return self.uncounted == 0

    def join(self, worker, node):
        self._workers[worker] = node

    def ask(self, worker, now):
        number = self._own[self._workers[worker]]
        if number not in self._left:
            number = next(iter(self._left), None)
        if number is None:
            return None
        node, begin, stop = self._left.pop(number)
        end = min(begin + self._size, stop)
        if end < stop:
            self._left[number] = (node, end, stop)
        self.unassigned -= end - begin
        return Given(number, begin, end)

    def finish(self, worker, packet, seconds):
        self.uncounted -= packet.end - packet.begin
        return [packet]


@dataclass(frozen=True, slots=True)
class Given:
    file: int
    begin: int
    end: int

    @property
    def events(self):
        return self.end - self.begin


def query(workers, *, rule=Packetizer, stalling=0.01, seed=1):
    """Run one query and return how it went."""
    random = Random(seed)
    kinds = [speed for number, speed in CLASSES for _ in range(number)]
    speeds = [kinds[number * len(kinds) // workers] for number in range(workers)]
    random.shuffle(speeds)
    nodes = [f"s{number // SWITCH}/n{number}" for number in range(workers)]
    edges = range(0, EVENTS + 1, CLUSTER)
    machine = rule([File(node, edges) for node in nodes])
    stalls = {number: random.uniform(0, LENGTH) for number in random.sample(range(workers), round(workers * stalling))}
    for number, node in enumerate(nodes):
        machine.join(str(number), node)
    due = [(0.0, number, None, 0.0) for number in range(workers)]
    reading, dry, now, packets, counted = Counter(), None, 0.0, 0, 0
    while not machine.done:
        now, number, packet, took = heapq.heappop(due)
        if packet is not None:
            reading[packet.file] -= 1
            counts = machine.finish(str(number), packet, took)
            counted += sum(each.events for each in counts)
            if machine.done:
                break
        if machine.unassigned == 0 and dry is None:
            dry = now
        given = machine.ask(str(number), now)
        if given is None:
            heapq.heappush(due, (now + AGAIN, number, None, 0.0))
            continue
        packets += 1
        reading[given.file] += 1
        wait = LOCAL if given.file == number else REMOTE * reading[given.file]
        took = given.events * (CPU / speeds[number] + wait)
        if now + took > stalls.get(number, float("inf")):
            took += STALL
            del stalls[number]
        heapq.heappush(due, (now + took, number, given, took))
    return Query(now, now - (now if dry is None else dry), packets, counted)
