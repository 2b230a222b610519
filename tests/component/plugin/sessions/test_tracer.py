"""Which connections of a relay belong to which session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pileup._core import _native
from pileup.model.record import Outcome
from pileup.plugin.sessions.span import Span
from pileup.plugin.sessions.tracer import Tracer

LOOKS = 3
"""Looks at the relay until it has taken the connection."""


class SlowRelay:
    """A relay on a busy machine: it takes the connection of a client that is gone already."""

    port = 1

    def __init__(self, settings: str) -> None:
        self.looks = 0

    def change(self, settings: str) -> None:
        """Be as far away as before."""

    def counts(self) -> str:
        """One connection, seen late."""
        self.looks += 1
        return json.dumps({"connections": int(self.looks > LOOKS), "open": 0})

    def trace(self, take: bool) -> str:
        """What it has seen by now."""
        if self.looks <= LOOKS:
            return "[]"
        times = {"accepted": 25, "sent": 25, "asked": 25, "reached": 26, "closed": 27}
        message = {"way": 0, "came": [26, 26], "due": [26, 26], "bytes": 1}
        made: dict[str, Any] = {"number": 0, **times, "refused": False, "messages": [message], "tls": None}
        return json.dumps([made])

    def stop(self) -> None:
        """End."""


def test_a_connection_that_comes_after_its_client_is_gone_is_of_the_session_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_native, "Relay", SlowRelay)
    with Tracer(("127.0.0.1", 9)) as tracer:
        first, second = tracer.sessions(lambda address, times: [Span(10, 20), Span(30, 40)], 2)
    assert (len(first[1].connections), len(second[1].connections)) == (1, 0)
    assert (first[0].error, first[0].outcome) == ("the server sent nothing", Outcome.FAILED)
