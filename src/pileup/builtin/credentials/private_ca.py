"""Certificates and tokens for private servers: CAs, what they sign for 127.0.0.1, and signed tokens.

Needs the package cryptography (extra `servers`). Everything is valid for a week.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

VALID = datetime.timedelta(days=7)
BEFORE = datetime.timedelta(minutes=5)
"""How far clocks may differ."""


@dataclass(frozen=True, slots=True, repr=False)
class Certificates:
    """Texts in PEM. Holds a secret: never shown."""

    ca: str
    certificate: str
    key: str


@dataclass(frozen=True, slots=True, repr=False)
class Authority:
    """A CA. Holds a secret: never shown, and on no disk."""

    key: EllipticCurvePrivateKey
    certificate: x509.Certificate


def make_authority() -> Authority:
    """Make a CA with a new P-256 key."""
    key = generate_private_key(SECP256R1())
    certificate = (
        _builder("pileup private CA", key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_signing(), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(key, certificate)


@cache
def common_authority() -> Authority:
    """Return the CA of this process, by which servers that it launches trust each other."""
    return make_authority()


def make_certificates(
    names: tuple[str, ...] = ("localhost",), address: str = "127.0.0.1", authority: Authority | None = None
) -> Certificates:
    """Make a certificate for these names and an address, with a new P-256 key, signed by a CA, by default a new one."""
    signer, key = authority or make_authority(), generate_private_key(SECP256R1())
    covered = [*map(x509.DNSName, names), x509.IPAddress(ipaddress.ip_address(address))]
    server = (
        _builder(names[0], key)
        .add_extension(x509.SubjectAlternativeName(covered), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()), critical=False)
        .sign(signer.key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Certificates(_pem(signer.certificate), _pem(server), secret)


def _builder(name: str, key: EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name("pileup private CA"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


def _signing() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


class TokenIssuer:
    """Signs tokens of the WLCG profile (https://zenodo.org/records/3460258) with a new key, ES256 (RFC 7518)."""

    def __init__(self, issuer: str, audience: str) -> None:
        self._key = generate_private_key(SECP256R1())
        self._issuer = issuer
        self._audience = audience

    def public_keys(self) -> dict[str, object]:
        """Return the key that proves the tokens, as a JWK set (RFC 7517)."""
        numbers = self._key.public_key().public_numbers()
        place = {"x": _coded(numbers.x.to_bytes(32)), "y": _coded(numbers.y.to_bytes(32))}
        return {"keys": [{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "pileup", **place}]}

    def token(self, scope: str) -> str:
        """Return a token that lets its bearer do what the scope says, e.g. "storage.read:/ storage.modify:/"."""
        now = datetime.datetime.now(datetime.UTC)
        times = {"iat": now, "nbf": now - BEFORE, "exp": now + VALID}
        claims = {"iss": self._issuer, "aud": self._audience, "sub": "pileup", "wlcg.ver": "1.0", "scope": scope}
        seconds = {name: int(moment.timestamp()) for name, moment in times.items()}
        head = {"alg": "ES256", "kid": "pileup", "typ": "JWT"}
        text = ".".join(_coded(json.dumps(part).encode()) for part in (head, {**claims, **seconds}))
        r, s = decode_dss_signature(self._key.sign(text.encode(), ECDSA(hashes.SHA256())))
        return f"{text}.{_coded(r.to_bytes(32) + s.to_bytes(32))}"


def _coded(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
