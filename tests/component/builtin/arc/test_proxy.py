"""Proxies (RFC 3820): OpenSSL believes them, requests of A-REX are read, and what is not a request is refused."""

import datetime
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pileup.builtin.arc.identities import Authority, Pair
from pileup.builtin.arc.proxy import PROXY_INFO, Key, Signer, requested_key, sign
from tests.support import require_program

HOUR = 3600 * 10**9
RSA = rsa.generate_private_key(65537, 2048)


def request(key: Key, version: int = 0) -> str:
    """A certificate request without a name; A-REX writes version 2, and signs that."""
    der = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, SHA256())
    tbs = der.tbs_certrequest_bytes
    at = tbs.index(b"\x02\x01\x00")
    tbs = tbs[: at + 2] + bytes([version]) + tbs[at + 3 :]
    signed = (
        key.sign(tbs, padding.PKCS1v15(), SHA256())
        if isinstance(key, rsa.RSAPrivateKey)
        else key.sign(tbs, ec.ECDSA(SHA256()))
    )
    whole = der.public_bytes(Encoding.DER)
    start = whole.index(der.tbs_certrequest_bytes)
    end = start + len(tbs)
    algorithm = whole[end : end + 2 + whole[end + 1]]
    bits = b"\x03" + length(len(signed) + 1) + b"\0" + signed
    body = tbs + algorithm + bits
    return pem(b"\x30" + length(len(body)) + body)


def length(number: int) -> bytes:
    """A length in DER."""
    if number < 128:
        return bytes([number])
    data = number.to_bytes((number.bit_length() + 7) // 8)
    return bytes([0x80 | len(data)]) + data


def pem(data: bytes) -> str:
    text = b64encode(data).decode()
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN CERTIFICATE REQUEST-----\n{lines}\n-----END CERTIFICATE REQUEST-----\n"


def signer(folder: Path, pair: Pair) -> Signer:
    path = folder / "identity.pem"
    path.write_text(pair.both)
    return Signer.read(path, path)


def secret(key: Key) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def verify(folder: Path, authority: Authority, proxy: str) -> "subprocess.CompletedProcess[str]":
    """Let OpenSSL judge a proxy with its chain."""
    (folder / "ca.pem").write_text(authority.pair.certificate)
    (folder / "proxy.pem").write_text(proxy)
    command = [require_program("openssl", "apt-get install openssl"), "verify", "-allow_proxy_certs"]
    files = ["-CAfile", str(folder / "ca.pem"), "-untrusted", str(folder / "proxy.pem"), str(folder / "proxy.pem")]
    return subprocess.run([*command, *files], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("key", [RSA, ec.generate_private_key(ec.SECP256R1())], ids=["rsa", "ec"])
def test_a_request_of_any_version_is_read_when_its_own_key_has_signed_it(key: Key, version: int) -> None:
    assert requested_key(request(key, version)) == key.public_key()


def test_openssl_believes_a_proxy_and_the_proxy_of_a_proxy(tmp_path: Path) -> None:
    authority = Authority.make()
    first = sign(request(RSA, 2), signer(tmp_path, authority.user("jane")), HOUR)
    done = verify(tmp_path, authority, first.text)
    assert done.returncode == 0, done.stderr
    # as a user has it after voms-proxy-init: proxy, key, chain in one file
    certificate, chain = first.text.split("-----END CERTIFICATE-----\n", 1)
    path = tmp_path / "x509up"
    path.write_text(f"{certificate}-----END CERTIFICATE-----\n{secret(RSA)}{chain}")
    again = ec.generate_private_key(ec.SECP256R1())
    second = sign(request(again, 2), Signer.read(path, path), HOUR)
    done = verify(tmp_path, authority, second.text)
    assert done.returncode == 0, done.stderr
    assert second.text.count("BEGIN CERTIFICATE") == 3


def test_a_proxy_is_what_the_standard_says(tmp_path: Path) -> None:
    owner = signer(tmp_path, Authority.make().user("jane"))
    proxy = sign(request(RSA, 2), owner, HOUR)
    made = x509.load_pem_x509_certificate(proxy.text.encode())
    assert made.issuer == owner.chain[0].subject
    assert made.subject.rdns[:-1] == owner.chain[0].subject.rdns
    assert [each.oid for each in made.subject.rdns[-1]] == [x509.NameOID.COMMON_NAME]
    assert made.extensions.get_extension_for_oid(PROXY_INFO).critical
    usage = made.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical
    assert usage.value.digital_signature
    assert not usage.value.key_cert_sign
    assert made.public_key() == RSA.public_key()


def test_a_proxy_ends_when_it_shall_and_with_its_signer_at_the_latest(tmp_path: Path) -> None:
    owner = signer(tmp_path, Authority.make().user("jane"))
    before = datetime.datetime.now(datetime.UTC).timestamp()
    short, long = (sign(request(RSA), owner, lifetime).expires / 1e9 for lifetime in (HOUR, 1000 * 24 * HOUR))
    after = datetime.datetime.now(datetime.UTC).timestamp()
    assert before + 3590 <= short <= after + 3600
    assert long == owner.expires.timestamp()
    with pytest.raises(ValueError, match=r"the credentials ended at .*; expected valid ones"):
        sign(request(RSA), owner, 0)


def test_a_request_signed_by_another_key_is_refused() -> None:
    text = request(RSA, 2)
    data = bytearray(b64decode("".join(text.splitlines()[1:-1])))
    data[-1] ^= 1
    with pytest.raises(ValueError, match="not signed by its own key"):
        requested_key(pem(bytes(data)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no certificate request"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "there is no certificate request"),
        (pem(b"\x31\x00"), "cannot be read"),
        (pem(b"\x30\x7f\x30"), "cannot be read"),
        (pem(b"\x30\x84"), "cannot be read"),
        (pem(b"\x30\x05\x30\x03\x02\x01\x02"), "cannot be read"),
        (pem(b""), "cannot be read"),
        ("-----BEGIN CERTIFICATE REQUEST-----\n*\n-----END CERTIFICATE REQUEST-----\n", "cannot be read"),
    ],
)
def test_what_is_no_request_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        requested_key(text)


def test_files_that_are_no_identity_are_named(tmp_path: Path) -> None:
    authority = Authority.make()
    jane, joe = authority.user("jane"), authority.user("joe")
    locked = RSA.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    for certificate, key, told in (
        ("", jane.key, "has no certificate"),
        (jane.certificate, "", "has no private key"),
        (jane.certificate, joe.key, "belongs to another certificate"),
        (jane.certificate, locked, "belongs to another certificate"),
    ):
        (tmp_path / "cert.pem").write_text(certificate)
        (tmp_path / "key.pem").write_text(key)
        with pytest.raises(ValueError, match=told):
            Signer.read(tmp_path / "cert.pem", tmp_path / "key.pem")
