"""Samples of pileup itself: the monitor `pileup`, one set of metrics per place."""

from __future__ import annotations

MONITOR = "pileup"
"""Name of the monitor of the samples; their label is `place=N`."""
CPU = "cpu"
"""CPU time of all threads of the place's process, % of one core."""
CHILDREN = "children_cpu"
"""CPU time of processes that the place had started and that have ended (copy commands, say), % of one core; left out
where there were none so far. Servers that pileup launched are not among them."""
TOTAL = "total_cpu"
"""Both together, %: what pileup costs the place, copy commands and those of its monitors included."""
RSS = "rss"
"""Memory that the place's process holds (resident set size), B."""
RSS_ANON = "rss_anon"
"""The part of it that belongs to no file (RssAnon), B: pages of libraries come and go as the kernel wishes."""
OPEN_FILES = "open_files"
"""Descriptors that the place's process has open."""
THREAD = "busiest_thread"
"""The same of the thread that took most, %."""
RUN_QUEUE = "run_queue"
"""Time for which threads were ready and had no CPU, all of them together as in `cpu`, % of the interval."""
LAG = "lag"
"""How late the latest wake-up of the self-watch was in the interval, s: for lack of CPU or of the interpreter."""
LOOP_LAG = "loop_lag"
"""The same of the event loops of async tests, s."""
STOPPED = "stopped"
"""How long the process had not run when it went on, s; sampled at that moment, where it was SHORTEST_STOP or more."""
SHORTEST_STOP = 50_000_000
"""The shortest such time that is sampled, ns."""
STEAL = "steal"
"""Time that the hypervisor gave to others, % of the machine."""
PRESSURE = "pressure"
"""Time in which something on the machine waited for a CPU, % (/proc/pressure/cpu, some)."""
PERCENT, SECONDS, BYTES = "%", "s", "B"
EVENT = "generator"
"""Kind of the events that say when pileup was the bottleneck."""


def label(place: int) -> str:
    """Return the label of a place's samples."""
    return f"place={place}"


def place_of(labels: str) -> int | None:
    """Return the place that a sample's labels name, None for none."""
    number = dict(part.split("=", 1) for part in labels.split(",") if "=" in part).get("place", "")
    return int(number) if number.isdigit() else None
