"""Certificates of servers: pinned by their fingerprint, not looked at, or described when they are not trusted."""

from __future__ import annotations

import hashlib
import socket
import ssl
from typing import Annotated

from pydantic import AfterValidator

from pileup.plugin import Failed

DIGITS = 64
LOOK = 2.0
"""Most seconds for a second look at a server."""
INSECURE = (
    "certificates of servers are not verified (`insecure: true`): anyone in between can read and change everything"
)


def fingerprint(text: str) -> str:
    """Return a SHA-256 in small digits without colons. Raises ValueError when it is not one."""
    digits = text.replace(":", "").lower()
    if len(digits) != DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise ValueError(
            f"{text!r} is not a fingerprint; expected 64 hexadecimal digits "
            "(see: openssl x509 -noout -fingerprint -sha256)"
        )
    return digits


Fingerprint = Annotated[str, AfterValidator(fingerprint)]


class Untrusted(Failed):
    """The server has shown a certificate that is not trusted."""


def unverified() -> ssl.SSLContext:
    """Return a context that takes any certificate: for `insecure`, and where a fingerprint is compared after it."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def speaks_tls(host: str, port: int, patience: float) -> bool:
    """Return whether TLS is what a port expects: a second look at a server of which nothing came. In seconds."""
    try:
        with socket.create_connection((host, port), min(LOOK, patience)) as plain, unverified().wrap_socket(plain):
            return True
    except (OSError, ValueError):
        return False


def compare(sock: object, wanted: str) -> None:
    """Raise Untrusted unless the other end of a TLS connection has shown the certificate with this SHA-256."""
    der = shown(sock)
    if hashlib.sha256(der).hexdigest() != wanted:
        raise Untrusted(f"TLS: certificate not trusted (it is not the one with certificate_sha256): {described(der)}")


def shown(sock: object) -> bytes:
    """Return the certificate that the other end has shown (DER); empty when there is none."""
    return (sock.getpeercert(binary_form=True) if isinstance(sock, ssl.SSLSocket) else None) or b""


def described(der: bytes) -> str:
    """Return whose a certificate is, who has signed it, and its SHA-256."""
    # here, so that the kind can be described where the engine is not built
    from pileup._core._native import certificate  # noqa: PLC0415

    subject, issuer, sha256 = certificate(der)
    return f'subject "{subject}", issuer "{issuer}", SHA-256 {sha256}'
