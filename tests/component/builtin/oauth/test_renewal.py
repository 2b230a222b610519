"""Tokens that are renewed: read by whoever reads files, in no folder, gone with what asked for them."""

import datetime
import gc
import os
import threading
import time
from pathlib import Path

import pytest

from pileup.builtin.credentials import private_ca
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.credentials.token_end import end_of, is_over
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.oauth import renewal
from pileup.model.suite import Credentials
from pileup.model.surroundings import introduce
from pileup.plugin import Cause, Refused, TargetError
from tests.servers.practice_issuer import lines, practice_issuer, practice_storage


def credentials(url: str, **words: object) -> Credentials:
    known = {"url": url, "client": "pileup", "secret": "open-sesame"}
    return Credentials.model_validate({"issuer": {**known, **words}})


def wait_for(path: Path, before: str, seconds: float = 8) -> str:
    end = time.monotonic() + seconds
    while (found := path.read_text()) == before and time.monotonic() < end:
        time.sleep(0.02)
    return found


def test_a_token_is_renewed_until_nobody_has_use_for_it(tmp_path: Path) -> None:
    with practice_issuer(tmp_path, lifetime="2 s") as issuer:
        asked = credentials(issuer.url, ahead="500 ms")
        who = identity_of(asked, "se", secret=True, tls=True)
        assert who.token_file is not None
        path = Path(who.token_file)
        first = path.read_text()
        assert identity_of(asked, "se", secret=True, tls=True).token_file == who.token_file, "one for all who ask"
        second = wait_for(path, first)
        assert second != first
        assert not is_over(first), "it comes before the end of the one before"
        names = [thread.name for thread in threading.enumerate()]
        assert "token renewal" in names
        assert not any(first in str(vars(each)) for each in renewal._renewals.values())
        del asked
        gc.collect()
        end = time.monotonic() + 5
        while "token renewal" in [thread.name for thread in threading.enumerate()] and time.monotonic() < end:
            time.sleep(0.02)
        assert "token renewal" not in [thread.name for thread in threading.enumerate()]
        assert not path.exists()


def test_what_is_refused_for_a_token_that_is_over_says_so(tmp_path: Path) -> None:
    with practice_issuer(tmp_path, lifetime="1 s") as issuer, practice_storage(tmp_path, keys=str(issuer.keys)) as url:
        token = tmp_path / "token"
        target = WebDavTarget(issuer.url, credentials(issuer.url))
        token.write_text(Path(str(target.identity.token_file)).read_text())
        storage = WebDavTarget(url, Credentials(token_file=str(token)))
        end = end_of(token.read_text())
        assert end is not None
        storage.write("a", b"x")
        time.sleep(max(end - time.time(), 0) + 0.05)
        with pytest.raises(Refused) as over:
            storage.write("b", b"x")
        assert over.value.cause is Cause.TOKEN_EXPIRED
        token.write_text("opaque")
        os.utime(token, ns=(1, 1))
        time.sleep(1.1)
        with pytest.raises(Refused) as other:
            storage.write("b", b"x")
        assert other.value.cause is Cause.NONE
        storage.connections.close()


def test_the_secret_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("open-sesame\n")
    with practice_issuer(tmp_path) as issuer:
        asked = credentials(issuer.url, secret=None, secret_file=str(secret))
        assert identity_of(asked, "se", secret=True, tls=True).token_file
        introduce({"PILEUP_CLIENT_SECRET": "open-sesame"}, os.geteuid())
        try:
            asked = credentials(issuer.url, secret="discover")
            assert identity_of(asked, "se", secret=True, tls=True).token_file
            introduce({}, os.geteuid())
            with pytest.raises(TargetError, match=r"\$PILEUP_CLIENT_SECRET is not set; expected"):
                identity_of(credentials(issuer.url, secret="discover"), "se", secret=True, tls=True)
        finally:
            introduce({}, os.geteuid())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"secret": "wrong"}, r"gives the client 'pileup' no token: HTTP 401 Unauthorized \(invalid_client"),
        ({"client": "nobody"}, r"gives the client 'nobody' no token: HTTP 401"),
        ({"scope": "compute.read"}, r"invalid_scope"),
        ({"secret": None, "secret_file": "/no/such/file"}, r"secret_file /no/such/file cannot be read"),
    ],
)
def test_an_issuer_that_gives_no_token_makes_the_target_unavailable(
    tmp_path: Path, words: dict[str, object], says: str
) -> None:
    with practice_issuer(tmp_path) as issuer, pytest.raises(TargetError, match=says) as told:
        identity_of(credentials(issuer.url, **words), "se", secret=True, tls=True)
    assert "; expected " in str(told.value)
    assert "open-sesame" not in str(told.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"client": "a", "secret": "b"}, "neither a url nor a target"),
        ({"client": "a", "secret": "b", "url": "https://i/", "target": "i"}, "a url and a target"),
        ({"client": "a", "url": "https://i/"}, "neither a secret nor a secret_file"),
    ],
)
def test_an_issuer_is_given_once(words: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Credentials.model_validate({"issuer": words})


def test_a_certificate_that_is_trusted_lets_the_secret_go_and_one_that_has_expired_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, days in (("good", 1), ("over", -1)):
        monkeypatch.setattr(private_ca, "VALID", datetime.timedelta(days=days))
        monkeypatch.setattr(private_ca, "BEFORE", datetime.timedelta(days=2))
        made = private_ca.make_certificates()
        for word in ("ca", "certificate", "key"):
            (tmp_path / f"{name}-{word}.pem").write_text(getattr(made, word))
    url = ""
    for name, passes in (("good", True), ("over", False)):
        files = {word: str(tmp_path / f"{name}-{word}.pem") for word in ("certificate", "key")}
        with practice_issuer(tmp_path, tls=files) as issuer:
            url = issuer.url.replace("http:", "https:")
            asked = credentials(url, ca=str(tmp_path / f"{name}-ca.pem"))
            if passes:
                assert identity_of(asked, "se", secret=True, tls=True).token_file
                continue
            with pytest.raises(
                TargetError, match=r"TLS: certificate not trusted \(.*expired.*; expected a token"
            ) as told:
                identity_of(asked, "se", secret=True, tls=True)
            assert "open-sesame" not in str(told.value)
    assert "/token" not in {line["path"] for line in lines(tmp_path / "issuer.csv")}, "it never saw the secret"


def test_an_issuer_and_a_token_are_too_much() -> None:
    both = credentials("https://i/").model_copy(update={"token_file": "/t"})
    with pytest.raises(TargetError, match="credentials have an issuer and a token; expected one of the two"):
        identity_of(both, "se", secret=True, tls=True)
