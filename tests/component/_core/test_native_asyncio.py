"""A press pulled by one asyncio loop over its descriptor, as the fleet does for async tests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pileup._core._native import Op
from pileup.model.record import Outcome

MS = 10**6


class Loop:
    """Hands every start to the task of its client."""

    def __init__(self, press: Any, iterate: Callable[[Op], Awaitable[None]]) -> None:
        self.press = press
        self.iterate = iterate
        self.idle: dict[int, asyncio.Future[Op]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.over = asyncio.Event()

    def pump(self) -> None:
        for client, op in self.press.ready():
            waiting = self.idle.pop(client, None)
            if waiting is None:
                self.tasks.add(asyncio.get_running_loop().create_task(self.serve(client, op)))
            else:
                waiting.set_result(op)
        if self.press.over:
            self.over.set()

    async def serve(self, client: int, op: Op) -> None:
        while True:
            await self.iterate(op)
            self.idle[client] = asyncio.get_running_loop().create_future()
            following = self.idle[client]
            self.pump()
            op = await following

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self.press.fileno(), self.pump)
        self.pump()
        await asyncio.wait_for(self.over.wait(), 20)
        loop.remove_reader(self.press.fileno())
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def passing(op: Op) -> None:
    async with asyncio.timeout(5):
        with op("act"):
            await asyncio.sleep(0)
    op.finish(0)


def test_times_are_counted_off(bench: Any) -> None:
    asyncio.run(Loop(bench.press(kind="times", times=100, clients=3), passing).run())
    table = bench.table()
    assert len(table.named("iteration")) == len(table.named("act")) == 100


def test_an_open_load_starts_at_its_instants(bench: Any) -> None:
    press = bench.press(kind="open", rate=500.0, for_=60 * MS)
    asyncio.run(Loop(press, passing).run())
    bench.check_instants(press, bench.table().named("iteration"), step=2 * MS, count=30)


@pytest.mark.parametrize("pacing", ["coarse", "precise"])
def test_pacing_leaves_the_instants_as_they_are(bench: Any, pacing: str) -> None:
    press = bench.press(kind="open", rate=2000.0, for_=100 * MS, pacing=pacing)
    asyncio.run(Loop(press, passing).run())
    rows = bench.table().named("iteration")
    bench.check_instants(press, rows, step=MS // 2, count=200)
    if pacing == "coarse":
        bench.check_together(rows)


def test_closed_clients_think(bench: Any) -> None:
    press = bench.press(kind="closed", clients=20, for_=50 * MS, think={"fixed": 5 * MS})
    asyncio.run(Loop(press, passing).run())
    rows = bench.table().named("iteration")
    assert set(rows["client"]) == set(range(20))
    assert (rows["start"] >= rows["intended"]).all()


def test_stopping_at_once_ends_the_loop(bench: Any) -> None:
    press = bench.press(kind="closed", clients=2, for_=3600 * 10**9)
    under_way: list[Op] = []

    async def hang(op: Op) -> None:
        under_way.append(op)
        if len(under_way) == 2:
            asyncio.get_running_loop().call_soon(press.stop, True)
        await asyncio.Event().wait()

    asyncio.run(Loop(press, hang).run())
    for op in under_way:
        op.finish(0)
    assert press.ending == ("stopped", "stopped")
    assert bench.table().rows["outcome"].tolist() == [Outcome.UNFINISHED] * 2


def test_a_cancelled_block_is_ambiguous(bench: Any) -> None:
    async def slow(op: Op) -> None:
        try:
            async with asyncio.timeout(0.001):
                with op("act"):
                    await asyncio.Event().wait()
        except TimeoutError:
            op.finish(int(Outcome.AMBIGUOUS), "no answer within 1 ms")

    asyncio.run(Loop(bench.press(kind="once"), slow).run())
    table = bench.table()
    (act,) = table.named("act")
    assert act["outcome"] == Outcome.AMBIGUOUS
    assert table.texts[act["error"]].startswith("no answer in time (test_native_asyncio.py:")


def test_the_loop_sees_what_a_thread_stops(bench: Any) -> None:
    press = bench.press(kind="open", rate=1.0, for_=3600 * 10**9)

    async def main() -> None:
        asyncio.get_running_loop().run_in_executor(None, press.stop, False)
        await Loop(press, passing).run()

    asyncio.run(main())
    assert press.over
