"""Rules by which packets are handed out: pileup's packetizer, and the one of fixed sizes that it is held against."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Protocol

from pileup.plugin.packets import File, Packet, Packetizer

EACH = 20
"""Packets that each worker gets on the average by the rule of fixed sizes."""


class Rule(Protocol):
    """What says which worker gets which packet next; see `pileup.plugin.packets.Packetizer`."""

    unassigned: int
    """Events that nobody has been given."""

    @property
    def done(self) -> bool:
        """Whether every event has been counted."""

    @property
    def due(self) -> float | None:
        """When there may be something for workers that wait, though nobody has come back."""

    def may_give(self, now: float) -> bool:
        """Whether there may be something for a worker that asks now."""

    def join(self, worker: str, node: str) -> None:
        """Let a worker at a node take part."""

    def ask(self, worker: str, now: float) -> Packet | None:
        """Return the next packet of a worker; None when there is nothing it could do now."""

    def finish(self, worker: str, packet: Packet, seconds: float) -> Sequence[Packet]:
        """Accept a packet, read in so many seconds; return the packets whose results count from now on."""

    def lose(self, worker: str) -> None:
        """Forget a worker; what it held goes to others."""


class MakesRule(Protocol):
    """What makes a rule for one query."""

    def __call__(self, files: Sequence[File], private: Collection[str], workers: int) -> Rule:
        """Return it, for these files, some of which only the workers of their own node can read."""


def packetizer(files: Sequence[File], private: Collection[str], workers: int) -> Rule:
    """Return pileup's packetizer."""
    del workers
    return Packetizer(files, private=private)


class FixedPackets:
    """Packets of one size, own files first, then the next file that has something left; who is late is waited for.

    As packetizers were in 2004, before they adapted sizes to workers: a packet is the twentieth part of what a worker
    would get of all events. A worker reads any file: `private` nodes are not known.
    """

    def __init__(self, files: Sequence[File], private: Collection[str], workers: int) -> None:
        del private
        self.unassigned = self._uncounted = sum(file.edges[-1] for file in files)
        self._size = max(1, self.unassigned // (EACH * max(1, workers)))
        self._left = {number: 0 for number, file in enumerate(files) if file.edges[-1]}
        """File -> the first event that nobody has been given."""
        self._ends = [file.edges[-1] for file in files]
        self._of_node: dict[str, deque[int]] = {}
        for number, file in enumerate(files):
            self._of_node.setdefault(file.node, deque()).append(number)
        self._nodes: dict[str, str] = {}
        self._held: dict[str, Packet] = {}
        self._back: deque[Packet] = deque()
        """What lost workers had."""
        self._next = 0

    due = None
    """Nothing is ever given to a second worker."""

    @property
    def done(self) -> bool:
        """Whether every event has been counted."""
        return self._uncounted == 0

    def may_give(self, now: float) -> bool:
        """Whether there is something left."""
        del now
        return self.unassigned > 0

    def join(self, worker: str, node: str) -> None:
        """Let a worker at a node take part."""
        self._nodes[worker] = node

    def ask(self, worker: str, now: float) -> Packet | None:
        """Return the next packet of a worker; None when nothing is left."""
        del now
        packet = self._back.popleft() if self._back else self._new(self._nodes[worker])
        if packet is not None:
            self.unassigned -= packet.events
            self._held[worker] = packet
        return packet

    def _new(self, node: str) -> Packet | None:
        own = self._of_node.get(node, deque())
        while own and own[0] not in self._left:
            own.popleft()
        number = own[0] if own else next(iter(self._left), None)
        if number is None:
            return None
        begin = self._left[number]
        end = min(begin + self._size, self._ends[number])
        self._left[number] = end
        if end == self._ends[number]:
            del self._left[number]
        self._next += 1
        return Packet(self._next, number, begin, end)

    def finish(self, worker: str, packet: Packet, seconds: float) -> list[Packet]:
        """Count a packet."""
        del seconds
        if self._held.pop(worker, None) is None:
            return []
        self._uncounted -= packet.events
        return [packet]

    def lose(self, worker: str) -> None:
        """Forget a worker; what it held goes to others."""
        del self._nodes[worker]
        if (packet := self._held.pop(worker, None)) is not None:
            self.unassigned += packet.events
            self._back.append(packet)
