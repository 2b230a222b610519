"""Who pileup is for an HTTP target: tokens, passwords, certificates."""

from __future__ import annotations

import ssl
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.builtin.targets.location import Location
from pileup.model.suite import Credentials
from pileup.plugin import TargetError


@dataclass(frozen=True, slots=True, repr=False)
class Identity:
    """Credentials read and checked. Holds secrets: never shown."""

    token: str | None = None
    user: str | None = None
    password: str | None = None
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    def __repr__(self) -> str:
        return "Identity(secret)"

    def to_native(self) -> dict[str, Any]:
        """Return the settings for the engine's client."""
        return {name: getattr(self, name) for name in self.__slots__}

    def headers(self) -> dict[str, str]:
        """Return the headers that say who we are."""
        if self.token is not None:
            return {"Authorization": f"Bearer {self.token}"}
        if self.user is not None:
            return {"Authorization": "Basic " + b64encode(f"{self.user}:{self.password or ''}".encode()).decode()}
        return {}

    def tls(self) -> ssl.SSLContext:
        """Return a TLS context that verifies the server. Raises TargetError for files that cannot be used."""
        context = ssl.create_default_context(cafile=self.ca)
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key)
            except (ssl.SSLError, OSError) as problem:
                what = f"the client certificate {self.certificate} cannot be used: {problem}"
                raise TargetError(what, "a PEM file and the key that belongs to it, without a password") from problem
        return context


def identity_of(credentials: Credentials, location: Location) -> Identity:
    """Read the credentials for one place.

    Raises TargetError: a file that cannot be read, a token that is none, a secret that would go over the wire in plain.
    """
    token = _token(credentials)
    if credentials.user is not None and token is not None:
        raise TargetError("credentials have a token and a user", "one of the two")
    if credentials.user is not None and ":" in credentials.user:
        raise TargetError("the user name has a colon", "one without, as basic authentication asks")
    if credentials.password is not None and credentials.user is None:
        raise TargetError("credentials have a password but no user", "both")
    if (token or credentials.user) and not location.secret:
        what = f"credentials would go to {location.host} over plain HTTP"
        raise TargetError(what, "an https:// url", "pileup sends secrets over TLS or to this machine only")
    if location.scheme == "http" and (credentials.ca or credentials.certificate):
        raise TargetError(f"certificates are given, but {location.url} does without TLS", "an https:// url")
    if credentials.key and not credentials.certificate:
        raise TargetError("credentials have a key but no certificate", "both")
    for word in ("ca", "certificate", "key"):
        _readable(word, getattr(credentials, word))
    return Identity(
        token,
        credentials.user,
        credentials.password.get_secret_value() if credentials.password else None,
        credentials.ca,
        credentials.certificate,
        credentials.key,
    )


def _token(credentials: Credentials) -> str | None:
    if credentials.token is not None and credentials.token_file is not None:
        raise TargetError("credentials have a token and a token_file", "one of the two")
    if credentials.token_file is not None:
        token = _readable("token_file", credentials.token_file).strip()
    elif credentials.token is not None:
        token = credentials.token.get_secret_value()
    else:
        return None
    if token == "discover":  # noqa: S105  the word of the suite format
        raise TargetError(
            "token: discover is not built yet", "token_file: PATH", "the token's file is often /tmp/bt_u$(id -u)"
        )
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise TargetError(
            "the bearer token is empty or has characters that no token has",
            "one line of letters, digits and . _ - ~ + /",
        )
    return token


def _readable(word: str, path: str | None) -> str:
    """Return the text of a file of credentials; its name is told when that fails, its content never."""
    try:
        return Path(path).read_text(errors="replace") if path else ""
    except OSError as problem:
        raise TargetError(
            f"{word} {path} cannot be read: {problem.strerror}", "a file that this user can read"
        ) from problem
