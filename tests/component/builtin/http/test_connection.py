"""Connections that are kept: none that the server has closed is used again, and none is left open."""

import gc
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.http.connection import Connections
from pileup.builtin.http.location import locate
from pileup.model.errors import Ambiguous

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers so many requests on each connection, then closes it."""

    def __init__(self, requests: int) -> None:
        self._requests = requests
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.connections = 0
        self.closed = threading.Semaphore(0)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with closing(connection):
            for _ in range(self._requests):
                if not connection.recv(1 << 16):
                    break
                connection.sendall(ANSWER)
        self.closed.release()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def serving(requests: int, **options: bool) -> Iterator[tuple[Server, Connections]]:
    server = Server(requests)
    connections = Connections(locate(f"http://127.0.0.1:{server.port}/"), Identity(), {}, 5, **options)
    try:
        yield server, connections
    finally:
        connections.close()
        server.close()


def test_a_connection_is_kept_between_requests() -> None:
    with serving(3) as (server, connections):
        for _ in range(3):
            assert connections.send("POST", "").status == 200
        assert server.connections == 1


def test_one_that_the_server_has_closed_is_not_used_again_also_for_what_must_not_be_repeated() -> None:
    with serving(1) as (server, connections):
        for number in range(1, 4):
            assert connections.send("POST", "").status == 200
            assert server.closed.acquire(timeout=5)
            assert server.connections == number


def test_what_breaks_off_in_the_middle_is_ambiguous() -> None:
    with serving(0) as (_, connections), pytest.raises(Ambiguous):
        connections.send("POST", "")


def test_a_connection_goes_with_whoever_keeps_it() -> None:
    with serving(2) as (server, connections):
        assert connections.send("POST", "").status == 200
        thread = threading.Thread(target=connections.send, args=("POST", ""))
        thread.start()
        thread.join()
        assert server.closed.acquire(timeout=5), "it ends with its thread"
        assert server.connections == 2


def test_it_goes_at_once_without_the_garbage_collector() -> None:
    server = Server(2)
    gc.disable()
    try:
        assert Connections(locate(f"http://127.0.0.1:{server.port}/"), Identity(), {}, 5).send("GET", "").status == 200
        assert server.closed.acquire(timeout=5), "nothing keeps the connection"
    finally:
        gc.enable()
        server.close()


def test_it_is_closed_before_its_socket_is_garbage_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector finalizes what is garbage in any order: here the socket is older than what closes it."""
    complaints: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda told: complaints.append(str(told.exc_value)))
    server = Server(1)
    connection = HTTPConnection("127.0.0.1", server.port)
    connection.connect()
    connections: Any = Connections(locate(f"http://127.0.0.1:{server.port}/"), Identity(), {}, 5)
    connections.keep(connection)
    connections.cycle = connections
    del connections, connection
    gc.collect()
    assert server.closed.acquire(timeout=5)
    assert complaints == []
    server.close()


@pytest.mark.parametrize("prompt", [True, False])
def test_an_answer_in_two_parts_is_acknowledged_at_once_if_asked_for(prompt: bool) -> None:
    seen = []

    class Watched(Connections):
        def expect(self, connection):  # type: ignore[no-untyped-def]
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            super().expect(connection)
            seen.append(bool(connection.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK)))

    with serving(1) as (server, _):
        connections = Watched(locate(f"http://127.0.0.1:{server.port}/"), Identity(), {}, 5, prompt=prompt)
        assert connections.send("GET", "").status == 200
        connections.close()
    assert seen == [prompt]
