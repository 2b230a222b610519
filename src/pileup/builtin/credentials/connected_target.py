"""Options of targets that are reached over connections with or without TLS."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import ClassVar, TypedDict

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.server_certificates import INSECURE, Fingerprint
from pileup.plugin import Duration, Target, TargetError, option


class Route(TypedDict, total=False):
    """Where a client of the engine connects."""

    via: str


class ConnectedTarget(Target):
    """What suites can say to all such targets of their connections, and of the servers at the other end."""

    relayed: ClassVar[bool] = True

    reconnect_pause: Duration = option(
        10**9,
        ge=0,
        help="longest pause of a client after a connection that could not be made: the first is a tenth to a fifth of "
        "it, then they double; 0 s: none. For loads that last for a time; pauses are operations `reconnect-pause`",
    )
    patience: Duration = option(30 * 10**9, gt=0, help="how long Python tests wait for an answer")
    first_answer: Duration = option(
        10 * 10**9, gt=0, help="how long the server has for its first answer; without one it cannot be reached"
    )
    certificate_sha256: Fingerprint | None = option(
        None,
        help="SHA-256 of the certificate that the server of the url shows, 64 hexadecimal digits; it is trusted on "
        "this alone, whoever signed it and whatever name it has",
    )
    insecure: bool = option(
        False, help="accept any certificate of any server: for tests only; the record and the report say so"
    )

    def believing(self, who: Identity) -> Identity:
        """Return who pileup is, with the servers that it believes."""
        return replace(who, certificate_sha256=self.certificate_sha256, insecure=self.insecure)

    def route(self) -> Route:
        """Return where the engine's client connects: left out, to the server of the url. By address, not by name."""
        if not self.via:
            return {}
        host, port = self.reach()
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4]
        except OSError as problem:
            raise TargetError(f"the relay {self.via} is not found: {problem.strerror}", "an address") from problem
        return {"via": f"[{found[0]}]:{port}" if ":" in str(found[0]) else f"{found[0]}:{port}"}

    def remarks(self) -> list[str]:
        """Warn that nobody knows who the server is."""
        return [INSECURE] if self.insecure and not self.certificate_sha256 else []
