"""How well a core lets a thread wake up, as `cyclictest` of rt-tests measures it: a thread of real-time priority sleeps
until each next millisecond and notes when it came late. It overtakes everybody: what it is late by is the machine's.

    taskset -c 1 python benchmarks/witness.py     # until SIGTERM; prints [due, late] in ns of what was later than LATE
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType

import meter

EVERY = 1_000_000
LATE = 100_000
Lateness = list[tuple[int, int]]
"""(when it was due, how late it came) of each time that it came late, ns since the epoch and ns."""


@contextlib.contextmanager
def watching(cores: Sequence[int]) -> Iterator[Lateness]:
    """Have cores watched; what is yielded is filled at the end."""
    words = [sys.executable, __file__]
    witnesses = [subprocess.Popen(meter.pinned(core, words), stdout=subprocess.PIPE, text=True) for core in cores]
    found: Lateness = []
    try:
        yield found
    finally:
        for each in witnesses:
            each.send_signal(signal.SIGTERM)
            told, _ = each.communicate(timeout=10)
            found += [(due, late) for due, late in json.loads(told)]


def main() -> None:
    """Watch until SIGTERM."""
    going = True

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, end)
    with contextlib.suppress(PermissionError):  # then it waits for the load, too, and fewer windows count
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))  # before a relay, whose thread has 1
    gc.disable()
    found: Lateness = []
    due = time.time_ns()
    while going:
        due += EVERY
        time.sleep(max(0, due - time.time_ns()) / 1e9)
        late = time.time_ns() - due
        if late > LATE:
            found.append((due, late))
            due += late // EVERY * EVERY
    print(json.dumps(found))


if __name__ == "__main__":
    main()
