"""A server that is dead: it accepts, reads, and never answers. With `--looks` it answers who looks without an id."""

import asyncio
import sys

from wire import Log, Request, head, serve

NEVER = 3600


async def main() -> None:
    """Serve until SIGTERM."""

    async def answer(request: Request) -> bool:
        if not request.id and "--looks" in sys.argv:
            await request.connection.send(head(200, 0))
            return True
        await asyncio.sleep(NEVER)
        return False

    await serve(Log(sys.argv[1]), answer)


if __name__ == "__main__":
    asyncio.run(main())
