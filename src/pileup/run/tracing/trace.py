"""Traces sessions at several distances: an act through a relay that writes down what it sees."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from pileup._core._native import now
from pileup.model.errors import TargetError
from pileup.plugin.sessions.session import Session
from pileup.plugin.sessions.span import Act
from pileup.plugin.sessions.tracer import Tracer
from pileup.stats.sessions.slope import Line, line

TRIES = 2
"""Sessions after which it ends if none has passed: none will from farther away."""


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
    direct: int | None = None
    """What a session takes without the relay, ns: the median; None where nothing is added to no round trip."""
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
    def cost(self) -> int | None:
        """What the relay adds to a session by itself, ns: medians; None where that was not measured."""
        near = [each.length for each in self.at(0)]
        return int(median(near)) - self.direct if near and self.direct is not None else None

    @property
    def distances(self) -> list[int]:
        """The round trips that were added, ns, ascending."""
        return sorted({each.added for each in self.sessions})


def trace(act: Act, to: tuple[str, int], added: Sequence[int], times: int, skip: int = 0) -> Traced:
    """Make `times` sessions at each distance and return what they cost.

    `added` are round trips in ns; the first `skip` sessions at each are not counted (to resume a session of TLS there
    must have been one). Raises TargetError for a target whose name is not known, and when the first sessions fail.
    """
    begin = now()
    addresses = _looked_up(*to)
    look_up = now() - begin
    sessions: list[Session] = []
    failed: list[str] = []
    beside = 0
    with Tracer(to) as tracer:
        for each in added:
            tracer.add(each)
            left = times
            while left:
                some = 1 if not sessions else left  # where the first do not pass: each may take its whole timeout
                for span, made in tracer.sessions(act, some, skip):
                    beside += span.beside
                    if span.error:
                        failed.append(span.error)
                    else:
                        sessions.append(made)
                if not sessions and len(failed) >= TRIES:
                    raise tracer.refusal() or _nothing(failed)
                left -= some
        if not sessions:
            raise tracer.refusal() or _nothing(failed)
    if not any(each.connections for each in sessions):
        raise TargetError(
            "no connection came to the relay", "a session over TCP", "does the command use {address}, {host} or {port}?"
        )
    direct = _direct(act, addresses[0], to[1], times, skip) if any(each.added == 0 for each in sessions) else None
    return Traced(tuple(sessions), line(sessions), look_up, len(addresses), beside, direct, tuple(failed))


def _direct(act: Act, host: str, port: int, times: int, skip: int) -> int | None:
    """Return what sessions take that connect to the server itself; None when none passes."""
    spans = act(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", times + skip)[skip:]
    passed = [span.end - span.begin for span in spans if not span.error]
    return int(median(passed)) if passed else None


def _looked_up(host: str, port: int) -> list[str]:
    """Return the addresses that a name has, those of IPv4 first."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as problem:
        told = f"the name {host} is not known: {problem.strerror}"
        raise TargetError(told, "the host of a target", "correct the url") from problem
    known = sorted(found, key=lambda each: each[0])
    return list(dict.fromkeys(str(each[4][0]) for each in known))


def _nothing(failed: Sequence[str]) -> TargetError:
    """Return what to raise where no session passed."""
    said = max(set(failed), key=failed.count) if failed else "it ended without an answer"
    return TargetError(f"no session passed: {said}", "a session that passes without a relay", "try it without `trace`")
