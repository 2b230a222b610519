"""Servers that lie: XRootD and HTTP, each with files of known content below folders that are called after the lie."""

import contextlib
import itertools
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

from pileup._core._native import content

SEED = 7
SIZE = 50_000
"""Size of every file, bytes: all hold the known content of object 0 with SEED."""
OK, ERROR, REDIRECT, WAIT, WAITRESP = 0, 4003, 4004, 4005, 4006
PROTOCOL, LOGIN, STAT, OPEN, READ, QUERY = 3006, 3007, 3017, 3010, 3013, 3001
NEVER = 3600
"""Seconds that a client is kept in suspense."""


def whole() -> bytes:
    """Return what every file holds."""
    return content(SEED, 0, 0, SIZE)


class Request:
    """One request of an XRootD client, and the ways to answer it."""

    def __init__(self, connection: socket.socket, head: bytes, body: bytes) -> None:
        self._connection = connection
        self.stream = head[:2]
        self.code = struct.unpack(">H", head[2:4])[0]
        self.fields = head[4:20]
        self.path = body.decode("utf-8", "replace").partition("?")[0].rstrip("\0/")
        self.port = connection.getsockname()[1]

    def say(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._connection.sendall(data)

    def head(self, status: int, length: int, stream: bytes | None = None) -> bytes:
        """Return the head of an answer."""
        return (stream or self.stream) + struct.pack(">Hi", status, length)

    def answer(self, status: int = OK, body: bytes = b"") -> None:
        """Send a whole answer."""
        self.say(self.head(status, len(body)) + body)

    def part(self) -> bytes:
        """Return what a read asks for."""
        offset, length = struct.unpack(">qi", self.fields[4:16])
        return whole()[offset : offset + length]

    def hang_up(self) -> None:
        """Close the connection in the middle of it."""
        raise ConnectionAbortedError


Lie = Callable[[Request], None]


def wrong_byte(request: Request) -> None:
    """Give one byte that is another."""
    data = bytearray(request.part())
    data[len(data) // 2] ^= 1
    request.answer(OK, bytes(data))


def truncated(request: Request) -> None:
    """Send a part of what was promised, and close."""
    request.say(request.head(OK, SIZE) + request.part()[: SIZE // 2])
    request.hang_up()


def stalled(request: Request) -> None:
    """Send a part of what was promised, and nothing more."""
    request.say(request.head(OK, SIZE) + request.part()[: SIZE // 2])


LIES: dict[str, Lie] = {
    "honest": lambda request: request.answer(OK, request.part()),
    "short": lambda request: request.answer(OK, request.part()[: SIZE // 2]),
    "empty": lambda request: request.answer(OK),
    "long": lambda request: request.answer(OK, request.part() * 2),
    "wrong-byte": wrong_byte,
    "truncated": truncated,
    "closed": lambda request: request.hang_up(),
    "silent": lambda request: None,
    "stalled": stalled,
    "redirect": lambda request: request.answer(REDIRECT, struct.pack(">i", request.port) + b"127.0.0.1"),
    "redirect-nowhere": lambda request: request.answer(REDIRECT, struct.pack(">i", -7) + b"\xff\0/"),
    "wait": lambda request: request.answer(WAIT, struct.pack(">i", 1)),
    "wait-long": lambda request: request.answer(WAIT, struct.pack(">i", NEVER)),
    "wait-for-news": lambda request: request.answer(WAITRESP, struct.pack(">i", NEVER)),
    "garbage": lambda request: request.say(b"\xa5\x5a" * 2048),
    "huge": lambda request: request.say(request.head(OK, 0x7FFF_FFF0)),
    "negative": lambda request: request.say(request.head(OK, -1)),
    "other-stream": lambda request: request.say(request.head(OK, 0, b"\xee\xee")),
    "unknown-status": lambda request: request.answer(4242, b"?"),
    "unknown-error": lambda request: request.answer(ERROR, struct.pack(">i", 4999) + b"?\0"),
    "bare-error": lambda request: request.answer(ERROR),
    "refusal": lambda request: request.answer(ERROR, struct.pack(">i", 3010) + b"not you; permission denied\0"),
}
"""How a read, and where it is of the open, is answered below a folder of that name."""
AT_OPEN = {"redirect", "redirect-nowhere", "wait", "wait-long", "wait-for-news", "refusal", "unknown-error"}
"""Lies that are reported when the file is opened."""


def _attributes(size: int, flags: int) -> bytes:
    return f"1 {size} {flags} 1700000000\0".encode()


def _answer(request: Request, opened: dict[bytes, str], handles: Iterator[int]) -> None:
    lie = next((part for part in request.path.split("/") if part in LIES), "")
    if request.code == PROTOCOL:
        request.answer(OK, struct.pack(">iI", 0x520, 1))
    elif request.code == LOGIN:
        request.answer(OK, os.urandom(16))
    elif request.code == QUERY:
        request.answer(OK, b"v0.0.0\n\0")
    elif request.code == STAT:
        request.answer(OK, _attributes(SIZE, 16) if request.path.endswith("0") else _attributes(0, 19))
    elif request.code == OPEN and lie in AT_OPEN:
        LIES[lie](request)
    elif request.code == OPEN:
        handle = struct.pack(">I", next(handles))
        opened[handle] = lie
        asked = struct.unpack(">H", request.fields[2:4])[0]
        request.answer(OK, handle + (bytes(8) + _attributes(SIZE, 16) if asked & 0x400 else b""))
    elif request.code == READ:
        LIES[opened[request.fields[:4]]](request)
    else:
        request.answer()


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _serve_xroot(connection: socket.socket) -> None:
    _received(connection, 20)
    connection.sendall(bytes(2) + struct.pack(">HiiI", OK, 8, 0x520, 1))
    opened: dict[bytes, str] = {}
    handles = itertools.count(1)
    while True:
        head = _received(connection, 24)
        body = _received(connection, struct.unpack(">i", head[20:])[0])
        _answer(Request(connection, head, body), opened, handles)


@contextlib.contextmanager
def served(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Yield the port of a server that has a thread for each connection, and breaks off where the other side does."""
    listener = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []

    def keep(connection: socket.socket) -> None:
        with contextlib.closing(connection), contextlib.suppress(OSError, EOFError, struct.error):
            serve(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connections.append(listener.accept()[0])
                threading.Thread(target=keep, args=(connections[-1],), daemon=True).start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(5)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def lying_xroot() -> Iterator[str]:
    """Yield the url of an XRootD server that lies."""
    with served(_serve_xroot) as port:
        yield f"root://127.0.0.1:{port}//data"


def _http(status: str, body: bytes, length: object = None, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def _spoilt() -> bytes:
    data = bytearray(whole())
    data[SIZE // 2] ^= 1
    return bytes(data)


HTTP_LIES: dict[str, Callable[[str], Iterator[bytes]]] = {
    "honest": lambda path: iter([_http("200 OK", whole())]),
    "short": lambda path: iter([_http("200 OK", whole()[: SIZE // 2])]),
    "long": lambda path: iter([_http("200 OK", whole() * 2)]),
    "wrong-byte": lambda path: iter([_http("200 OK", _spoilt())]),
    "truncated": lambda path: iter([_http("200 OK", whole()[: SIZE // 2], SIZE)]),
    "closed": lambda path: iter([]),
    "silent": lambda path: _then_nothing(b""),
    "stalled": lambda path: _then_nothing(_http("200 OK", whole()[: SIZE // 2], SIZE)),
    "surplus": lambda path: iter([_http("200 OK", whole()) + b"more"]),
    "twice": lambda path: iter([_http("200 OK", whole()) * 2]),
    "contradiction": lambda path: iter(
        [
            f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: {SIZE + 1}\r\n\r\n{SIZE:x}\r\n".encode(),
            whole() + b"\r\n0\r\n\r\n",
        ]
    ),
    "redirect": lambda path: iter([_http("302 Found", b"", None, f"Location: {path}")]),
    "redirect-nowhere": lambda path: iter([_http("302 Found", b"", None, "Location: gopher://[/")]),
    "garbage": lambda path: iter([b"\xa5\x5a" * 2048]),
    "huge": lambda path: iter([_http("200 OK", whole(), 1 << 62)]),
    "negative": lambda path: iter([_http("200 OK", whole(), -5)]),
    "no-number": lambda path: iter([_http("200 OK", whole(), "many")]),
    "unknown-status": lambda path: iter([_http("742 Odd", b"?")]),
    "endless-head": lambda path: itertools.chain(
        [b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"X: " + b"x" * 8000 + b"\r\n")
    ),
    "huge-chunk": lambda path: iter(
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + whole()]
    ),
    "endless-body": lambda path: itertools.chain([b"HTTP/1.1 200 OK\r\n\r\n"], itertools.repeat(whole())),
    "refusal": lambda path: iter([_http("403 Forbidden", b"")]),
}
"""What a GET below a folder of that name is answered with; after the last piece the connection is closed."""


def _then_nothing(begin: bytes) -> Iterator[bytes]:
    yield begin
    time.sleep(20)


def _serve_http(connection: socket.socket) -> None:
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, _, data = data.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[:2]
        lie = next((part for part in path.decode().split("/") if part in HTTP_LIES), "")
        if method != b"GET":
            connection.sendall(_http("200 OK", b"", None, "DAV: 1"))
            continue
        for part in HTTP_LIES[lie](path.decode()):
            connection.sendall(part)
        if lie in ("honest", "redirect", "refusal"):
            continue
        return


@contextlib.contextmanager
def lying_http() -> Iterator[str]:
    """Yield the url of a WebDAV server that lies."""
    with served(_serve_http) as port:
        yield f"http://127.0.0.1:{port}/data"
