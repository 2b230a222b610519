"""How many native workers a place has: the requested number, else as many as it may use cores."""

from __future__ import annotations

import os
from pathlib import Path

SPARE_FROM = 4
"""From so many cores on one is left to the rest of the machine: screen, monitors, the system itself."""


def workers(wanted: int | None = None, beside: int = 1, cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the native workers of a place: `wanted`, else by the cores, which `beside` places of one host share."""
    if wanted is not None:
        return wanted
    cores = usable(cgroup)
    return max(1, (cores - 1 if cores >= SPARE_FROM else cores) // beside)


def usable(cgroup: Path) -> int:
    """Return the cores that this process may use: its CPU affinity, and the quota of its control group (cpu.max)."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):  # no control group, or `max`: no quota
        return cores
