"""Rucio's answers and what they mean, on a server that answers what it is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from pileup.builtin.catalogue.list_test import CatalogueList
from pileup.builtin.rucio.session import Session
from pileup.builtin.rucio.target import RucioTarget
from pileup.model.errors import Failed, NotThere, Refused, TargetError, ThereAlready
from pileup.model.suite import Credentials
from pileup.plugin.testing import run_once
from tests.component.builtin.rucio.conftest import FakeRucio


def target_of(fake: FakeRucio, **options: Any) -> RucioTarget:
    credentials = Credentials.model_validate({"user": "jdoe", "password": "open-sesame"})
    return RucioTarget(fake.url, credentials, **{"scope": "pileup", "rses": ["SE1", "SE2"], **options})


@pytest.fixture
def session(fake: FakeRucio) -> Iterator[Session]:
    session = target_of(fake).session()
    yield session
    session.end()


def test_the_probe_asks_for_version_login_and_scope(fake: FakeRucio) -> None:
    assert target_of(fake).probe() == "Rucio 41.5.1"
    assert fake.paths() == ["GET ping", "GET auth/userpass", "GET scopes/"]
    assert fake.asked[1][2]["X-Rucio-Username"] == "jdoe"
    assert fake.asked[1][2]["X-Rucio-Password"] == "open-sesame"
    assert fake.asked[2][2]["X-Rucio-Auth-Token"] == "root-pileup-unknown-1"


def test_no_password_goes_anywhere_but_to_the_login(fake: FakeRucio) -> None:
    target_of(fake).probe()
    for _, path, headers, _ in fake.asked:
        said = " ".join(f"{name}: {text}" for name, text in headers.items() if path != "auth/userpass")
        assert "open-sesame" not in said and "Authorization" not in said


def test_a_server_that_is_not_rucio_is_told_apart(fake: FakeRucio) -> None:
    fake.answers["ping"] = (200, "", [{"hello": "world"}])
    with pytest.raises(TargetError, match="does not answer as Rucio"):
        target_of(fake).probe()


def test_a_wrong_password_is_told(fake: FakeRucio) -> None:
    fake.answers["auth/userpass"] = (401, "CannotAuthenticate", [])
    with pytest.raises(TargetError) as caught:
        target_of(fake).probe()
    assert "does not let pileup in: 401 CannotAuthenticate" in caught.value.what
    assert caught.value.expected and caught.value.hint


def test_an_unknown_scope_is_told_with_those_that_there_are(fake: FakeRucio) -> None:
    with pytest.raises(TargetError, match=r"no scope 'nowhere'.*expected one of pileup, user\.jdoe"):
        target_of(fake, scope="nowhere").probe()
    with pytest.raises(TargetError, match=r"has no scope; expected one that the account may write in"):
        target_of(fake, scope="").probe()


def test_a_listing_of_a_scope_that_is_not_there_is_no_empty_one(fake: FakeRucio) -> None:
    fake.answers["dids/nowhere/"] = (200, "", [[]])  # as Rucio answers
    with pytest.raises(NotThere, match=r"there is no scope 'nowhere'; expected one of pileup, user\.jdoe"):
        run_once(CatalogueList, target_of(fake), scope="nowhere")


def test_a_target_without_credentials_says_so(fake: FakeRucio) -> None:
    with pytest.raises(TargetError, match="no credentials; expected `user` and `password`, or a `token`"):
        RucioTarget(fake.url, scope="pileup").probe()


@pytest.mark.parametrize(
    ("status", "kind", "wanted"),
    [
        (401, "AccessDenied", Refused),
        (401, "CannotAuthenticate", Refused),
        (503, "ResourceTemporaryUnavailable", Refused),
        (503, "DatabaseException", Refused),
        (429, "", Refused),
        (404, "DataIdentifierNotFound", NotThere),
        (400, "DataIdentifierNotFound", NotThere),
        (404, "RSENotFound", NotThere),
        (404, "", NotThere),
        (409, "DataIdentifierAlreadyExists", ThereAlready),
        (409, "Duplicate", ThereAlready),
        (409, "UnsupportedOperation", Failed),
        (500, "DatabaseException", Failed),
    ],
)
def test_what_an_error_means(fake: FakeRucio, session: Session, status: int, kind: str, wanted: type) -> None:
    fake.answers["replicas"] = (status, kind, [])
    with pytest.raises(wanted) as caught:
        session.register("SE1", ["a"], 1)
    assert type(caught.value) is wanted
    assert str(status) in str(caught.value)


def test_one_is_asked_for_by_itself_and_several_in_bulk(fake: FakeRucio, session: Session) -> None:
    for path in ("dids/pileup/a", "dids", "replicas"):
        fake.answers[path] = (201, "", b"Created")
    session.create("dataset", ["a"])
    session.create("container", ["a", "b"])
    session.register("SE1", ["a", "b", "c"], 10)
    assert fake.paths()[1:] == ["POST dids/pileup/a", "POST dids", "POST replicas"]


def test_what_is_no_json_fails(fake: FakeRucio, session: Session) -> None:
    fake.answers["dids/pileup/a/dids"] = (200, "", b"{half")
    with pytest.raises(Failed, match="the answer is not JSON"):
        session.content("a")


def test_a_token_is_renewed_before_it_is_over(fake: FakeRucio, session: Session) -> None:
    fake.lasts = 0
    session.log_in()
    assert session.must_log_in
    fake.lasts = 3600
    login = session.log_in()
    assert login.lasts == 3600 * 10**9
    assert not session.must_log_in


def test_secrets_are_not_shown(fake: FakeRucio, session: Session) -> None:
    told = f"{session.log_in()!r} {session._who!r} {target_of(fake).credentials!r}"
    assert "open-sesame" not in told and "root-pileup" not in told


def test_several_accounts_need_to_be_told_apart(fake: FakeRucio) -> None:
    target = target_of(fake, account="jdoe")
    session = target.session()
    session.log_in()
    session.end()
    assert fake.asked[-1][2]["X-Rucio-Account"] == "jdoe"
