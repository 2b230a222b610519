"""An iteration that takes too long is cut off, and nothing else is."""

import asyncio

import pytest

from pileup.fleet.iteration_timeout import IterationTimeout

SHORT = 20_000_000


async def body(limit: IterationTimeout, seconds: float) -> str:
    limit.begin()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        return "cut off" if limit.was_it() else "cancelled"
    finally:
        limit.end()
    return "ended"


def test_a_long_iteration_is_cut_off_and_the_next_ones_are_not() -> None:
    async def work() -> list[str]:
        limit = IterationTimeout(SHORT)
        found = [await body(limit, seconds) for seconds in (0, 10, 0, 0.001, 10, 0)]
        await asyncio.sleep(SHORT / 1e9 * 2)
        limit.close()
        return found

    assert asyncio.run(work()) == ["ended", "cut off", "ended", "ended", "cut off", "ended"]


def test_who_cancels_the_task_is_not_taken_for_the_limit() -> None:
    async def work() -> str:
        task = asyncio.create_task(make())
        await asyncio.sleep(0.005)
        task.cancel()
        return await task

    async def make() -> str:
        return await body(IterationTimeout(10**10), 10)

    assert asyncio.run(work()) == "cancelled"


def test_a_test_that_swallows_its_cancellation_does_not_end_its_client() -> None:
    async def work() -> int:
        limit = IterationTimeout(SHORT)
        limit.begin()
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            pass
        finally:
            limit.end()
        await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(work()) == 0


def test_an_iteration_that_begins_while_the_timer_goes_on_has_its_whole_time() -> None:
    async def work() -> str:
        limit = IterationTimeout(10 * SHORT)
        await body(limit, 0)
        await asyncio.sleep(9 * SHORT / 1e9)
        return await body(limit, 5 * SHORT / 1e9)

    assert asyncio.run(work()) == "ended"


@pytest.mark.parametrize("times", [1, 1000])
def test_one_timer_serves_many_iterations(times: int) -> None:
    async def work() -> int:
        limit = IterationTimeout(10**10)
        for _ in range(times):
            await body(limit, 0)
        waiting = len(asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]
        limit.close()
        return waiting

    assert asyncio.run(work()) == 1
