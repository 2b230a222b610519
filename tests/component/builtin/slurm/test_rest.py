"""The REST client, against servers that answer in every way a socket lets them."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pileup.builtin.slurm.rest import Endpoint, Rest, endpoint_of
from pileup.model.errors import Ambiguous, Failed, TargetError
from tests.servers.certificates import make_certificate

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Serve = Callable[[socket.socket, int], None]
"""Serves one connection, the how-manieth it is."""


@contextmanager
def server(folder: Path, serve: Serve) -> Iterator[Endpoint]:
    """Yield where a server listens that serves one connection after another."""
    path = str(folder / "rest.sock")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()

        def run() -> None:
            number = 0
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    serve(connection, number)
                number += 1

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield endpoint_of(f"unix:{path}")
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def asked(connection: socket.socket) -> bytes:
    """Read one request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1000)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[16:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length: ")), 0)
    while len(body) < length:
        body += connection.recv(1000)
    return head + b"\r\n\r\n" + body


def test_one_connection_serves_many_requests(tmp_path: Path) -> None:
    seen: list[tuple[int, bytes]] = []

    def serve(connection: socket.socket, number: int) -> None:
        while request := asked(connection):
            seen.append((number, request))
            connection.sendall(OK)

    with server(tmp_path, serve) as endpoint:
        rest = Rest(endpoint, 5)
        assert rest.ask("GET", "/ping", headers={"X-A": "b"}).body == b"{}"
        assert rest.ask("POST", "/job", b"x" * 5000).status == 200
        rest.close()
    assert [number for number, _ in seen] == [0, 0]
    assert seen[0][1].startswith(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n")
    assert b"X-A: b\r\n" in seen[0][1]
    assert seen[1][1].endswith(b"Content-Length: 5000\r\n\r\n" + b"x" * 5000)


def test_an_answer_may_come_in_pieces(tmp_path: Path) -> None:
    def serve(connection: socket.socket, number: int) -> None:
        asked(connection)
        for at in range(len(OK)):
            connection.sendall(OK[at : at + 1])

    with server(tmp_path, serve) as endpoint:
        rest = Rest(endpoint, 5)
        assert rest.ask("GET", "/").body == b"{}"
        rest.close()


def test_a_connection_that_was_closed_meanwhile_is_made_anew(tmp_path: Path) -> None:
    closed = threading.Semaphore(0)

    def serve(connection: socket.socket, number: int) -> None:
        asked(connection)
        connection.sendall(OK)
        connection.shutdown(socket.SHUT_RDWR)
        closed.release()

    with server(tmp_path, serve) as endpoint:
        rest = Rest(endpoint, 5)
        for _ in range(3):
            assert rest.ask("POST", "/job", b"{}").status == 200
            closed.acquire()
        rest.close()


def test_an_error_that_closes_the_connection_is_an_answer(tmp_path: Path) -> None:
    def serve(connection: socket.socket, number: int) -> None:
        asked(connection)
        connection.sendall(b"HTTP/1.1 500 INTERNAL ERROR\r\nConnection: Close\r\nContent-Length: 3\r\n\r\nfoo")
        asked(connection)  # its end

    with server(tmp_path, serve) as endpoint:
        rest = Rest(endpoint, 5)
        for _ in range(2):
            answer = rest.ask("POST", "/job", b"{}")
            assert (answer.status, answer.body) == (500, b"foo")


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"])
def test_an_answer_that_breaks_off_is_ambiguous_and_never_asked_for_again(tmp_path: Path, said: bytes) -> None:
    requests: list[bytes] = []

    def serve(connection: socket.socket, number: int) -> None:
        requests.append(asked(connection))
        connection.sendall(said)

    with server(tmp_path, serve) as endpoint, pytest.raises(Ambiguous, match="broke before an answer to POST"):
        Rest(endpoint, 5).ask("POST", "/job", b"{}")
    assert len(requests) == 1


def test_silence_is_ambiguous(tmp_path: Path) -> None:
    over = threading.Event()

    def serve(connection: socket.socket, number: int) -> None:
        over.wait(10)

    with server(tmp_path, serve) as endpoint:
        with pytest.raises(Ambiguous, match=r"no answer to POST within 0\.1 s"):
            Rest(endpoint, 0.1).ask("POST", "/job", b"{}")
        over.set()


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_http_is_a_failure(tmp_path: Path, said: bytes) -> None:
    def serve(connection: socket.socket, number: int) -> None:
        asked(connection)
        connection.sendall(said)

    with server(tmp_path, serve) as endpoint, pytest.raises(Failed, match="the answer"):
        Rest(endpoint, 5).ask("GET", "/")


def test_nobody_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"no connection to .*nothing"):
        Rest(Endpoint(str(tmp_path / "nothing")), 1).ask("GET", "/")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Failed, match=r"no connection to 127\.0\.0\.1:.*refused"):
        Rest(endpoint_of(f"http://127.0.0.1:{port}"), 1).ask("GET", "/")


def test_urls() -> None:
    assert endpoint_of("unix:/run/slurmrestd.sock") == Endpoint("/run/slurmrestd.sock")
    assert endpoint_of("http://ce.example.org") == Endpoint(host="ce.example.org", port=6820)
    assert endpoint_of("https://ce.example.org:7000/") == Endpoint(host="ce.example.org", port=7000, tls=True)
    for url in ("ftp://x", "unix:relative", "http://", "http://x/path", "nonsense"):
        with pytest.raises(TargetError, match="not a url"):
            endpoint_of(url)
    with pytest.raises(TargetError, match="has the port '70000'; expected a number from 1 to 65535"):
        endpoint_of("http://x:70000")
    with pytest.raises(TargetError, match="holds a user name"):
        endpoint_of("http://me:secret@host")


def test_tls_is_spoken_with_a_server_that_can_prove_who_it_is(tmp_path: Path) -> None:
    certificate, key = make_certificate()
    (tmp_path / "ca.pem").write_text(certificate)
    (tmp_path / "key.pem").write_text(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "ca.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            for _ in range(2):
                connection, _ = listening.accept()
                with connection, contextlib.suppress(OSError), context.wrap_socket(connection, True) as secret:
                    while asked(secret):
                        secret.sendall(OK)

        thread = threading.Thread(target=run)
        thread.start()
        endpoint = endpoint_of(f"https://127.0.0.1:{listening.getsockname()[1]}")
        trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
        rest = Rest(endpoint, 5, trusting)
        for _ in range(3):
            assert rest.ask("POST", "/job", b"{}").status == 200
        rest.close()
        with pytest.raises(Failed, match="certificate verify failed"):
            Rest(endpoint, 5).ask("GET", "/")
        thread.join()
