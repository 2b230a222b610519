"""What the kinds xrootd and webdav promise, on a real XRootD with every way to let people in."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.monitor import XrootdMonitor
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.model.suite import Credentials
from pileup.plugin import Failed, FileTarget, Refused, TargetError
from tests.servers.certificates import make_certificate
from tests.servers.launched import NAME
from tests.servers.xrootd import Xrootd, xrootd

WAYS = ["none", "tokens", "macaroons"]


@pytest.fixture(scope="module", params=WAYS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xrootd]:
    """A server with TLS."""
    with xrootd(tmp_path_factory.mktemp("se"), tls=True, authorization=request.param) as running:
        yield running


def let_in(server: Xrootd) -> Credentials:
    return Credentials(ca=server.ca, token_file=server.token_file or None)


SCHEMES = ["root", "roots", "https"]
Reach = Callable[..., FileTarget]


@pytest.fixture
def reach(server: Xrootd) -> Iterator[Reach]:
    """What makes a target, closed at the end of the test."""
    made: list[FileTarget] = []

    def make(scheme: str, credentials: Credentials | None = None) -> FileTarget:
        kind = WebDavTarget if scheme == "https" else XrootdTarget
        made.append(kind(getattr(server, scheme), credentials or let_in(server)))
        return made[-1]

    yield make
    for target in made:
        close(target)


def close(target: FileTarget) -> None:
    if isinstance(target, XrootdTarget):
        target.sessions.close()
    elif isinstance(target, WebDavTarget):
        target.connections.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_files_and_folders(server: Xrootd, reach: Reach, scheme: str) -> None:
    target = reach(scheme)
    assert "rootd" in target.probe().lower()
    content = bytes(range(256)) * 40_000  # more than is read at a time
    target.mkdir(scheme)
    target.mkdir(scheme)
    target.write(f"{scheme}/a b", b"first")
    target.write(f"{scheme}/a b", content)
    assert b"".join(target.read(f"{scheme}/a b")) == content
    assert (server.data / scheme / "a b").read_bytes() == content
    entry = target.stat(f"{scheme}/a b")
    assert (entry.name, entry.size, entry.folder) == ("a b", len(content), False)
    assert target.list(scheme) == [entry]
    with pytest.raises(Failed, match="not empty"):
        target.delete(scheme)
    target.delete(f"{scheme}/a b")
    target.delete(scheme)
    assert not (server.data / scheme).exists()
    for ask in (target.stat, target.delete, lambda path: list(target.read(path))):
        with pytest.raises(Failed, match="there is nothing at 'nonsuch'"):
            ask("nonsuch")
    with pytest.raises(Refused, match="is the target itself"):
        target.delete("/")


@pytest.mark.parametrize("server", ["tokens", "macaroons"], indirect=True)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_who_is_a_stranger_is_refused_in_words(server: Xrootd, reach: Reach, scheme: str) -> None:
    server.put("there", b"x")
    for credentials in (Credentials(ca=server.ca), Credentials(ca=server.ca, token="eyJub25zZW5zZSI6MX0.e30.AAAA")):
        target = reach(scheme, credentials)
        with pytest.raises(Refused) as caught:
            target.write("mine", b"x")
        assert "AAAA" not in str(caught.value)
        if scheme != "https":  # OPTIONS needs no rights
            with pytest.raises(TargetError, match=r"access denied: .*; expected access"):
                target.probe()
    assert not (server.data / "mine").exists()


@pytest.mark.parametrize("server", ["tokens", "macaroons"], indirect=True)
def test_a_token_file_that_changes_is_read_again(server: Xrootd, reach: Reach, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("nonsense")
    targets = [reach(scheme, Credentials(ca=server.ca, token_file=str(file))) for scheme in SCHEMES]
    for target in targets:
        with pytest.raises(Refused):
            target.list("")
    file.write_text(server.token)
    for target in targets:
        _soon_let_in(target)


def _soon_let_in(target: FileTarget) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            target.list("")
        except Refused:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the new token was not read")


def test_a_server_that_was_started_again_is_found_and_has_kept_its_files_keys_and_tokens(
    server: Xrootd, reach: Reach
) -> None:
    targets = [reach(scheme) for scheme in SCHEMES]
    server.put("kept", b"content")
    for target in targets:
        assert target.stat("kept").size == 7
    server.supervisor.restart(NAME)
    for target in targets:
        try:
            target.stat("kept")
        except Exception as problem:
            assert isinstance(problem, Failed | Refused) or "no answer" in str(problem), problem
        assert target.stat("kept").size == 7


def test_a_certificate_of_somebody_else_is_not_believed(reach: Reach, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(make_certificate()[0])
    for scheme in ("roots", "https"):
        with pytest.raises(TargetError, match=r"certificate not trusted"):
            reach(scheme, Credentials(ca=str(tmp_path / "ca.pem"))).probe()


def test_the_monitor_counts_what_was_done(server: Xrootd, reach: Reach) -> None:
    target, web = reach("root"), reach("https")
    monitor = XrootdMonitor(url=server.roots, ca=server.ca)
    before = {each.metric: each.value for each in monitor.sample()}
    assert before["opens"] == before["out"] == 0
    target.write("counted", b"x" * 3_000_000)
    for _ in range(5):
        assert sum(map(len, target.read("counted"))) == 3_000_000
    assert sum(map(len, web.read("counted"))) == 3_000_000
    after = {each.metric: each.value for each in monitor.sample()}
    assert after["connections"] >= 3
    assert after["opens"] == 1 + 5 + 1
    for each in (target, web):
        close(each)
    end = time.monotonic() + 20  # it counts when it sees that the connections are closed
    while (after["out"] < 18_000_000 or after["reads"] < 6) and time.monotonic() < end:
        after = {each.metric: each.value for each in monitor.sample()}
    monitor.close()
    assert after["reads"] >= 6
    assert after["writes"] >= 1
    assert 3_000_000 <= after["in"] < 3_100_000
    assert 18_000_000 <= after["out"] < 18_500_000, "with the answers to the monitor"
    assert after["threads"] >= 1
    assert after["cpu"] > 0
