"""A queue by HTTP written apart from pileup: N workers, first come, first served, log-normal service, a log of its own.

Run as a program of its own: `python queues.py WORKERS MEAN SIGMA SEED PORT_FILE LOG`. Each 20 ms the log gets a line:
time in ns since the epoch, and how many requests are there.
"""

import asyncio
import contextlib
import math
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True)
class RunningQueue:
    """A running one."""

    url: str
    log: Path

    def under_way(self, times: list[int]) -> list[int]:
        """Return how many requests were there at these times, by its log."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        known = [(int(line[0]), int(line[1])) for line in lines if len(line) == 2]
        return [known[max(0, bisect_right(known, (moment, sys.maxsize)) - 1)][1] for moment in times]


@contextlib.contextmanager
def queue(folder: Path, workers: int, mean: float, sigma: float, seed: int = 1) -> Iterator[RunningQueue]:
    """Yield one on a free port of this machine; `mean` in s, `sigma` that of the logarithm of the service time."""
    port, log = folder / "port", folder / "queue.log"
    words = [str(word) for word in (workers, mean, sigma, seed, port, log)]
    process = subprocess.Popen([sys.executable, __file__, *words])
    try:
        end = time.monotonic() + 20
        while not (port.is_file() and port.read_text()):
            assert process.poll() is None, "it has ended"
            assert time.monotonic() < end, "it does not listen"
            time.sleep(0.05)
        yield RunningQueue(f"http://127.0.0.1:{port.read_text()}/", log)
    finally:
        process.kill()
        process.wait(10)


class _Queue:
    def __init__(self, workers: int, mean: float, sigma: float, seed: int) -> None:
        self.inside = 0
        self._free = asyncio.Semaphore(workers)
        self._random = random.Random(seed)
        self._middle, self._sigma = math.log(mean) - sigma**2 / 2, sigma

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.inside += 1
                async with self._free:
                    await asyncio.sleep(self._random.lognormvariate(self._middle, self._sigma))
                self.inside -= 1
                writer.write(ANSWER)
                await writer.drain()
        writer.close()


async def _main(words: list[str]) -> None:
    workers, mean, sigma, seed, port, log = words
    made = _Queue(int(workers), float(mean), float(sigma), int(seed))
    _server = await asyncio.start_server(made.serve, "127.0.0.1", 0, backlog=1000)
    with Path(log).open("w", buffering=1) as lines:
        Path(port).write_text(str(_server.sockets[0].getsockname()[1]))
        while True:
            lines.write(f"{time.time_ns()} {made.inside}\n")
            await asyncio.sleep(0.02)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
