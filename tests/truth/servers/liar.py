"""Answers that are not what they say, each below a path of its own. Who looks without an id gets a plain answer."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from wire import Log, Request, ended, head, serve

SIZE = 1000
BODY = bytes(SIZE)
NEVER = 3600
CHUNKED = b"3E8\r\n" + BODY + b"\r\n0\r\n\r\n"


async def plain(request: Request) -> bool:
    """Answer as one should."""
    await request.connection.send(head(200, SIZE) + BODY)
    return True


async def too_large(request: Request) -> bool:
    """Promise twice what is sent, and close."""
    await request.connection.send(head(200, 2 * SIZE) + BODY)
    return False


async def surplus(request: Request) -> bool:
    """Send twice what is promised: the rest is surplus bytes on a kept connection."""
    await request.connection.send(head(200, SIZE) + BODY + BODY)
    return True


async def twice(request: Request) -> bool:
    """Answer twice."""
    await request.connection.send(2 * (head(200, SIZE) + BODY))
    return True


async def contradicting(request: Request) -> bool:
    """Send chunks, and say a length that they have not (RFC 9112, 6.3: the chunks count, and it is an error)."""
    await request.connection.send(head(200, SIZE // 2, "Transfer-Encoding: chunked") + CHUNKED)
    return True


async def stalling(request: Request) -> bool:
    """Send the head and half of the body, then nothing."""
    await request.connection.send(head(200, SIZE) + BODY[: SIZE // 2])
    await asyncio.sleep(NEVER)
    return False


async def headless(request: Request) -> bool:
    """Send nothing, for ever."""
    await asyncio.sleep(NEVER)
    return False


LIES: dict[str, Callable[[Request], Awaitable[bool]]] = {
    "plain": plain,
    "too-large": too_large,
    "surplus": surplus,
    "twice": twice,
    "contradicting": contradicting,
    "stalling": stalling,
    "headless": headless,
}


async def main() -> None:
    """Serve until SIGTERM."""
    log = Log(sys.argv[1])

    async def answer(request: Request) -> bool:
        if not request.id:
            await request.connection.send(head(200, 0))
            return True
        ended(log, request, 200, SIZE, request.arrived)  # for ever is too late for a line
        return await LIES[request.path.strip("/")](request)

    await serve(log, answer)


if __name__ == "__main__":
    asyncio.run(main())
