"""Urls of HTTP targets, taken apart and checked."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from pileup.plugin import TargetError, port_of

SCHEMES = {"http": "http", "https": "https", "dav": "http", "davs": "https", "webdav": "http", "webdavs": "https"}
PORTS = {"http": 80, "https": 443}
UNTOUCHED = "/~!$&'()*+,;=:@%-._"
"""Characters that stay as they are in the path of a url."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where an HTTP target is. `path` is percent-encoded, and ends in a slash if it was written so."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The url in its normal form, as the engine takes it."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """Host and port, the port only when it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def secret(self) -> bool:
        """Whether what is sent stays between the two: over TLS, or within this machine."""
        return self.scheme == "https" or is_loopback(self.host)

    def path_of(self, relative: str) -> str:
        """Return the percent-encoded path of something below the target; for "" the target's own as written."""
        if not relative:
            return self.path or "/"
        return self.path.rstrip("/") + "/" + quote(relative.lstrip("/"), safe="/~!$&'()*+,;=:@")


def locate(url: str) -> Location:
    """Take a url apart. Raises TargetError for one that is not a url of an HTTP server."""
    if not url:
        raise TargetError("the target has no url", "one like https://host:1094/path")
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise TargetError(f"{url!r} is not a url: {problem}", "one like https://host:1094/path") from None
    scheme = SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise TargetError(f"{url!r} is not a url of an HTTP server", "one like https://host:1094/path")
    port = port_of(parts)
    if parts.username or parts.password:
        raise TargetError(
            f"the url of {parts.hostname} holds a user name or a password",
            "them under `credentials`",
            "urls are written into the record",
        )
    if parts.query or parts.fragment:
        raise TargetError(f"{url!r} has a query or a fragment", "a url that ends with its path")
    return Location(scheme, parts.hostname, port or PORTS[scheme], quote(parts.path, safe=UNTOUCHED))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or its address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
