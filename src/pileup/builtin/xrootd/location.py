"""Urls of XRootD targets, taken apart and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Required, TypedDict
from urllib.parse import urlsplit

from pileup.builtin.http.location import is_loopback
from pileup.plugin import TargetError, port_of

PORT = 1094
TLS = {"root": False, "xroot": False, "roots": True, "xroots": True}
EXAMPLE = "one like root://host:1094//path or roots://host//path"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an XRootD target is. `path` begins with one slash and has none at its end; "" is the root."""

    tls: bool
    user: str
    host: str
    port: int
    path: str
    opaque: str = ""
    """What the url says after its question mark, for every path."""

    @property
    def url(self) -> str:
        """The url in its normal form, as clients take it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        whose, asked = f"{self.user}@" if self.user else "", f"?{self.opaque}" if self.opaque else ""
        return f"{'roots' if self.tls else 'root'}://{whose}{host}:{self.port}/{self.path or '/'}{asked}"

    def through(self, via: str) -> Place:
        """Return the same at the address of a relay before it: for clients that connect to what their url says."""
        host, _, port = via.rpartition(":")
        return replace(self, host=host.strip("[]"), port=int(port))

    @property
    def near(self) -> bool:
        """Whether what is sent stays within this machine."""
        return is_loopback(self.host)


def place_of(url: str) -> Place:
    """Take a url apart. Raises TargetError for one that is not a url of an XRootD server."""
    if not url:
        raise TargetError("the target has no url", EXAMPLE)
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise TargetError(f"{url!r} is not a url: {problem}", EXAMPLE) from None
    if parts.scheme not in TLS or not parts.hostname:
        raise TargetError(f"{url!r} is not a url of an XRootD server", EXAMPLE)
    port = port_of(parts)
    if parts.password or "authz=" in parts.query.lower():
        raise TargetError(
            f"the url of {parts.hostname} holds a secret", "it under `credentials`", "urls are written into the record"
        )
    if parts.fragment:
        raise TargetError(f"{url!r} has a fragment", "a url that ends with its path")
    base = parts.path.strip("/")
    path = f"/{base}" if base else ""
    return Place(TLS[parts.scheme], parts.username or "", parts.hostname, port or PORT, path, parts.query)


class ClientSettings(TypedDict, total=False):
    """What a client of XRootD is reported, the engine's and the official ones alike. Holds secrets."""

    url: Required[str]
    via: str
    """Address (HOST:PORT) of a relay to connect to in the place of the url's server; for the official clients that of
    the url itself."""
    keep_alive: bool
    page_checksums: bool
    reconnect_pause: int
    read_ahead: int
    token: str
    token_file: str
    ca: str
    user: str
    certificate_sha256: str
    insecure: bool
    proxy: str
    """File of a proxy, which the official clients alone take."""
