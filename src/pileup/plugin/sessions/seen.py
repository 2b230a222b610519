"""What a relay has written down of connections (crates/pileup-relay/src/trace.rs). Times in ns since the epoch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

UP, DOWN = 0, 1
VERSIONS = {0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}


@dataclass(frozen=True, slots=True)
class Message:
    """Bytes one way, without a byte the other way and without a pause of 1 ms between."""

    way: int
    came: tuple[int, int]
    """When its first and last byte came to the relay: from the client, or from the server."""
    due: tuple[int, int]
    """When they were at the other end."""
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Handshake:
    """The TLS handshake of a connection, by its hellos."""

    version: int
    """As the standards number it: 0x0304 is TLS 1.3."""
    resumed: bool
    again: bool
    """Whether the server asked for another hello first."""

    def __str__(self) -> str:
        """In words: `TLS 1.3, full`."""
        version = VERSIONS.get(self.version, f"TLS {self.version:#06x}")
        again = ", asked for another hello" if self.again else ""
        return f"{version}, {'resumed' if self.resumed else 'full'}{again}"


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection; 0 where it did not come to that."""

    number: int
    accepted: int
    sent: int
    """When its client would have been connected over the distance."""
    asked: int
    reached: int
    closed: int
    refused: bool
    messages: tuple[Message, ...]
    tls: Handshake | None = None
    """None without TLS."""

    @property
    def base(self) -> int:
        """The round trip that is there without the relay: what connecting to the server took, ns."""
        return max(0, self.reached - self.asked)


def read(text: str) -> list[Connection]:
    """Return the connections of a trace, oldest first."""
    return [_connection(plain) for plain in json.loads(text)]


def _connection(plain: Any) -> Connection:
    words = {name: plain[name] for name in ("number", "accepted", "sent", "asked", "reached", "closed", "refused")}
    messages = tuple(
        Message(each["way"], tuple(each["came"]), tuple(each["due"]), each["bytes"]) for each in plain["messages"]
    )
    return Connection(**words, messages=messages, tls=Handshake(**plain["tls"]) if plain["tls"] else None)
