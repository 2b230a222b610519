"""What the servers of the second opinion share: HTTP/1.1 by hand, and a log. Nothing here comes from pileup.

A log has a JSON object a line, written before the server goes on, so that a kill loses nothing. `what` is

* `opened`: `connection` (a number from 1), `time`;
* `arrived`: the whole request is there: `id` (header x-pileup-id; 0 without), `connection`, `method`, `path`,
  `received` (bytes of its body), `time`;
* `answers`: `id`, `time`, just before its answer is handed to the system (fifo.py alone): who is killed between this
  line and `ended` may have answered;
* `ended`: its answer was handed to the system, or was given up: `id`, `connection`, `status` (0: none), `sent` (bytes
  of the body), `arrived`, `began` (start of the service), `time`, `gone` (the client had left by then);
* other words that a server says for itself.

Times are UTC in ns.
"""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

BACKLOG = 4096
LIMIT = 1 << 16
"""Longest head of a request, bytes."""
PIECE = 1 << 18


class Log:
    """Lines of JSON in a file."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def say(self, what: str, **words: Any) -> None:
        """Write a line."""
        words.setdefault("time", time.time_ns())
        os.write(self._file, (json.dumps({"what": what, **words}) + "\n").encode())


@dataclass
class Connection:
    """A connection of a client."""

    number: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def gone(self) -> bool:
        """Whether the client has left."""
        return self.reader.at_eof() or self.writer.is_closing() or self.reader.exception() is not None

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()


@dataclass
class Request:
    """A request that has come, its body put away."""

    id: int
    method: str
    path: str
    received: int
    connection: Connection
    arrived: int = field(default_factory=time.time_ns)


Handler = Callable[[Request], Awaitable[bool]]
"""Answers a request; False: the connection is to be closed."""


async def read(connection: Connection, heed_expect: bool) -> Request | None:
    """Return the next request; None: the client has closed, or spoke no HTTP."""
    try:
        head = await connection.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if heed_expect and "expect" in headers:
            await connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = left = int(headers.get("content-length", "0"))
        while left:
            piece = await connection.reader.read(min(PIECE, left))
            if not piece:
                return None
            left -= len(piece)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        return None
    return Request(int(headers.get("x-pileup-id", "0")), method, path, length, connection)


def head(status: int, length: int | None, *more: str) -> bytes:
    """Return the head of an answer; without a length it says nothing of one."""
    lines = [f"HTTP/1.1 {status} Status", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def serve(log: Log, answer: Handler, port: int = 0, heed_expect: bool = True) -> None:
    """Listen, print the port, and answer until SIGTERM."""
    count = 0

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        connection = Connection(count, reader, writer)
        log.say("opened", connection=connection.number)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            while (request := await read(connection, heed_expect)) is not None:
                log.say(
                    "arrived",
                    id=request.id,
                    connection=connection.number,
                    method=request.method,
                    path=request.path,
                    received=request.received,
                    time=request.arrived,
                )
                if not await answer(request):
                    break
        writer.close()

    server = await asyncio.start_server(client, "127.0.0.1", port, backlog=BACKLOG, limit=LIMIT)
    print(server.sockets[0].getsockname()[1], flush=True)
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    await over.wait()
    os._exit(0)  # clients that still wait are no matter of ours


def ended(log: Log, request: Request, status: int, sent: int, began: int) -> None:
    """Note how a request ended, now."""
    log.say(
        "ended",
        id=request.id,
        connection=request.connection.number,
        status=status,
        sent=sent,
        arrived=request.arrived,
        began=began,
        gone=request.connection.gone,
    )
