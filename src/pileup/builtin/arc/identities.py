"""Who may come into a private computing element: a CA of its own, which signs for the host and for as many users.

Needs the package cryptography (extra `servers`). Everything is valid for a week.
"""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

VALID = datetime.timedelta(days=7)
BEFORE = datetime.timedelta(minutes=5)
"""How far clocks may differ."""
ORGANISATION = "pileup"
CA = "private CA"
HOST = "localhost"
ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """A certificate and its key in PEM. Holds a secret: never shown."""

    certificate: str
    key: str

    @property
    def both(self) -> str:
        """Both in one text, as files of identities have them."""
        return self.certificate + self.key


class Authority:
    """A CA that signs for one computing element."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
        key = load_pem_private_key(pair.key.encode(), None)
        if not isinstance(key, EllipticCurvePrivateKey):
            raise ValueError("the key of the CA is of another kind; expected one that pileup has made")
        self._key = key

    @classmethod
    def make(cls) -> Authority:
        """Make one with a new P-256 key."""
        key = generate_private_key(SECP256R1())
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = (
            _builder(CA, CA, key, key)
            .add_extension(constraints, critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(_pair(certificate, key))

    def host(self) -> Pair:
        """Make the certificate of a server at this machine."""
        names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address(ADDRESS))]
        return self._signed(HOST, x509.SubjectAlternativeName(names))

    def user(self, name: str) -> Pair:
        """Make the certificate of a user; its subject is `subject(name)`."""
        return self._signed(name)

    def _signed(self, name: str, *extensions: x509.ExtensionType) -> Pair:
        key = generate_private_key(SECP256R1())
        builder = _builder(name, CA, key, self._key)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        certificate = (
            builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        return _pair(certificate, key)


def subject(name: str) -> str:
    """Return what a computing element calls a user."""
    return f"/O={ORGANISATION}/CN={name}"


def _builder(
    name: str, issuer: str, key: EllipticCurvePrivateKey, signer: EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BEFORE)
        .not_valid_after(now + VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )


def _name(common: str) -> x509.Name:
    organisation = x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, ORGANISATION)
    return x509.Name([organisation, x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


def _usage(*, signs: bool) -> x509.KeyUsage:
    """What a key may do: that of a CA signs certificates, others sign in handshakes (and proxies, RFC 3820)."""
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: EllipticCurvePrivateKey) -> Pair:
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return Pair(certificate.public_bytes(Encoding.PEM).decode(), secret)
