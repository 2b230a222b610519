"""A queue: first come, first served by N workers, each busy for a drawn time with a request.

It sleeps, it does not compute. A request whose client has left is served all the same. Order and times are booked as
requests come, in absolute times: a late wake-up delays an answer and no other.
"""

import argparse
import asyncio
import heapq
import itertools
import math
import random
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from wire import Log, Request, ended, head, serve

SECOND = 10**9
Law = Callable[[random.Random], float]


def law(words: str) -> Law:
    """Return how a service time (s) is drawn: `fixed:MS`, `exponential:MEAN_MS`, `lognormal:MEDIAN_MS,SIGMA`."""
    kind, _, numbers = words.partition(":")
    first, *more = [float(number) for number in numbers.split(",")]
    if kind == "fixed":
        return lambda _: first / 1000
    if kind == "exponential":
        return lambda draw: draw.expovariate(1000 / first)
    if kind == "lognormal":
        return lambda draw: draw.lognormvariate(math.log(first / 1000), more[0])
    raise SystemExit(f"no law {words!r}; expected fixed:MS, exponential:MS or lognormal:MS,SIGMA")


class Queue:
    """When each request begins and ends."""

    def __init__(self, workers: int, draw: Callable[[], float], stops: list[tuple[float, float]]) -> None:
        self._free = [0] * workers
        self._draw = draw
        self._stops = [(int(at * SECOND), int((at + length) * SECOND)) for at, length in stops]
        self._first = 0
        self.inside = 0

    def book(self, now: int, service: float | None) -> tuple[int, int]:
        """Return begin and end (ns) of a request that comes now; `service` (s) instead of a drawn time."""
        self._first = self._first or now
        began = self._thawed(max(now, heapq.heappop(self._free)))
        end = self._thawed(began + int((self._draw() if service is None else service) * SECOND))
        heapq.heappush(self._free, end)
        return began, end

    def _thawed(self, at: int) -> int:
        """Return when that happens which was due: nothing begins or ends in a stop, counted from the first request."""
        for begin, end in self._stops:
            if begin <= at - self._first < end:
                return self._first + end
        return at


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--law", type=law, default=law("fixed:10"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shed", type=int, default=0, help="503 beyond so many in the system")
    parser.add_argument("--refuse", type=float, default=0.0, help="share that gets 503 at random")
    parser.add_argument("--first", type=int, default=0, help="503 to so many, the first")
    parser.add_argument("--only", default="", help="methods that `--refuse` and `--first` are for; default: all")
    parser.add_argument("--forbid", default="", help="403 to these methods: PUT,MKCOL")
    parser.add_argument("--stop", action="append", default=[], help="AT,LENGTH in s from the first request with an id")
    parser.add_argument("--size", type=int, default=1000, help="bytes of an answer")
    parser.add_argument("--close", action="store_true", help="close after each answer, without a word in the answer")
    parser.add_argument("--deaf", action="store_true", help="do not answer `Expect: 100-continue`")
    return parser.parse_args()


async def main() -> None:
    """Serve until SIGTERM."""
    given = arguments()
    log = Log(given.log)
    draws, chance = random.Random(given.seed), random.Random(given.seed + 1)
    stops = [tuple(map(float, each.split(","))) for each in given.stop]
    queue = Queue(given.workers, lambda: given.law(draws), stops)

    asked = itertools.count()

    def refused() -> bool:
        return next(asked) < given.first or chance.random() < given.refuse

    async def answer(request: Request) -> bool:
        if not request.id:  # somebody looks whether we are there, or makes ready: no folder is there but the first
            missing = request.method == "PROPFIND" and request.path != "/"
            status = 403 if request.method in given.forbid.split(",") else 404 if missing else 200
            await request.connection.send(head(status, 0))
            return True
        size = 0 if request.method == "HEAD" else given.size
        words = parse_qs(urlsplit(request.path).query)
        refusable = not given.only or request.method in given.only.split(",")
        forbidden = request.method in given.forbid.split(",")
        if forbidden or (given.shed and queue.inside >= given.shed) or (refusable and refused()):
            began, status = request.arrived, 403 if forbidden else 503
        else:
            service = float(words["ms"][0]) / 1000 if "ms" in words else None
            began, end = queue.book(request.arrived, service)
            queue.inside += 1
            await asyncio.sleep(max(0.0, (end - time.time_ns()) / SECOND))
            queue.inside -= 1
            status = 200
        if not request.connection.writer.is_closing():
            log.say("answers", id=request.id)
            request.connection.writer.write(head(status, given.size) + bytes(size))
        ended(log, request, status, size, began)
        await request.connection.writer.drain()
        return not given.close

    await serve(log, answer, given.port, not given.deaf)


if __name__ == "__main__":
    asyncio.run(main())
