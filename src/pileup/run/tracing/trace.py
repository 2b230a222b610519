"""Traces sessions at several distances: an act through a relay that writes down what it sees."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from pileup._core._native import Relay, now
from pileup.model.distance import Distance
from pileup.model.errors import TargetError
from pileup.run.tracing.acts import Act, Span
from pileup.stats.sessions.seen import Connection, read
from pileup.stats.sessions.session import Session, session
from pileup.stats.sessions.slope import Line, line

SETTLE = 1.0
"""Seconds that a client may take to close its connections after a session."""
NAP = 0.005


@dataclass(frozen=True, slots=True)
class Traced:
    """Sessions at several distances, those of the first distance first."""

    sessions: tuple[Session, ...]
    line: Line | None
    look_up: int
    """Time that the name of the target took to be looked up, ns: once, before the first session."""
    addresses: int
    beside: int
    """Redirects that led past the relay."""
    failed: tuple[str, ...] = field(default=())
    """Errors of sessions that did not pass; these are in none of the figures."""

    @property
    def round_trips(self) -> int:
        """The k that was counted most often at the largest distance: near by, chance looks like a cause."""
        counted = [each.round_trips for each in self.at(self.distances[-1])]
        return max(sorted(set(counted)), key=counted.count)

    def at(self, added: int) -> tuple[Session, ...]:
        """Return the sessions at a distance."""
        return tuple(each for each in self.sessions if each.added == added)

    @property
    def distances(self) -> list[int]:
        """The round trips that were added, ns, ascending."""
        return sorted({each.added for each in self.sessions})


def trace(act: Act, to: tuple[str, int], added: Sequence[int], times: int, skip: int = 0) -> Traced:
    """Make `times` sessions at each distance and return what they cost.

    `added` are round trips in ns; the first `skip` sessions at each are not counted (to resume a session of TLS there
    must have been one). Raises TargetError for a target whose name is not known, and when no session passes.
    """
    begin = now()
    addresses = _looked_up(*to)
    look_up = now() - begin
    sessions: list[Session] = []
    failed: list[str] = []
    beside = 0
    relay = _relay(to)
    try:
        for each in added:
            relay.change(json.dumps(Distance.model_validate({"latency": each}).to_native()))
            spans = act(f"127.0.0.1:{relay.port}", times + skip)[skip:]
            connections = _settled(relay)
            failed += [span.error for span in spans if span.error]
            beside += sum(span.beside for span in spans)
            sessions += [_session(span, connections, each) for span in spans if not span.error]
        refused = json.loads(relay.counts())["refused"]
    finally:
        relay.stop()
    if not sessions:
        raise _nothing(failed, refused, to)
    if not any(each.connections for each in sessions):
        raise TargetError(
            "no connection came to the relay", "a session over TCP", "does the command use {address}, {host} or {port}?"
        )
    return Traced(tuple(sessions), line(sessions), look_up, addresses, beside, tuple(failed))


def _relay(to: tuple[str, int]) -> Relay:
    try:
        return Relay(json.dumps({"to": to, "trace": True}))
    except (OSError, ValueError) as problem:
        raise TargetError(str(problem)) from problem


def _looked_up(host: str, port: int) -> int:
    """Return how many addresses a name has."""
    try:
        return len({found[4][0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
    except OSError as problem:
        told = f"the name {host} is not known: {problem.strerror}"
        raise TargetError(told, "the host of a target", "correct the url") from problem


def _settled(relay: Relay) -> list[Connection]:
    """Return the connections of the last sessions, once their clients have closed them."""
    until = time.monotonic() + SETTLE
    while json.loads(relay.counts())["open"] and time.monotonic() < until:
        time.sleep(NAP)
    return read(relay.trace(True))


def _session(span: Span, connections: Sequence[Connection], added: int) -> Session:
    mine = [each for each in connections if span.begin <= each.accepted <= span.end]
    return session(mine, span.begin, span.end, added)


def _nothing(failed: Sequence[str], refused: int, to: tuple[str, int]) -> TargetError:
    """Return what to raise where no session passed."""
    said = max(set(failed), key=failed.count) if failed else "it ended without an answer"
    if refused:
        return TargetError(
            f"{to[0]}:{to[1]} takes no connection", "a server that accepts", "is it up, is the address right?"
        )
    return TargetError(f"no session passed: {said}", "a session that passes without a relay", "try it without `trace`")
