"""A small grid: a CA, a host, and a user with an X.509 proxy (RFC 3820)."""

import datetime
import ipaddress
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

SUBJECT = "/O=pileup/CN=Jane Doe"
"""Who the user is."""
PROXY_INFO = x509.ObjectIdentifier("1.3.6.1.5.5.7.1.14")
INHERIT_ALL = bytes.fromhex("300c300a06082b06010505071501")
"""ProxyCertInfo { proxyPolicy { policyLanguage id-ppl-inheritAll } } (RFC 3820, 3.8)."""
Extension = tuple[x509.ExtensionType, bool]


def _name(*common: str) -> x509.Name:
    first = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "pileup")
    return x509.Name([first, *[x509.NameAttribute(NameOID.COMMON_NAME, each) for each in common]])


def _key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: RSAPrivateKey, signer: RSAPrivateKey, *extensions: Extension
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=12))
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(signer, SHA256())


@dataclass(frozen=True)
class Grid:
    """Files of a grid of one user and one host."""

    cas: Path
    """Folder with the CA, named as OpenSSL wants it."""
    proxy: Path
    """As voms-proxy-init writes it: certificate, key, chain."""
    host: Path
    key: Path


def make_grid(folder: Path) -> Grid:
    """Make a CA, a certificate of localhost, and a user with a proxy."""
    ca_key, user_key, proxy_key, host_key = _key(), _key(), _key(), _key()
    no_ca: Extension = (x509.BasicConstraints(ca=False, path_length=None), True)
    is_ca: Extension = (x509.BasicConstraints(ca=True, path_length=None), True)
    identifier: Extension = (x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), False)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    named: Extension = (x509.SubjectAlternativeName([x509.DNSName("localhost"), address]), False)
    limited: Extension = (x509.UnrecognizedExtension(PROXY_INFO, INHERIT_ALL), True)
    signs, vouches = _usage(certificates=False), _usage(certificates=True)
    authority = _certificate(_name("CA"), _name("CA"), ca_key, ca_key, is_ca, vouches, identifier)
    host = _certificate(_name("localhost"), _name("CA"), host_key, ca_key, signs, no_ca, named)
    user = _certificate(_name("Jane Doe"), _name("CA"), user_key, ca_key, signs, no_ca)
    proxy = _certificate(_name("Jane Doe", "1234567"), _name("Jane Doe"), proxy_key, user_key, signs, limited)
    made = Grid(folder / "certificates", folder / "x509up_u17", folder / "hostcert.pem", folder / "hostkey.pem")
    made.cas.mkdir()
    (made.cas / "ca.pem").write_bytes(_pem(authority))
    asked = ("openssl", "x509", "-hash", "-noout", "-in", str(made.cas / "ca.pem"))
    digest = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    (made.cas / f"{digest}.0").symlink_to("ca.pem")
    made.host.write_bytes(_pem(host))
    made.key.write_bytes(_secret(host_key))
    made.proxy.write_bytes(_pem(proxy) + _secret(proxy_key) + _pem(user))
    for secret in (made.proxy, made.key):
        secret.chmod(0o600)
    return made


def _usage(certificates: bool) -> Extension:
    return x509.KeyUsage(True, False, not certificates, False, False, certificates, certificates, False, False), True


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _secret(key: RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
