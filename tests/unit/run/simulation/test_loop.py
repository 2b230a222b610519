"""An event loop in virtual time: hours in no time, in order, and nothing real."""

import asyncio
from collections.abc import Iterator

import pytest

from pileup.model.errors import PluginError
from pileup.run.simulation import VirtualClock
from pileup.run.simulation.loop import VirtualLoop

BEGAN = 1_700_000_000 * 10**9
SECOND = 10**9


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(BEGAN)


@pytest.fixture
def loop(clock: VirtualClock) -> Iterator[VirtualLoop]:
    made = VirtualLoop(clock)
    yield made
    made.close()


def test_sleeps_and_what_is_due_come_in_order_and_to_the_nanosecond(clock: VirtualClock, loop: VirtualLoop) -> None:
    seen: list[tuple[str, int]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, clock.now() - BEGAN))

    async def main() -> None:
        answer = loop.create_future()
        clock.at(BEGAN + 3600 * SECOND + 1, lambda: answer.set_result("there"))
        await asyncio.gather(sleeper("b", 60), sleeper("a", 0.000_001), sleeper("c", 86_400 * 3))
        assert await answer == "there"

    loop.run_until_complete(main())
    assert seen == [("a", 1000), ("b", 60 * SECOND), ("c", 3 * 86_400 * SECOND)]


def test_what_a_system_wakes_goes_on_before_time_does(clock: VirtualClock, loop: VirtualLoop) -> None:
    async def main() -> int:
        answer = loop.create_future()
        clock.at(BEGAN + 5 * SECOND, lambda: answer.set_result(None))
        clock.at(BEGAN + 5 * SECOND + 1, lambda: None)
        await answer
        return clock.now() - BEGAN

    assert loop.run_until_complete(main()) == 5 * SECOND


def test_a_timeout_is_virtual(clock: VirtualClock, loop: VirtualLoop) -> None:
    async def main() -> None:
        async with asyncio.timeout(7200):
            await loop.create_future()

    with pytest.raises(TimeoutError):
        loop.run_until_complete(main())
    assert clock.now() - BEGAN == 7200 * SECOND


def test_who_waits_for_what_is_never_due_is_stuck(clock: VirtualClock, loop: VirtualLoop) -> None:
    clock.at(BEGAN + SECOND, lambda: None, alone=False)  # a frame is no reason for time to go on

    async def main() -> None:
        await loop.create_future()

    with pytest.raises(PluginError, match=r"the simulation is stuck: .* nothing is due"):
        loop.run_until_complete(main())
    assert clock.now() == BEGAN


def test_threads_and_sockets_are_refused(loop: VirtualLoop) -> None:
    with pytest.raises(PluginError, match=r"waits for a thread, which takes real time; expected .*`pileup run`"):
        loop.run_until_complete(asyncio.to_thread(print))
    with pytest.raises(PluginError, match="waits for a socket or a pipe"):
        loop.add_reader(0, print)
