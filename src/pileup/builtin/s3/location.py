"""Urls of S3 targets, taken apart and checked."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pileup.builtin.http.location import PORTS, Location, locate
from pileup.plugin import TargetError, port_of

SCHEMES = {"s3": "http", "s3s": "https", "http": "http", "https": "https"}
EXAMPLE = "one like s3s://host:9000/bucket/prefix"
EXAMPLE_AT = "one like s3://bucket/prefix, where `endpoint` says the server"


@dataclass(frozen=True, slots=True)
class S3Place:
    """Where an S3 target is: a server, a bucket, and what all keys begin with (no slash at its ends)."""

    server: Location
    bucket: str
    prefix: str

    def host(self, *, virtual: bool) -> str:
        """The host that is connected to: that of the bucket where hosts name buckets."""
        return f"{self.bucket}.{self.server.host}" if virtual else self.server.host


def place_of(url: str, endpoint: str | None) -> S3Place:
    """Take a url apart: s3://HOST/BUCKET/PREFIX, or s3://BUCKET/PREFIX of the server of `endpoint`.

    Raises TargetError for one that is not a url of an S3 server.
    """
    example = EXAMPLE_AT if endpoint else EXAMPLE
    if not url:
        raise TargetError("the target has no url", example)
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise TargetError(f"{url!r} is not a url: {problem}", example) from None
    scheme = SCHEMES.get(parts.scheme)
    if scheme is None or not parts.hostname:
        raise TargetError(f"{url!r} is not a url of an S3 server", example)
    if parts.username or parts.password:
        raise TargetError(
            f"the url of {parts.hostname} holds a user name or a password", "them under `credentials`", example
        )
    if parts.query or parts.fragment:
        raise TargetError(f"{url!r} has a query or a fragment", "a url that ends with its path")
    port, path = port_of(parts), unquote(parts.path).strip("/")
    if endpoint:
        # as it was written: the names of hosts do not, those of old buckets do have capitals
        bucket = parts.netloc
        return S3Place(locate(endpoint), _checked(bucket, url, example), path)
    bucket, _, prefix = path.partition("/")
    server = Location(scheme, parts.hostname, port or PORTS[scheme], "")
    return S3Place(server, _checked(bucket, url, example), prefix.strip("/"))


def _checked(bucket: str, url: str, example: str) -> str:
    """Return the name of a bucket. Raises TargetError for what is none."""
    if not bucket:
        raise TargetError(f"{url!r} names no bucket", example)
    if not all(each.isascii() and (each.isalnum() or each in ".-_:") for each in bucket):
        raise TargetError(f"{bucket!r} is not the name of a bucket", "letters, digits, dots, dashes and underscores")
    return bucket
