"""Token issuers as targets: what is granted is what a verifier written apart believes, and what is refused is told."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest

from pileup.builtin.credentials.token_end import end_of
from pileup.builtin.oauth.fetch_test import TokenFetch
from pileup.builtin.oauth.refresh_test import TokenRefresh
from pileup.builtin.oauth.target import Oauth2Target
from pileup.builtin.practice.issuer import PracticeIssuerTarget
from pileup.model.suite import Credentials
from pileup.plugin import Ambiguous, Failed, Refused, TargetError
from pileup.plugin.testing import run_once
from tests.servers.practice_issuer import RunningIssuer, lines, practice_issuer

ANY = "https://wlcg.cern.ch/jwt/v1/any"


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[RunningIssuer]:
    with practice_issuer(tmp_path, lifetime="5 s", clients={"me": "what ever:&+"}) as running:
        yield running


def target(url: str, user: str = "me", password: str = "what ever:&+") -> Oauth2Target:
    return Oauth2Target(url, Credentials.model_validate({"user": user, "password": password}), patience=2 * 10**9)


def test_what_is_granted_is_what_pyjwt_believes(issuer: RunningIssuer) -> None:
    asked = target(issuer.url)
    assert asked.probe() == "OAuth 2.0 issuer, grants client_credentials, refresh_token"
    grant = asked.fetch("storage.read:/data", "https://se.site.org")
    keys = jwt.PyJWKClient(asked.issuer.metadata.jwks_uri)
    key = keys.get_signing_key_from_jwt(grant.token)
    words: Any = {"algorithms": ["ES256"], "audience": "https://se.site.org", "issuer": issuer.url}
    claims = jwt.decode(
        grant.token, key, options={"require": ["exp", "iat", "nbf", "iss", "sub", "aud", "jti"]}, **words
    )
    assert (claims["sub"], claims["client_id"], claims["scope"]) == ("me", "me", "storage.read:/data")
    assert claims["wlcg.ver"] == "1.0"
    assert claims["exp"] - claims["iat"] == 5
    assert (grant.lasts, end_of(grant.token)) == (5 * 10**9, claims["exp"])
    assert grant.refresh is None, "RFC 6749, 4.4.3"
    assert grant.token not in repr(grant)
    with pytest.raises(jwt.InvalidAudienceError):
        jwt.decode(grant.token, key, algorithms=["ES256"], audience=ANY)
    asked.issuer.close()
    issuer.stop()
    (line,) = (line for line in lines(issuer.log) if line["path"] == "/token")
    assert line["note"] == f"client_credentials; granted {claims['jti']} to me until {claims['exp']}"
    assert grant.token not in issuer.log.read_text()


def test_a_refresh_token_is_good_once(issuer: RunningIssuer) -> None:
    asked = target(issuer.url)
    first = asked.fetch("storage.read:/ offline_access")
    assert first.refresh
    second = asked.refresh(first.refresh)
    assert second.refresh
    assert second.refresh != first.refresh
    assert jwt.decode(second.token, options={"verify_signature": False})["scope"] == "storage.read:/ offline_access"
    with pytest.raises(Refused, match="invalid_grant"):
        asked.refresh(first.refresh)
    asked.issuer.close()


@pytest.mark.parametrize(
    ("user", "password", "scope", "says"),
    [
        ("me", "wrong", "", r"HTTP 401 Unauthorized \(invalid_client: another secret\)"),
        ("you", "what ever:&+", "", r"invalid_client: an unknown client"),
        ("me", "what ever:&+", "compute.create", r"HTTP 400 Bad Request \(invalid_scope"),
    ],
)
def test_an_issuer_that_says_no_has_refused(
    issuer: RunningIssuer, user: str, password: str, scope: str, says: str
) -> None:
    asked = target(issuer.url, user, password)
    with pytest.raises(Refused, match=says) as told:
        asked.fetch(scope)
    assert "what ever" not in str(told.value)
    asked.issuer.close()


def test_beyond_the_rate_it_refuses_and_a_ghost_is_ambiguous(tmp_path: Path) -> None:
    ghost = {"kind": "ghost", "paths": ["/token"], "share": 0.5}
    with practice_issuer(tmp_path, rate="2 /s", seed=3, faults=[ghost]) as issuer:
        asked = PracticeIssuerTarget(issuer.url, patience=3 * 10**8)
        told: list[str] = []
        for _ in range(12):
            try:
                asked.fetch()
                told.append("passed")
            except (Refused, Ambiguous) as problem:
                told.append(f"{type(problem).__name__}: {problem}"[:24])
        asked.issuer.close()
    assert {"passed", "Refused: HTTP 429 Too Ma", "Ambiguous: no answer to "} == set(told)
    true = [(line["status"], line["note"].split(" ")[1]) for line in lines(issuer.log) if line["path"] == "/token"]
    passed = sum(status == "200" for status, _ in true)
    refused = sum(status == "429" for status, _ in true)
    assert (passed, refused) == (told.count("passed"), told.count("Refused: HTTP 429 Too Ma"))
    assert sum(status == "0" for status, _ in true) == told.count("Ambiguous: no answer to ")
    assert ("0", "granted") in true, "it has issued a token that nobody got"


def test_the_tests_time_what_they_do(issuer: RunningIssuer) -> None:
    asked = target(issuer.url)
    once = run_once(TokenFetch, asked, lasts="4 s")
    assert (once.outcome.name, [each.name for each in once.operations]) == ("PASSED", ["fetch"])
    assert once.operations[0].bytes > 400
    short = run_once(TokenFetch, asked, lasts="6 s")
    assert (short.outcome.name, short.error) == ("FAILED", "the token lasts 5 s, expected 6 s")
    renewed = run_once(TokenRefresh, asked, scope="storage.read:/")
    assert [each.name for each in renewed.operations] == ["fetch", "refresh"]
    assert [each.calls for each in renewed.operations] == [1, 1]
    asked.issuer.close()


class Odd(BaseHTTPRequestHandler):
    """Answers everything with what the server was given."""

    def do_GET(self) -> None:
        self._send(self.server.metadata)  # type: ignore[attr-defined]

    do_HEAD = do_GET  # noqa: N815  as its base class asks for them

    def do_POST(self) -> None:
        self._send(self.server.granted)  # type: ignore[attr-defined]

    def _send(self, body: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def odd() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Odd)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ("<html>", "is not a token issuer: its metadata are not JSON"),
        ("[]", "name no issuer or no token_endpoint"),
        ('{"issuer": "https://else.org/", "token_endpoint": "URLtoken"}', "says that the issuer is https://else.org/"),
        ('{"issuer": "URL", "token_endpoint": "http://10.0.0.1/token"}', "in plain; expected https://"),
    ],
)
def test_what_is_no_issuer_is_told_from_one(odd: HTTPServer, metadata: str, says: str) -> None:
    url = f"http://127.0.0.1:{odd.server_port}/"
    odd.metadata = metadata.replace("URL", url)  # type: ignore[attr-defined]
    with pytest.raises(TargetError, match=says) as told:
        target(url).probe()
    assert "; expected " in str(told.value)


@pytest.mark.parametrize(
    ("granted", "says"),
    [
        ("yes", "the issuer's answer is not a JSON object"),
        ('{"token_type": "Bearer"}', "has no access_token"),
        ('{"access_token": "a b\\nc", "token_type": "Bearer"}', "has no access_token"),
        ('{"access_token": "abc", "token_type": "mac"}', "is not of type Bearer"),
    ],
)
def test_what_is_no_token_has_failed(odd: HTTPServer, granted: str, says: str) -> None:
    url = f"http://127.0.0.1:{odd.server_port}/"
    odd.metadata = json.dumps({"issuer": url, "token_endpoint": f"{url}token"})  # type: ignore[attr-defined]
    odd.granted = granted  # type: ignore[attr-defined]
    asked = target(url)
    with pytest.raises(Failed, match=says):
        asked.fetch()
    asked.issuer.close()


def test_an_issuer_that_is_down_and_one_without_tls_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(TargetError, match=r"cannot be reached.*; expected an answer"):
        target(f"http://127.0.0.1:{port}/").probe()
    with pytest.raises(TargetError, match=r"in plain; expected .*TLS|in plain; expected a url with TLS"):
        target("http://iam.site.org/").probe()
