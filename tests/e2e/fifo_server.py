"""A small HTTP server written apart from pileup: so many workers, first come first served, shedding or not.

    python fifo_server.py WORKERS SERVICE_MS ROOM LOG [BURST]

Each request is served for exactly SERVICE_MS by the worker that is free first; with ROOM above 0 one that comes when
so many are in the system is answered 503 at once. With BURST there are no queues but tokens, so many at first and
then one for each SERVICE_MS / WORKERS: who finds none is answered 503. A BURST of -1 means that it tires: on a
connection that is older than ENDURES all are answered 503.

The ends of service are arithmetic over the clock, so that a machine with other work delays single answers but not the
capacity. The port is printed. For each answer LOG gets a line: when it was sent (ns since the epoch) and its status.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TextIO

ENDURES = 1.7
"""Seconds."""


class Server:
    """Its clock is that of the event loop, in seconds."""

    def __init__(self, workers: int, service: float, room: int, log: TextIO, burst: int) -> None:
        self._free = [0.0] * workers
        self._service, self._room, self._log = service, room, log
        self._inside = 0
        self._burst, self._tokens, self._filled = burst, float(burst), 0.0

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it ends."""
        began = asyncio.get_running_loop().time()
        try:
            while await self._request(reader):
                status = await self._serve(began)
                writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: 2\r\n\r\nok".encode())
                await writer.drain()
                self._log.write(f"{time.time_ns()} {status}\n")
                self._log.flush()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader) -> bool:
        line = await reader.readline()
        while line and (await reader.readline()).strip():
            pass
        return bool(line)

    async def _serve(self, began: float) -> int:
        if self._room and self._inside >= self._room:
            return 503
        now = asyncio.get_running_loop().time()
        if (self._burst > 0 and not self._token(now)) or (self._burst < 0 and now - began > ENDURES):
            return 503
        self._inside += 1
        first = min(range(len(self._free)), key=self._free.__getitem__)
        self._free[first] = end = max(now, self._free[first]) + self._service
        await asyncio.sleep(end - now)
        self._inside -= 1
        return 200

    def _token(self, now: float) -> bool:
        filled = self._tokens + (now - self._filled) * len(self._free) / self._service
        self._tokens, self._filled = min(float(self._burst), filled), now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


async def _main(workers: int, service: float, room: int, log: Path, burst: int) -> None:
    with log.open("w") as file:
        answering = Server(workers, service, room, file, burst)
        server = await asyncio.start_server(answering.connected, "127.0.0.1", 0, backlog=4096)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await server.serve_forever()


if __name__ == "__main__":
    bucket = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    asyncio.run(_main(int(sys.argv[1]), float(sys.argv[2]) / 1000, int(sys.argv[3]), Path(sys.argv[4]), bucket))
