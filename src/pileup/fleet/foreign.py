"""CPU time of ended children that is not pileup's own work: of the servers that it launched.

The kernel counts every child that was waited for alike. What a server used would stand in pileup's account from the
moment of its end, so whoever waits for one says what it was; both happen under one lock, or a sample in between would
show the difference.
"""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable

_lock = threading.Lock()
_foreign = 0


def settle(wait: Callable[[], int]) -> None:
    """Wait for an ended process by `wait`, which returns the CPU time (ns) that came into our account by that."""
    global _foreign  # noqa: PLW0603  the kernel's account is one for the process, too
    with _lock:
        _foreign += wait()


def children() -> int:
    """Return the CPU time of ended children that were not servers, ns."""
    with _lock:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return max(0, round((ended.ru_utime + ended.ru_stime) * 1e9) - _foreign)
