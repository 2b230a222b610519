"""An HTTP server that is killed and comes back, with a log of its own; shares nothing with pileup.

`mortal_server.py PORT LOG AWAY` is the keeper: it starts the server and prints its own pid; at SIGUSR1 it kills the
server with signal 9 and starts it again after AWAY seconds. The log has a line for each kill and for each answer, with
ns since the epoch: `killed NS` (when kill(2) had returned), and `answered NS` or `erred NS` (right before the answer is
written). One answer in a hundred is an error.
"""

import asyncio
import os
import random
import signal
import sys
import time
from contextlib import suppress

MEAN_SERVICE = 0.01
ERRORS = 0.01
MOST_KILLS = 100
LONGEST = 300
"""Seconds that a keeper lives at most."""


def note(log: int, word: str) -> None:
    os.write(log, f"{word} {time.time_ns()}\n".encode())


def opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def serve(port: int, path: str) -> None:
    """Answer each request after a time drawn from an exponential law, many at a time, until killed."""
    log = opened(path)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(random.expovariate(1 / MEAN_SERVICE))
                errs = random.random() < ERRORS
                note(log, "erred" if errs else "answered")
                writer.write(b"HTTP/1.1 %d \r\nContent-Length: 2\r\n\r\nok" % (500 if errs else 200))
                await writer.drain()
        writer.close()

    async def forever() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", port)
        await server.serve_forever()

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(forever())


def born(port: int, path: str) -> int:
    """Fork the server, which is up at once even on a busy machine, and return its pid."""
    pid = os.fork()
    if pid == 0:
        try:
            serve(port, path)
        finally:
            os._exit(1)
    return pid


def keep(port: int, path: str, away: float) -> None:
    """Kill the server at each SIGUSR1 and start it again."""
    log = opened(path)
    end = time.monotonic() + LONGEST
    server = born(port, path)
    try:
        for _ in range(MOST_KILLS):
            if signal.sigtimedwait({signal.SIGUSR1}, max(0.0, end - time.monotonic())) is None:
                return
            os.kill(server, signal.SIGKILL)
            note(log, "killed")
            os.waitpid(server, 0)
            time.sleep(away)
            server = born(port, path)
    finally:
        os.kill(server, signal.SIGKILL)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    os.write(1, f"{os.getpid()}\n".encode())
    keep(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
