"""A relay before a server that records what passes, so that sessions through it can be taken apart."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from pileup.model.distance import Distance
from pileup.model.errors import TargetError
from pileup.model.record import Outcome
from pileup.plugin.sessions.seen import DOWN, Connection, read
from pileup.plugin.sessions.session import Session, session
from pileup.plugin.sessions.span import Act, Span

SETTLE = 1.0
"""Seconds that a client may take to close its connections after a session."""
LATE = 0.2
"""Seconds that the relay may take, on a busy machine, to take a connection whose client is gone already."""
NAP = 0.005


class Tracer:
    """Traces sessions to one server. Use it from one thread at a time; `close` it once."""

    def __init__(self, to: tuple[str, int]) -> None:
        """`to` is host and port of the server. Raises TargetError for a name that is not known."""
        from pileup._core._native import Relay  # noqa: PLC0415  no plug-in needs the engine to be imported

        self._to = to
        self._added = 0
        try:
            self._relay = Relay(json.dumps({"to": to, "trace": True}))
        except (OSError, ValueError) as problem:
            raise TargetError(str(problem)) from problem

    def add(self, round_trip: int) -> None:
        """Add so much to each round trip from now on, ns."""
        self._added = round_trip
        self._relay.change(json.dumps(Distance.model_validate({"latency": round_trip}).to_native()))

    def sessions(self, act: Act, times: int = 1, skip: int = 0) -> list[tuple[Span, Session]]:
        """Make `times` sessions, after `skip` others, and return what each was made of, in the order of their begin.

        To resume a session of TLS there must have been one: `skip` it. A session in which the server has sent nothing
        did not pass, whatever its client makes of that. Raises what the act raises.
        """
        before = json.loads(self._relay.counts())["connections"]
        spans = act(f"127.0.0.1:{self._relay.port}", times + skip)[skip:]
        connections = self._settled(before)
        ends = [*(span.begin for span in spans[1:]), sys.maxsize]
        made = [_session(span, until, connections, self._added) for span, until in zip(spans, ends, strict=True)]
        return [(_answered(*each), each[1]) for each in zip(spans, made, strict=True)]

    def refusal(self) -> TargetError | None:
        """Return what to raise if the server did not take connections."""
        if not json.loads(self._relay.counts())["refused"]:
            return None
        host, port = self._to
        told = f"{host}:{port} takes no connection"
        return TargetError(told, "a server that accepts", "is it up, is the address right?")

    def close(self) -> None:
        """End the relay."""
        self._relay.stop()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _settled(self, before: int) -> list[Connection]:
        """Return the connections of the last sessions, once their clients have closed them; `before` were there."""
        begin = time.monotonic()
        while (waited := time.monotonic() - begin) < SETTLE:
            seen = json.loads(self._relay.counts())
            if not seen["open"] and (seen["connections"] > before or waited >= LATE):
                break
            time.sleep(NAP)
        return read(self._relay.trace(True))


def _session(span: Span, until: int, connections: Sequence[Connection], added: int) -> Session:
    """Return what a session was made of; `until`: when the next one begins.

    A client that waits for nothing may be gone before the relay takes its connection: it is of the session before.
    """
    mine = [each for each in connections if span.begin <= each.accepted <= span.end]
    late = [each for each in connections if span.end < each.accepted < until]
    return session(mine or late, span.begin, span.end, added)


def _answered(span: Span, made: Session) -> Span:
    """Return a span that has failed where nothing came back on its connections: there is nothing to count."""
    if not made.connections or made.messages(DOWN):
        return span
    silent = "the server sent nothing"
    if span.error:
        return replace(span, error=f"{span.error}: {silent}")
    return replace(span, error=silent, outcome=Outcome.FAILED)
