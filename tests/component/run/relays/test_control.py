"""A relay in a process of its own is told of another path, and says what went through."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup._core._native import PracticeStorage, Relay
from pileup.model.errors import TargetError
from pileup.run.relays import control

MS = 10**6


@pytest.fixture
def relay() -> Iterator[Relay]:
    """A relay before a practice storage."""
    server = PracticeStorage("{}")
    made = Relay(json.dumps({"to": ["127.0.0.1", server.port]}))
    yield made
    made.stop()
    server.stop()


def test_it_is_asked_and_told(relay: Relay, tmp_path: Path) -> None:
    where = tmp_path / "relay.sock"
    end = control.serve(relay, where)
    assert where.stat().st_mode & 0o077 == 0
    assert control.ask(where)["connections"] == 0
    with socket.create_connection(("127.0.0.1", relay.port)) as line:
        line.sendall(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert line.recv(12) == b"HTTP/1.1 200"
    counts = control.ask(where, {"latency": [MS, MS]})
    assert (counts["connections"], counts["turns"], counts["bytes"][0]) == (1, 1, 28)
    late = counts["late"]
    assert late["answers"] == 1 and 0 < late["p50"] <= late["p99"] <= late["most"] < 10**10
    assert re.fullmatch(r"answers late by .+ \(median\), .+ \(p99\), at most .+", control.told_late(late))
    again = control.ask(where)["late"]
    assert again["answers"] == 0 and control.told_late(again) == "", "with another path it begins again"
    with pytest.raises(TargetError, match=r"refuses: .*bandwidth 0"):
        control.ask(where, {"bandwidth": 0})
    with pytest.raises(TargetError, match="refuses"):
        control.ask(where, {"latency": 5})
    end()
    with pytest.raises(TargetError, match="does not answer"):
        control.ask(where)
