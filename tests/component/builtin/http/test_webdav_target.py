"""The `webdav` target: what Python tests can do over it, and what it makes of odd servers."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pileup.builtin.http import multistatus
from pileup.builtin.http.curl import Curl
from pileup.builtin.http.multistatus import parse_entries
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.model.program import ClientSpec, Step
from pileup.model.suite import Credentials
from pileup.plugin import Ambiguous, Entry, Failed, FileTarget, Refused, TargetError, ThereAlready

if TYPE_CHECKING:
    from dav_server import DavServer


@pytest.fixture
def target(dav: DavServer) -> Iterator[WebDavTarget]:
    dav.tree["/data/"] = None
    made = WebDavTarget(f"{dav.url}/data")
    yield made
    made.connections.close()


def test_it_is_a_file_target(target: WebDavTarget) -> None:
    assert isinstance(target, FileTarget)
    assert target.provides == {"any", "files", "http", "tpc"}


def test_a_file_from_begin_to_end(target: WebDavTarget, dav: DavServer) -> None:
    name = "runs/härte 100%/a+b?#.dat"
    target.mkdir("runs")
    target.mkdir("runs/härte 100%/")
    target.write(name, b"x" * 3_000_000)
    assert dav.tree["/data/" + name] == b"x" * 3_000_000
    assert target.stat(name) == Entry("a+b?#.dat", 3_000_000, False)
    pieces = list(target.read(name))
    assert (len(pieces), b"".join(pieces)) == (3, b"x" * 3_000_000)
    assert target.list("runs/härte 100%") == [Entry("a+b?#.dat", 3_000_000, False)]
    target.delete(name)
    assert target.list("runs/härte 100%") == []
    with pytest.raises(Failed, match="there is nothing at"):
        target.stat(name)


def test_listing_is_sorted_and_tells_folders(target: WebDavTarget) -> None:
    for name in ("b", "a"):
        target.write(name, b"12")
    target.mkdir("c")
    assert target.list("") == [Entry("a", 2, False), Entry("b", 2, False), Entry("c", 0, True)]
    assert target.stat("c") == target.stat("/c/") == Entry("c", 0, True)
    with pytest.raises(Failed, match="'a' is not a folder"):
        target.list("a")


def test_making_a_folder_that_is_there_is_fine_but_not_over_a_file(target: WebDavTarget) -> None:
    target.mkdir("a")
    target.mkdir("a")
    target.mkdir("")
    target.write("b", b"")
    with pytest.raises(Failed, match="MKCOL 'b': 405"):
        target.mkdir("b")


def test_a_folder_that_is_not_empty_is_never_deleted(target: WebDavTarget, dav: DavServer) -> None:
    target.mkdir("a")
    target.write("a/precious", b"data")
    with pytest.raises(Failed, match=r"'a/' is not empty.*precious"):
        target.delete("a")
    assert "/data/a/precious" in dav.tree
    for root in ("", "/"):
        with pytest.raises(Refused, match="is the target itself"):
            target.delete(root)
    target.delete("a/precious")
    target.delete("a")
    assert "/data/a/" not in dav.tree
    assert [method for method, _ in dav.seen].count("DELETE") == 2


def test_one_connection_per_thread_is_kept(target: WebDavTarget, dav: DavServer) -> None:
    target.write("a", b"1")
    for _ in range(5):
        target.stat("a")
    assert dav.connections == 1

    def ask(number: int) -> None:
        target.write(f"b{number}", b"2")
        assert target.stat(f"b{number}").size == 1
        target.connections.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, range(2)))
    assert dav.connections == 3


def test_asking_in_the_middle_of_reading(target: WebDavTarget) -> None:
    target.write("a", b"x" * 3_000_000)
    pieces = target.read("a")
    first = next(pieces)
    assert target.stat("a").size == 3_000_000
    assert first + b"".join(pieces) == b"x" * 3_000_000
    abandoned = target.read("a")
    next(abandoned)
    abandoned.close()  # type: ignore[attr-defined]
    assert target.stat("a").size == 3_000_000


def test_a_kept_connection_that_the_server_closed_is_no_fault(target: WebDavTarget, dav: DavServer) -> None:
    target.write("a", b"1")
    dav.answers["GET", "/data/last"] = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"  # then it hangs up without a word
    )
    assert b"".join(target.read("last")) == b"ok"
    assert target.stat("a").size == 1


def test_no_answer_at_all_is_ambiguous(target: WebDavTarget, dav: DavServer) -> None:
    dav.answers["PUT", "/data/a"] = b""
    with pytest.raises(Ambiguous, match="closed the connection before it answered PUT"):
        target.write("a", b"1")
    target.stat("")
    dav.answers["DELETE", "/data/b"] = b""
    target.write("b", b"")
    with pytest.raises(Ambiguous):
        target.delete("b")
    assert dav.seen.count(("DELETE", "/data/b")) == 1


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", Failed, "ended after 5 of 10 bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsho", Failed, "broke off"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Failed, "what is not HTTP"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", Refused, "GET 'a': 403 Forbidden"),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Refused, "503 Busy"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", Failed, "500 Oops"),
        (b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", Failed, "302 Found"),
    ],
)
def test_bad_answers(target: WebDavTarget, dav: DavServer, answer: bytes, error: type[Exception], message: str) -> None:
    dav.answers["GET", "/data/a"] = answer
    with pytest.raises(error, match=message):
        list(target.read("a"))


def test_a_server_that_never_answers(dav: DavServer) -> None:
    release = __import__("threading").Event()
    dav.RequestHandlerClass = type("Silent", (dav.RequestHandlerClass,), {"do_GET": lambda *_: release.wait(10)})
    target = WebDavTarget(dav.url, patience="100 ms")
    with pytest.raises(Ambiguous, match=r"no answer to GET within 0\.1 s"):
        list(target.read("a"))
    release.set()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>", "is not XML"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><D:multistatus xmlns:D="DAV:"/>', "declares a document type"),
        (b'<D:multistatus xmlns:D="DAV:"/>', "does not speak of '/data'"),
    ],
)
def test_bad_listings(target: WebDavTarget, dav: DavServer, body: bytes, message: str) -> None:
    head = f"HTTP/1.1 207 Multi-Status\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    dav.answers["PROPFIND", "/data/"] = head + body
    with pytest.raises(Failed, match=message):
        target.list("")


TYPED = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "c">]><D:multistatus xmlns:D="DAV:"/>'


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_s19_no_encoding_hides_a_document_type(encoding: str) -> None:
    text = TYPED if encoding == "utf-16" else "\ufeff" + TYPED
    with pytest.raises(Failed, match="declares a document type"):
        parse_entries([text.encode(encoding)], "/data")


def test_s19_a_large_listing_costs_its_entries_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b'<D:multistatus xmlns:D="DAV:"><D:response><D:href>/data/</D:href>'
    pieces = itertools.chain([head], itertools.repeat(b"<a/>" * 250, 1500))
    tracemalloc.start()
    try:
        entries = parse_entries(itertools.chain(pieces, [b"</D:response></D:multistatus>"]), "/data")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20  # of 1.5 MB with 375,000 elements
    finally:
        tracemalloc.stop()
    assert [entry.name for entry in entries] == ["data"]
    monkeypatch.setattr(multistatus, "LARGEST", 10_000)
    with pytest.raises(Failed, match="larger than 10000 bytes"):
        parse_entries(itertools.chain([head], itertools.repeat(b"<a/>" * 250)), "/data")
    monkeypatch.setattr(multistatus, "LARGEST", 1 << 20)
    monkeypatch.setattr(multistatus, "MOST", 100)
    one = b"<D:response><D:href>/data/x</D:href></D:response>"
    with pytest.raises(Failed, match="more than 100 entries"):
        parse_entries(itertools.chain([head, b"</D:response>"], itertools.repeat(one)), "/data")
    with pytest.raises(Failed, match="nested more than 64 deep"):
        parse_entries([head, b"<a>" * 100], "/data")


def test_s23_pieces_of_one_byte_are_read_in_linear_time() -> None:
    inner = b"<D:response><D:href>/data/" + b"x" * 60_000 + b"</D:href></D:response>"
    body = b'<D:multistatus xmlns:D="DAV:"><D:response><D:href>/data</D:href></D:response>%s</D:multistatus>' % inner
    begin = time.process_time()
    entries = parse_entries((bytes([byte]) for byte in body), "/data")
    assert time.process_time() - begin < 5
    assert len(entries[1].name) == 60_000


def test_a_server_without_propfind_is_asked_with_head(target: WebDavTarget, dav: DavServer) -> None:
    dav.propfind = False
    target.write("a", b"123")
    assert target.stat("a") == Entry("a", 3, False)


def test_probe_says_what_it_is(target: WebDavTarget, dav: DavServer) -> None:
    assert target.probe().endswith(", WebDAV class 1, 2")
    for status, reason in ((401, "Unauthorized"), (403, "Forbidden"), (502, "Bad Gateway")):
        dav.answers["OPTIONS", "/data"] = f"HTTP/1.1 {status} {reason}\r\nContent-Length: 0\r\n\r\n".encode()
        with pytest.raises(TargetError, match=f"(says|access denied:) {status} {reason}; expected"):
            target.probe()
    dav.answers["OPTIONS", "/data"] = b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"  # nginx
    assert target.probe() == "an unnamed server"


def test_probe_of_nobody() -> None:
    with pytest.raises(
        TargetError, match=r"cannot be reached: no connection to 127.0.0.1:1: Connection refused; expected"
    ):
        WebDavTarget("http://127.0.0.1:1/").probe()
    with pytest.raises(TargetError, match=r"cannot be reached: no connection to nonsuch.invalid"):
        WebDavTarget("http://nonsuch.invalid/").probe()


def test_headers_and_identity_are_sent(dav: DavServer) -> None:
    target = WebDavTarget(dav.url, Credentials(token="abc"), headers={"X-Site": "DESY"})
    target.probe()
    assert dav.headers_seen[0]["Authorization"] == "Bearer abc"
    assert dav.headers_seen[0]["X-Site"] == "DESY"
    WebDavTarget(dav.url, Credentials(user="me", password="secret")).probe()
    assert dav.headers_seen[-1]["Authorization"] == "Basic bWU6c2VjcmV0"


def test_a7_a_missing_folder_is_told_by_the_probe(dav: DavServer) -> None:
    with pytest.raises(TargetError, match=r"/nonsuch: no such folder; expected .* \(make it, or correct the url\)"):
        WebDavTarget(f"{dav.url.rstrip('/')}/nonsuch").probe()


def test_s1_a_file_is_created_only_where_nothing_is(dav: DavServer) -> None:
    target = WebDavTarget(dav.url)
    target.create("new", b"ours")
    with pytest.raises(ThereAlready):
        target.create("new", b"other")
    assert b"".join(target.read("new")) == b"ours"


def test_the_engine_gets_the_same(dav: DavServer) -> None:
    target = WebDavTarget("davs://[::1]:8443/data/", Credentials(token="abc"), keep_alive="false", headers={"A": "b"})
    settings = {
        "url": "https://[::1]:8443/data/",
        "keep_alive": False,
        "resume": False,
        "redirects": 5,
        "trust": [],
        "redirect_writes": False,
        "expect": "auto",
        "reconnect_pause": 10**9,
        "headers": [["A", "b"]],
        "token": "abc",
    }
    assert target.client() == ClientSpec("http", settings)


def test_curl_is_chosen_and_what_it_cannot_do_is_told() -> None:
    step = Step("read", "read")
    native = WebDavTarget("http://127.0.0.1:1/")
    assert native.program_client() is None
    assert native.problem_of(step) == ""
    curl = WebDavTarget("http://127.0.0.1:1/", client="curl")
    make = curl.program_client()
    assert make is not None
    assert isinstance(make(0), Curl)
    for target, expected in (
        (WebDavTarget("http://127.0.0.1:1/", client="curl", trust=["pool7"]), "neither `trust` nor `resume`"),
        (WebDavTarget("http://127.0.0.1:1/", client="curl", headers={"A": "b"}), "expected `redirects: 0`"),
    ):
        assert expected in target.problem_of(step)
    for refused in (Step("read", "read", pieces=3), Step("read", "read", read_ahead=5), Step("connect", "connect")):
        assert "; expected " in curl.problem_of(refused)


def test_a6_an_empty_file_may_have_no_stated_size(target: WebDavTarget, dav: DavServer) -> None:
    dav.propfind = False
    dav.answers["HEAD", "/data/empty"] = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    assert target.stat("empty") == Entry("empty", 0, False)


@pytest.mark.parametrize(
    ("location", "told"),
    [
        (
            "",
            "PROPFIND 'x': 302 Found, and no Location: it leads nowhere; expected an answer (check the server's log",
        ),
        ("Location: /y\r\n", "PROPFIND 'x': 302 Found, to /y; expected an answer (give the url that it leads to)"),
    ],
)
def test_d12_a_redirect_is_told_with_where_it_leads(
    target: WebDavTarget, dav: DavServer, location: str, told: str
) -> None:
    dav.answers["PROPFIND", "/data/x"] = f"HTTP/1.1 302 Found\r\n{location}Content-Length: 0\r\n\r\n".encode()
    with pytest.raises(Failed) as raised:
        target.stat("x")
    assert str(raised.value).startswith(told)


def test_d12_a_url_of_a_file_is_told_by_the_probe(dav: DavServer) -> None:
    dav.tree["/data"] = b"of others"
    with pytest.raises(TargetError, match="/data is a file; expected the url of a folder"):
        WebDavTarget(f"{dav.url}/data").probe()
