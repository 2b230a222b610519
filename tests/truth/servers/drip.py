"""Long bodies at a fixed bandwidth for each connection. Each piece is a line `moved` of the log: `id`, `bytes`."""

import argparse
import asyncio
import time

from wire import Log, Request, ended, head, serve

EVERY = 0.01
"""Seconds between two pieces."""


async def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--bandwidth", type=int, default=1_000_000, help="bytes/s of a connection")
    given = parser.parse_args()
    log = Log(given.log)

    async def answer(request: Request) -> bool:
        if not request.id:
            await request.connection.send(head(200, 0))
            return True
        began, sent = time.monotonic(), 0
        request.connection.writer.write(head(200, given.size))
        while sent < given.size and not request.connection.gone:
            await asyncio.sleep(EVERY)
            due = min(given.size, int((time.monotonic() - began) * given.bandwidth))
            await request.connection.send(bytes(due - sent))
            log.say("moved", id=request.id, bytes=due - sent)
            sent = due
        ended(log, request, 200 if sent == given.size else 0, sent, request.arrived)
        return sent == given.size

    await serve(log, answer)


if __name__ == "__main__":
    asyncio.run(main())
