"""Who pileup is for a target: tokens, passwords, certificates, proxies."""

from __future__ import annotations

import ssl
from base64 import b64encode
from dataclasses import dataclass
from typing import TypedDict, cast

from pileup.builtin.credentials.authorities import trusting
from pileup.builtin.credentials.server_certificates import unverified
from pileup.builtin.credentials.token_source import TokenSource
from pileup.plugin import TargetError


class EngineIdentity(TypedDict, total=False):
    """An identity as the engine's clients take it: what is not known is left out."""

    token: str
    token_file: str
    user: str
    password: str
    ca: str
    certificate: str
    key: str
    certificate_sha256: str
    insecure: bool


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """Credentials read and checked. Holds secrets: never shown."""

    token: str | None = None
    token_file: str | None = None
    """File that holds the token, in its place; read again when it changes."""
    user: str | None = None
    password: str | None = None
    ca: str | None = None
    """File or folder of CA certificates."""
    certificate: str | None = None
    """File with the client's certificate and its chain; of a proxy the same file as the key."""
    key: str | None = None
    certificate_sha256: str | None = None
    """SHA-256 of the one certificate that the server may show."""
    insecure: bool = False
    """Whether the server may show any certificate."""

    def __repr__(self) -> str:
        return "Identity(secret)"

    def to_native(self) -> EngineIdentity:
        """Return the settings for the engine's client."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return cast(EngineIdentity, {name: value for name, value in given.items() if value not in (None, False)})

    def source(self) -> TokenSource:
        """Return what gives the token of now."""
        return TokenSource(self.token, self.token_file)

    def headers(self) -> dict[str, str]:
        """Return the headers that say who we are, but for the token."""
        if self.user is not None:
            return {"Authorization": "Basic " + b64encode(f"{self.user}:{self.password or ''}".encode()).decode()}
        return {}

    def tls(self) -> ssl.SSLContext:
        """Return a TLS context that verifies the server, but for a pinned certificate, which is compared afterwards.

        Raises TargetError for files that cannot be used.
        """
        context = unverified() if self.insecure or self.certificate_sha256 else trusting(self.ca)
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key)
            except (ssl.SSLError, OSError) as problem:
                what = f"the client certificate {self.certificate} cannot be used: {problem}"
                raise TargetError(what, "a PEM file and the key that belongs to it, without a password") from problem
        return context
