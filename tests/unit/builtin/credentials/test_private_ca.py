"""Certificates that TLS libraries accept, tokens that their keys prove."""

import json
import ssl
import time
from base64 import urlsafe_b64decode
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from pileup.builtin.credentials.private_ca import TokenIssuer, make_certificates


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """Let the two talk to each other through memory. Raises SSLError."""
    there, here = ssl.MemoryBIO(), ssl.MemoryBIO()
    asks = client.wrap_bio(here, there, server_hostname=name)
    answers = server.wrap_bio(there, here, server_side=True)
    waiting = [asks, answers]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass


def test_the_certificate_is_good_for_localhost_and_its_address_and_for_no_other_name(tmp_path: Path) -> None:
    made = make_certificates()
    for name, text in {"ca": made.ca, "cert": made.certificate, "key": made.key}.items():
        (tmp_path / name).write_text(text)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    client = ssl.create_default_context(cafile=tmp_path / "ca")
    shake_hands(server, client, "localhost")
    shake_hands(server, client, "127.0.0.1")
    try:
        shake_hands(server, client, "elsewhere.org")
    except ssl.SSLCertVerificationError as problem:
        assert "mismatch" in problem.verify_message
    else:
        raise AssertionError("a certificate for another host was accepted")
    assert made.key not in repr(made)


def test_a_token_says_who_issued_it_and_is_proved_by_the_public_key() -> None:
    issuer = TokenIssuer("https://issuer.example", "anyone")
    token = issuer.token("storage.read:/")
    head, claims, signature = (urlsafe_b64decode(part + "==") for part in token.split("."))
    told = json.loads(claims)
    assert json.loads(head) == {"alg": "ES256", "kid": "pileup", "typ": "JWT"}
    assert (told["iss"], told["aud"], told["scope"], told["wlcg.ver"]) == (
        "https://issuer.example",
        "anyone",
        "storage.read:/",
        "1.0",
    )
    assert told["nbf"] < time.time() < told["exp"]
    (key,) = issuer.public_keys()["keys"]
    x, y = (int.from_bytes(urlsafe_b64decode(key[name] + "==")) for name in ("x", "y"))
    r, s = (int.from_bytes(part) for part in (signature[:32], signature[32:]))
    public = EllipticCurvePublicNumbers(x, y, SECP256R1()).public_key()
    public.verify(encode_dss_signature(r, s), token.rpartition(".")[0].encode(), ECDSA(hashes.SHA256()))
