"""`Session`: the control plane of root:// on a real server, and its words when something is wrong."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup._core import _native
from pileup._core._native import Session
from tests.servers.xrootd import Xrootd, xrootd


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xrootd]:
    with xrootd(tmp_path_factory.mktemp("xroot"), checksum="adler32") as running:
        yield running


@pytest.fixture
def session(server: Xrootd) -> Iterator[Session]:
    opened = Session("xroot", json.dumps({"url": server.root}), timeout=20)
    yield opened
    opened.close()


def test_files_come_back_as_they_were_written(server: Xrootd, session: Session) -> None:
    data = _native.content(1, 2, 0, 10_000_001)
    session.write("a/b/file", data, make_path=True)
    assert (server.data / "a/b/file").read_bytes() == data
    assert session.read("a/b/file") == data
    assert session.read("a/b/file", 9_999_990) == data[9_999_990:]
    assert session.read("a/b/file", 5, 7) == data[5:12]
    assert session.read("a/b/file", 20_000_000, 7) == b""
    size, flags, changed = session.stat("a/b/file")
    assert (size, flags & 2) == (len(data), 0)
    assert abs(changed - _native.now() / 1e9) < 60
    assert session.checksum("a/b/file") == ("adler32", f"{_native.adler32([data]):08x}")


def test_folders_are_made_listed_renamed_and_removed(session: Session) -> None:
    session.mkdir("x/y/z", parents=True)
    session.mkdir("x/y/z", parents=True)
    session.write("x/one", b"1")
    session.write("x/two", b"22")
    assert {(name, size) for name, size, flags, _ in session.list("x") if not flags & 2} == {("one", 1), ("two", 2)}
    session.rename("x/one", "x/three")
    session.delete("x/two")
    session.delete("x/y/z")
    assert {name for name, *_ in session.list("x")} == {"three", "y"}
    assert session.list("x/y") == []


def test_a_server_tells_of_itself(server: Xrootd, session: Session) -> None:
    assert session.query(1, "a").startswith(b"<statistics")
    assert session.query(7, "role chksum").startswith(b"server\n")
    session.write("q", b"")
    assert session.query(3, "q") == b"adler32 00000001\0"
    session.close()
    session.connect()
    assert session.stat("q")[0] == 0


def test_errors_have_their_classes_and_no_names(server: Xrootd, session: Session) -> None:
    with pytest.raises(FileNotFoundError, match=r"^xroot 3011 NotFound: no such file or directory$"):
        session.stat("secret-name")
    with pytest.raises(OSError, match="expected one without"):
        session.read("../x")
    elsewhere = Session("xroot", json.dumps({"url": server.root.replace("/data", "/elsewhere")}))
    with pytest.raises(PermissionError, match=r"^xroot 3010 NotAuthorized"):
        elsewhere.stat("x")


def test_a_silent_server_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"root://127.0.0.1:{listener.getsockname()[1]}//"
        with pytest.raises(OSError, match=r"^could not be done within 0\.2 s$"):
            Session("xroot", json.dumps({"url": url}), timeout=0.2).stat("x")


@pytest.mark.parametrize(
    ("settings", "timeout", "words"),
    [
        ({}, 1, "missing field `url`"),
        ({"url": "http://se01/"}, 1, "http is another protocol; expected root://"),
        ({"url": "root://se01//", "token": "se cret"}, 1, "the token holds a space"),
        ({"url": "root://se01//", "token_file": "/no/such/file"}, 1, "there is no such file"),
        ({"url": "root://se01//"}, 0, "timeout 0 is not a time to wait; expected seconds above 0"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, str], timeout: float, words: str) -> None:
    with pytest.raises(ValueError, match="; expected ") as raised:
        Session("xroot", json.dumps(settings), timeout=timeout)
    assert words in str(raised.value)
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize("protocol", ["http", "posix", "ftp"])
def test_a_protocol_without_sessions_is_named(protocol: str) -> None:
    told = rf'the engine has no sessions of protocol "{protocol}"; expected s3 or xroot \('
    with pytest.raises(ValueError, match=told):
        Session(protocol, json.dumps({"url": "http://127.0.0.1/"}))


def test_a_token_opens_a_server_that_asks_for_one(tmp_path: Path) -> None:
    ztn = ["xrootd.seclib libXrdSec.so", "sec.protocol ztn", "sec.protbind * only ztn"]
    with xrootd(tmp_path, tls=True, authorization="tokens", directives=ztn) as server:
        plain = {"url": server.roots, "ca": server.ca}
        session = Session("xroot", json.dumps(plain | {"token_file": server.token_file}))
        session.write("a", b"1")
        assert session.stat("a")[0] == 1
        session.close()
        with pytest.raises(PermissionError, match=r"asks for authentication \(ztn\); expected one that takes a token"):
            Session("xroot", json.dumps(plain)).stat("a")
        with pytest.raises(PermissionError, match=r"^xroot 3030 AuthFailed"):
            Session("xroot", json.dumps(plain | {"token": "no.such.token"})).stat("a")
        # asked by root://, the server goes to TLS by itself: its token is as safe there
        by_root = Session("xroot", json.dumps({"url": server.root, "ca": server.ca, "token_file": server.token_file}))
        assert by_root.read("a") == b"1"
