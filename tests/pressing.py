"""Presses a Python test at the local place, as a run does, to its end."""

import asyncio
import time

from pileup.fleet import Fleet, Order, Pressing, Work
from pileup.fleet.place import LocalPlace
from pileup.fleet.python.capture import routed
from pileup.model.loads.load import Load
from pileup.model.record import Frame
from pileup.plugin import Context, Target, Test
from pileup.record import RunFolder

SECOND = 10**9


def press(
    folder: RunFolder, cls: type[Test], load: Load, timeout: int = 5 * SECOND, target: Target | None = None
) -> tuple[Pressing, list[Frame]]:
    """Press a test to its end and return its frames."""
    place = Fleet([LocalPlace(0, folder.operations_path(0))])
    order = Order(1, "case", load, timeout, seed=1, stamp="abc")
    coroutine = asyncio.iscoroutinefunction(cls.run)
    work = Work(lambda client: cls(target, Context(client=client)), coroutine=coroutine)
    with routed():
        pressing = place.press(order, work, folder.output("case"))
        frames, begin = [], time.monotonic()
        while not pressing.wait(0.05):
            frames += pressing.frames()
            assert time.monotonic() - begin < 20, "it does not end"
        frames += pressing.frames()
        pressing.close()
    place.close()
    return pressing, frames


def counts(frames: list[Frame]) -> dict[str, int]:
    """Return how many iterations ended how."""
    words = ("passed", "failed", "refused", "ambiguous", "unfinished")
    rows = [row for frame in frames for row in frame.rows if row.iteration]
    return {word: sum(getattr(row, word) for row in rows) for word in words}
