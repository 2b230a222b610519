"""Proxy certificates (RFC 3820) for credentials that a computing element asks for: it makes the key, we sign.

Needs the package cryptography (extra `servers`).
"""

from __future__ import annotations

import datetime
import re
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

PROXY_INFO = x509.ObjectIdentifier("1.3.6.1.5.5.7.1.14")
INHERIT_ALL = bytes.fromhex("300c300a06082b06010505071501")
"""ProxyCertInfo { proxyPolicy { policyLanguage id-ppl-inheritAll } } (RFC 3820, 3.8)."""
BLOCK = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----\n?", re.DOTALL)
BEFORE = datetime.timedelta(minutes=5)
"""How far clocks may differ."""
SEQUENCE, INTEGER = 0x30, 0x02
Key: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey
PublicKey: TypeAlias = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """A certificate (or a proxy), its key and the chain above it. Holds a secret: never shown."""

    key: Key
    chain: tuple[x509.Certificate, ...]
    """The certificate itself first."""

    @classmethod
    def read(cls, certificate: Path, key: Path) -> Signer:
        """Read PEM files, which may be one. Raises ValueError for anything else, OSError for what cannot be read."""
        blocks = [found.group(0) for found in BLOCK.finditer(certificate.read_text())]
        chain = [x509.load_pem_x509_certificate(text.encode()) for text in blocks if "BEGIN CERTIFICATE" in text]
        if not chain:
            raise ValueError(f"{certificate} has no certificate; expected one in PEM")
        secrets = [found.group(0) for found in BLOCK.finditer(key.read_text()) if "PRIVATE KEY" in found.group(1)]
        if not secrets:
            raise ValueError(f"{key} has no private key; expected one in PEM")
        try:
            secret = load_pem_private_key(secrets[0].encode(), None)
        except TypeError:
            raise ValueError(f"the key in {key} has a password; expected one without, or a proxy") from None
        if not isinstance(secret, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            raise ValueError(f"the key in {key} is neither RSA nor of an elliptic curve; expected one of these")
        if secret.public_key() != chain[0].public_key():
            raise ValueError(f"the key in {key} belongs to another certificate than {certificate}; expected its own")
        return cls(secret, tuple(chain))

    @property
    def expires(self) -> datetime.datetime:
        """When the first of the chain is not valid any more."""
        return min(each.not_valid_after_utc for each in self.chain)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy certificate with its chain in PEM; `expires` in ns since the epoch. No secret: the key is not ours."""

    text: str
    expires: int


def sign(request: str, signer: Signer, lifetime: int) -> Proxy:
    """Return a proxy certificate of the signer for the key of a request in PEM, valid for so many ns from now on.

    It inherits all rights, and ends with its signer at the latest. Raises ValueError for what is not a request, or one
    that is not signed by its own key.
    """
    key = requested_key(request)
    now = datetime.datetime.now(datetime.UTC)
    wanted = min(datetime.timedelta(microseconds=lifetime // 1000), signer.expires - now)
    end = (now + wanted).replace(microsecond=0)
    if wanted <= datetime.timedelta(0):
        raise ValueError(f"the credentials ended at {signer.expires:%Y-%m-%d %H:%M:%S} UTC; expected valid ones")
    owner = signer.chain[0]
    serial = x509.random_serial_number()
    own_name = x509.NameAttribute(x509.NameOID.COMMON_NAME, str(serial % 10**10))
    proxy = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([*owner.subject.rdns, x509.RelativeDistinguishedName([own_name])]))
        .issuer_name(owner.subject)
        .public_key(key)
        .serial_number(serial)
        .not_valid_before(max(now - BEFORE, owner.not_valid_before_utc))
        .not_valid_after(end)
        .add_extension(x509.UnrecognizedExtension(PROXY_INFO, INHERIT_ALL), critical=True)
        .add_extension(_usage(), critical=True)
        .sign(signer.key, SHA256())
    )
    text = "".join(each.public_bytes(Encoding.PEM).decode() for each in (proxy, *signer.chain))
    return Proxy(text, int(end.timestamp()) * 10**9)


def requested_key(request: str) -> PublicKey:
    """Return the key of a certificate request in PEM. Raises ValueError for anything else or is not signed by that key.

    A-REX 6 writes version 2 into its requests (RFC 2986 knows only 0), which the library refuses. It reads them with a
    0 in its place; the signature is checked over what was signed.
    """
    found = BLOCK.search(request)
    if not found or "CERTIFICATE REQUEST" not in found.group(1):
        raise ValueError("there is no certificate request; expected one in PEM")
    try:
        whole = b64decode("".join(found.group(0).strip().splitlines()[1:-1]), validate=True)
        inner, _ = _element(whole, 0, SEQUENCE)
        first, end = _element(whole, inner, SEQUENCE)
        version, after = _element(whole, first, INTEGER)
        read = x509.load_der_x509_csr(whole[:version] + bytes(after - version) + whole[after:])
    except (ValueError, IndexError) as problem:
        raise ValueError(f"the certificate request cannot be read ({problem}); expected one as of RFC 2986") from None
    key = read.public_key()
    if not isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        raise ValueError("the certificate request has a key of an unknown kind; expected RSA or an elliptic curve")
    _verify(key, read, whole[inner:end])
    return key


def _element(data: bytes, at: int, tag: int) -> tuple[int, int]:
    """Return where the content of a DER element begins and ends (X.690, 8.1)."""
    if data[at] != tag:
        raise ValueError(f"byte {at} is 0x{data[at]:02x}, not 0x{tag:02x}")
    length, begin = data[at + 1], at + 2
    if length & 0x80:
        begin += length & 0x7F
        length = int.from_bytes(data[at + 2 : begin])
    if begin + length > len(data):
        raise ValueError(f"the element at byte {at} is cut short")
    return begin, begin + length


def _verify(key: PublicKey, request: x509.CertificateSigningRequest, signed: bytes) -> None:
    """Raise ValueError unless a request was signed by its own key."""
    digest = request.signature_hash_algorithm or SHA256()
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(request.signature, signed, padding.PKCS1v15(), digest)
        else:
            key.verify(request.signature, signed, ec.ECDSA(digest))
    except InvalidSignature:
        raise ValueError("the certificate request is not signed by its own key; expected one that is") from None


def _usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
