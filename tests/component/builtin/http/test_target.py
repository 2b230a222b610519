"""The `http` and `noop` targets: urls, credentials, probes."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pileup.builtin.credentials.server_certificates import INSECURE
from pileup.builtin.http.location import locate
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.noop.target import NoopTarget
from pileup.model import surroundings
from pileup.model.program import ClientSpec
from pileup.model.suite import Credentials
from pileup.plugin import TargetError

if TYPE_CHECKING:
    from dav_server import DavServer


def test_noop_needs_nothing() -> None:
    target = NoopTarget()
    assert (target.client(), target.needs_url) == (ClientSpec("noop"), False)
    assert target.probe() == "noop: does nothing"


@pytest.mark.parametrize(
    ("url", "normal", "base"),
    [
        ("http://host", "http://host", "/a"),
        ("https://host:443/x/", "https://host/x/", "/x/a"),
        ("https://host:8443/health", "https://host:8443/health", "/health/a"),
        ("dav://HOST:80/x y", "http://host/x%20y", "/x%20y/a"),
        ("https://host/a%2Fb", "https://host/a%2Fb", "/a%2Fb/a"),
    ],
)
def test_urls_are_taken_as_written(url: str, normal: str, base: str) -> None:
    assert (locate(url).url, locate(url).path_of("a")) == (normal, base)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "the target has no url; expected one like https"),
        ("host:8443/x", "is not a url of an HTTP server"),
        ("ftp://host/", "is not a url of an HTTP server"),
        ("http:///x", "is not a url of an HTTP server"),
        ("http://host:99999/", "the url of host has the port '99999'; expected a number from 1 to 65535"),
        ("http://me:pass@host/", "holds a user name or a password; expected them under `credentials`"),
        ("http://host/?authz=abc", "has a query"),
    ],
)
def test_wrong_urls_are_refused(url: str, message: str) -> None:
    target = HttpTarget(url)
    for use in (target.client, target.probe):
        with pytest.raises(TargetError, match=message):
            use()


def test_a_password_in_a_url_is_not_shown() -> None:
    with pytest.raises(TargetError) as caught:
        HttpTarget("https://me:hunter2@host/").client()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://se01.site.org/", "http://192.0.2.1:80/", "http://localhost.site.org/"])
@pytest.mark.parametrize("credentials", [{"token": "abc"}, {"user": "me", "password": "x"}])
def test_secrets_never_go_over_the_wire_in_plain(url: str, credentials: dict[str, Any]) -> None:
    with pytest.raises(TargetError, match=r"would go to .* in plain; expected a url with TLS, such as https://"):
        HttpTarget(url, Credentials(**credentials)).client()


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://localhost:1/", "http://[::1]/", "https://se01.site.org/"])
def test_secrets_go_over_tls_or_loopback(url: str) -> None:
    assert HttpTarget(url, Credentials(token="abc")).client().settings["token"] == "abc"


def test_token_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("eyJ.abc-_~\n")
    target = HttpTarget("https://host/", Credentials(token_file=str(file)))
    settings = target.client().settings
    assert (settings["token_file"], settings.get("token")) == (str(file), None), "the engine reads it when it changes"


@pytest.mark.parametrize(
    ("credentials", "message"),
    [
        ({"token_file": "/nonsuch"}, "token_file /nonsuch cannot be read: No such file or directory; expected"),
        ({"token": ""}, "the bearer token is empty"),
        ({"token": "a\r\nHost: b"}, "characters that no token has"),
        ({"token": "discover"}, "not known here; expected the command line"),
        ({"proxy": "/nonsuch"}, "proxy /nonsuch cannot be read"),
        ({"proxy": "a", "certificate": "b"}, "a proxy and a certificate"),
        ({"token": "a", "token_file": "b"}, "a token and a token_file"),
        ({"token": "a", "user": "b"}, "a token and a user"),
        ({"user": "a:b", "password": "c"}, "has a colon"),
        ({"password": "c"}, "a password but no user"),
        ({"key": "/nonsuch"}, "a key but no certificate"),
        ({"ca": "/nonsuch"}, "ca /nonsuch cannot be read"),
        ({"certificate": "/nonsuch"}, "certificate /nonsuch cannot be read"),
    ],
)
def test_credentials_that_cannot_be_used(
    credentials: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "_introduced", surroundings.Surroundings())  # another test may have had a user
    with pytest.raises(TargetError, match=message):
        HttpTarget("https://host/", Credentials(**credentials)).client()


def test_certificates_without_tls_are_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    with pytest.raises(TargetError, match="accessed without TLS; expected a url with TLS"):
        HttpTarget("http://127.0.0.1/", Credentials(ca=str(tmp_path / "ca.pem"))).client()


def test_nothing_shows_secrets() -> None:
    target = HttpTarget("https://host/", Credentials(user="me", password="hunter2"))
    assert "hunter2" not in f"{target.identity} {target.identity!r} {target.credentials!r}"


def test_probe_takes_any_answer(dav: DavServer) -> None:
    assert HttpTarget(f"{dav.url}/nonsuch").probe().endswith(", answers 404")
    assert dav.seen == [("HEAD", "/nonsuch")]


@pytest.fixture
def tls_files(tmp_path: Path) -> tuple[Path, Path]:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-out", certificate, "-keyout", key),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def test_tls_with_its_own_ca_and_a_client_certificate(dav: DavServer, tls_files: tuple[Path, Path]) -> None:
    certificate, key = (str(file) for file in tls_files)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificate)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    dav.socket = context.wrap_socket(dav.socket, server_side=True)
    url = dav.url.replace("http:", "https:")
    with pytest.raises(TargetError, match="self-signed certificate"):
        HttpTarget(url).probe()
    with pytest.raises(TargetError, match="cannot be reached"):
        HttpTarget(url, Credentials(ca=certificate)).probe()
    known = Credentials(ca=certificate, certificate=certificate, key=key)
    assert HttpTarget(url, known).probe().endswith("answers 404")


def test_a_client_certificate_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("nothing")
    credentials = Credentials(certificate=str(tmp_path / "cert.pem"))
    with pytest.raises(TargetError, match=r"the client certificate .* cannot be used"):
        HttpTarget("https://127.0.0.1:1/", credentials).probe()


def test_a5_what_is_not_verified_is_said_and_needs_tls() -> None:
    digits = "AB:" * 31 + "ab"
    assert HttpTarget("https://h/", insecure=True).remarks() == [INSECURE]
    pinned = HttpTarget("https://h/", certificate_sha256=digits)
    assert pinned.client().settings["certificate_sha256"] == "ab" * 32
    assert pinned.remarks() == []
    with pytest.raises(TargetError, match="the url is without TLS; expected a url that begins with https://"):
        HttpTarget("http://h/", insecure=True).client()
    with pytest.raises(ValueError, match="is not a fingerprint; expected 64 hexadecimal digits"):
        HttpTarget("https://h/", certificate_sha256="ab")
