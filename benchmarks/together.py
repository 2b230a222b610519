"""Several programs at the same time, each on a given core: what each does, and what CPU time it takes for it, between
the same two moments. What the machine does meanwhile to one it does to the others."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import meter


@dataclass(frozen=True, slots=True)
class Side:
    """One of the programs."""

    command: list[str]
    core: int
    count: Callable[[int], int]
    """How much the program of this pid has done so far: operations, or bytes."""
    started: int
    """How much it has done when it is in its steady part."""
    check: Callable[[meter.Child], None] = lambda child: None
    """Called after the window: raises `Trouble` where what it printed is wrong."""


@dataclass(frozen=True, slots=True)
class Used:
    """What one program did in a window, and the CPU seconds it took."""

    done: int
    cpu: float


def window(sides: Mapping[str, Side], folder: Path, seconds: float, warm: float = 0.0) -> tuple[float, dict[str, Used]]:
    """Start them one after the other, each when the one before is under way, run all for so much longer, then look.

    Returns the length of a window, s, and its use. Who is there first may be dearer by some percent: let each be so
    equally often. Programs that have not ended by themselves are ended. One that ends too early raises `Trouble`.
    """
    with contextlib.ExitStack() as stack:
        running: dict[str, meter.Child] = {}
        for number, (name, side) in enumerate(sides.items()):
            child = meter.running(side.core, side.command, folder / f"printed-{number}", folder)
            running[name] = stack.enter_context(child)
            pid, count, least = running[name].process.pid, side.count, side.started
            meter.until(lambda pid=pid, count=count, least=least: count(pid) > least, 20, f"the load of {name}")
        pids = {name: child.process.pid for name, child in running.items()}
        time.sleep(warm)
        before, since = _now(sides, pids), time.monotonic()
        time.sleep(seconds)
        after, length = _now(sides, pids), time.monotonic() - since
        for name, child in running.items():
            if child.process.poll() is not None:
                raise meter.Trouble(f"{name} ended early; expected it to run on (it said: {child.text()[-1000:]})")
        for name, side in sides.items():
            side.check(running[name])
    return length, {
        name: Used(after[name].done - before[name].done, after[name].cpu - before[name].cpu) for name in sides
    }


def total(windows: Sequence[tuple[float, dict[str, Used]]]) -> tuple[float, dict[str, Used]]:
    """Return the length of several windows together, s, and what each program did and used in all of them."""
    uses = [uses for _, uses in windows]
    return sum(length for length, _ in windows), {
        name: Used(sum(each[name].done for each in uses), sum(each[name].cpu for each in uses)) for name in uses[0]
    }


def _now(sides: Mapping[str, Side], pids: Mapping[str, int]) -> dict[str, Used]:
    """Return what each has done and used so far."""
    return {name: Used(side.count(pids[name]), meter.cpu(pids[name])) for name, side in sides.items()}
