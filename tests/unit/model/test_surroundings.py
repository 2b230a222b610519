"""Tokens, proxies and CA folders are found where the grid's tools find them, in their order."""

from pathlib import Path

import pytest

from pileup.builtin.credentials.reading import identity_of
from pileup.model.errors import TargetError
from pileup.model.suite import Credentials
from pileup.model.surroundings import Surroundings
from tests.support import closed


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """All places of tokens, each with one that says where it is."""
    found = {"named": tmp_path / "named", "session": tmp_path / "run/bt_u17", "temporary": tmp_path / "tmp/bt_u17"}
    for path in found.values():
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{path.name}\n")
    return found


def around(folder: Path, **variables: str) -> Surroundings:
    return Surroundings(variables, 17, folder / "tmp", folder / "cas")


def test_tokens_are_looked_for_in_the_order_of_wlcg(tmp_path: Path, places: dict[str, Path]) -> None:
    variables = {
        "BEARER_TOKEN": " abc\n",
        "BEARER_TOKEN_FILE": str(places["named"]),
        "XDG_RUNTIME_DIR": str(tmp_path / "run"),
    }
    found = []
    for name in (*variables, ""):
        found.append(around(tmp_path, **variables).token())
        variables.pop(name, None)
    assert found == [("abc", None), (None, places["named"]), (None, places["session"]), (None, places["temporary"])]


def test_a_session_without_a_token_does_not_hide_the_one_for_all_sessions(
    tmp_path: Path, places: dict[str, Path]
) -> None:
    places["session"].unlink()
    assert around(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "run")).token() == (None, places["temporary"])


def test_an_empty_variable_is_none(tmp_path: Path, places: dict[str, Path]) -> None:
    assert around(tmp_path, BEARER_TOKEN=" ", BEARER_TOKEN_FILE="").token() == (None, places["temporary"])


def test_a_file_that_is_named_is_meant_and_no_other(tmp_path: Path, places: dict[str, Path]) -> None:
    with pytest.raises(
        TargetError, match=r"no bearer token is found, looked for in \$BEARER_TOKEN, /nonsuch; expected"
    ):
        around(tmp_path, BEARER_TOKEN_FILE="/nonsuch").token()


def test_where_nothing_is_every_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"run/bt_u17, .*tmp/bt_u17; expected .*token_file: PATH"):
        around(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "run")).token()


def test_a_proxy_is_the_one_named_or_the_usual_one(tmp_path: Path) -> None:
    usual, named = tmp_path / "tmp/x509up_u17", tmp_path / "mine"
    with pytest.raises(TargetError, match=r"there is no X.509 proxy .*x509up_u17; expected .*proxy: PATH"):
        around(tmp_path).proxy()
    usual.parent.mkdir()
    usual.touch()
    named.touch()
    assert around(tmp_path).proxy() == usual
    assert around(tmp_path, X509_USER_PROXY=str(named)).proxy() == named
    with pytest.raises(TargetError, match=r"no X.509 proxy /nonsuch"):
        around(tmp_path, X509_USER_PROXY="/nonsuch").proxy()


def test_cas_are_in_the_folder_named_or_in_the_usual_one(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"there is no folder .*cas of CA certificates; expected"):
        around(tmp_path).ca()
    (tmp_path / "cas").mkdir()
    assert around(tmp_path).ca() == tmp_path / "cas"
    assert around(tmp_path, X509_CERT_DIR=str(tmp_path)).ca() == tmp_path


def test_the_token_is_never_shown(tmp_path: Path) -> None:
    assert "abc" not in repr(around(tmp_path, BEARER_TOKEN="abc"))


def test_who_was_not_introduced_has_nothing() -> None:
    for ask in (Surroundings().token, Surroundings().proxy):
        with pytest.raises(TargetError, match="discover is not known here"):
            ask()


def test_a1_what_this_user_may_not_look_at_is_found_and_reading_it_says_so(tmp_path: Path) -> None:
    theirs = tmp_path / "tmp"
    (theirs / "cas").mkdir(parents=True)
    for name in ("x509up_u17", "bt_u17"):
        (theirs / name).write_text("theirs")
    found = around(tmp_path, X509_CERT_DIR=str(theirs / "cas"))
    with closed(theirs):
        proxy, ca = found.proxy(), found.ca()
        assert (proxy, ca) == (theirs / "x509up_u17", theirs / "cas")
        for words in ({"proxy": str(proxy)}, {"token": "x", "ca": str(ca)}):
            with pytest.raises(TargetError, match="cannot be read: Permission denied; expected a file that this user"):
                identity_of(Credentials.model_validate(words), "ce", secret=True, tls=True)
        with pytest.raises(TargetError, match="no bearer token is found"):
            found.token()
