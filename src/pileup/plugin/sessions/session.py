"""Where the time of a session went: the chain of waits that led to its end, walked back from there.

`time = k x RTT + server + client + unexplained`. The last byte that the client got was caused by the last bytes that
the server had before it sent; these by the last byte that the client had before it sent them; and so on, over all
connections, to the first connect. Each step from client to server and back is one round trip, each connect is one more.
The method is that of a critical path (C.-Q. Yang and B. Miller, Critical path analysis for the execution of parallel
and distributed programs, ICDCS 1988), on messages that are seen between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pileup.plugin.sessions.seen import DOWN, UP, Connection, Handshake, Message

Kind = Literal["connect", "network", "server", "client"]
MOST = 1_000_000
"""Steps of a chain: each goes back in time, so that it ends before."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the chain, in the order of time. Ns since the epoch."""

    kind: Kind
    begin: int
    end: int
    connection: int
    size: int = 0
    """Bytes of the message that is under way, or that the end thinks about."""
    way: int = UP
    base: int = 0
    """Of a connect, or of what a server does: the part of it that is the round trip without the relay."""

    @property
    def length(self) -> int:
        """Ns."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Session:
    """What one session cost. Times in ns."""

    begin: int
    end: int
    connections: tuple[Connection, ...]
    chain: tuple[Stretch, ...]
    added: int
    """What the relay adds to a round trip."""
    connects: int
    """Round trips of the chain that are connects."""
    turns: int
    """Those that are questions with their answers: changes of direction that had to wait."""

    @property
    def length(self) -> int:
        """How long it took."""
        return self.end - self.begin

    @property
    def connected(self) -> int:
        """How long it took from its first connect to its last byte: how programs start and end is noise."""
        around = {id(each): each.length for each in (*self.chain[:1], *self.chain[-1:]) if each.kind == "client"}
        return self.length - sum(around.values())

    @property
    def round_trips(self) -> int:
        """How many round trips it waited for: the k of `k x RTT`."""
        return self.connects + self.turns

    @property
    def base(self) -> int:
        """The round trip that is there without the relay: the median over the connections."""
        known = sorted(each.base for each in self.connections if each.reached)
        return known[len(known) // 2] if known else 0

    @property
    def network(self) -> int:
        """`k x RTT`."""
        return self.round_trips * (self.added + self.base)

    def spent(self, kind: Kind) -> int:
        """Time of the chain that went by at one end, the round trip without the relay left out."""
        return sum(max(0, each.length - each.base) for each in self.chain if each.kind == kind)

    @property
    def server(self) -> int:
        """Server think time: until it had answered what it was asked."""
        return self.spent("server")

    @property
    def client(self) -> int:
        """Client think time: until it had asked what it asks next, before the first connect and after the last byte."""
        return self.spent("client")

    @property
    def unexplained(self) -> int:
        """What is none of these."""
        return self.length - self.network - self.server - self.client

    def messages(self, way: int) -> int:
        """How many messages went that way."""
        return sum(each.way == way for connection in self.connections for each in connection.messages)

    def size(self, way: int) -> int:
        """How many bytes went that way."""
        return sum(each.size for connection in self.connections for each in connection.messages if each.way == way)

    @property
    def tls(self) -> tuple[Handshake, ...]:
        """The TLS handshakes of its connections."""
        return tuple(each.tls for each in self.connections if each.tls)


def session(connections: Sequence[Connection], begin: int, end: int, added: int) -> Session:
    """Return what a session cost that lasted from `begin` to `end` (ns since the epoch) and made these connections.

    `added` is the round trip of the relay. Messages that came to the client after the end are left out of the chain.
    """
    chain = tuple(reversed(list(_chain(connections, begin, end))))
    connects = sum(each.kind == "connect" for each in chain)
    turns = sum(each.kind == "network" and each.way == DOWN for each in chain)
    return Session(begin, end, tuple(connections), chain, added, connects, turns)


def _chain(connections: Sequence[Connection], begin: int, end: int) -> Iterator[Stretch]:
    """Yield the stretches from the end back to the beginning."""
    answers = sorted(
        (
            (each.due[1], connection.number, each)
            for connection in connections
            for each in connection.messages
            if each.way == DOWN
        ),
        key=lambda found: found[:2],
    )
    by_number = {each.number: each for each in connections}
    at = before = end
    number = -1
    for _ in range(MOST):
        while answers and answers[-1][0] > before:
            answers.pop()
        if not answers:
            break
        came, number, answer = answers.pop()
        yield Stretch("client", came, at, number, answer.size)
        yield Stretch("network", answer.came[1], came, number, answer.size, DOWN)
        connection = by_number[number]
        asked = _cause(connection, answer)
        if asked is None:  # the server speaks first
            yield Stretch("server", connection.asked, answer.came[1], number, 0, DOWN, 2 * connection.base)
            yield Stretch("network", connection.sent, connection.asked, number)
            at = before = connection.accepted
            yield Stretch("connect", at, connection.sent, number)
            continue
        left = min(asked.due[1], answer.came[0])
        yield Stretch("server", left, answer.came[1], number, asked.size, UP, _base(connection, left, answer))
        at, before = asked.came[1], asked.came[0]
        yield Stretch("network", min(at, left), left, number, asked.size)
        if not any(each.way == DOWN and each.due[1] <= before for each in connection.messages):  # its first question
            yield Stretch("client", min(connection.sent, at), at, number, asked.size)
            at = before = connection.accepted
            yield Stretch("connect", at, connection.sent, number)
    if begin < at:
        yield Stretch("client", begin, at, number)


def _cause(connection: Connection, answer: Message) -> Message | None:
    """Return the last message that the server had when it began to answer."""
    found = None
    for each in connection.messages:  # in the order in which they came
        if each is answer:
            break
        if each.way == UP and each.due[0] <= answer.came[0]:
            found = each
    return found


def _base(connection: Connection, left: int, answer: Message) -> int:
    """Return what of the time from a question to its answer is not the server's: the way, and a connect before it."""
    connecting = min(connection.reached, answer.came[0]) - left
    return connection.base + max(0, connecting)
