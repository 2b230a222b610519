"""Macaroons (Birgisson et al., NDSS 2014) in the first binary form of libmacaroons, as XRootD and dCache take them."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable

KEY_GENERATOR = b"macaroons-key-generator"
"""From what libmacaroons derives the first key, filled up with zeros to the length of a hash."""
LENGTH = 4
"""Hexadecimal digits of the length of a packet."""


def mint(key: bytes, location: str, identifier: str, caveats: Iterable[str]) -> str:
    """Return a macaroon with these first-party caveats, signed by a key that the server has too."""
    signature = _sign(_sign(KEY_GENERATOR.ljust(32, b"\0"), key), identifier.encode())
    packets = [_packet("location", location.encode()), _packet("identifier", identifier.encode())]
    for caveat in caveats:
        packets.append(_packet("cid", caveat.encode()))
        signature = _sign(signature, caveat.encode())
    packets.append(_packet("signature", signature))
    return urlsafe_b64encode(b"".join(packets)).rstrip(b"=").decode()


def _sign(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, hashlib.sha256)


def _packet(name: str, value: bytes) -> bytes:
    body = name.encode() + b" " + value + b"\n"
    return f"{len(body) + LENGTH:0{LENGTH}x}".encode() + body
