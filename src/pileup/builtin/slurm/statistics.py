"""What Slurm's controller counts of itself and of its scheduler, as REST (GET diag) or sdiag reports it.

Times are microseconds there. Counters begin again when the controller starts, at midnight, and when somebody says so
(sdiag --reset).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pileup.builtin.slurm.versions import number_of
from pileup.plugin import Failed

LINES = {
    "Server thread count": "server_thread_count",
    "Agent queue size": "agent_queue_size",
    "Agent count": "agent_count",
    "Agent thread count": "agent_thread_count",
    "DBD Agent queue size": "dbd_agent_queue_size",
    "Jobs submitted": "jobs_submitted",
    "Jobs started": "jobs_started",
    "Jobs completed": "jobs_completed",
    "Jobs canceled": "jobs_canceled",
    "Jobs failed": "jobs_failed",
}
"""Lines of sdiag: the name that REST has for them."""
SCHEDULE = {
    "Last cycle": "schedule_cycle_last",
    "Total cycles": "schedule_cycle_total",
    "Mean cycle": "schedule_cycle_mean",
    "Mean depth cycle": "schedule_cycle_mean_depth",
    "Last queue length": "schedule_queue_length",
}
BACKFILL = {
    "Total backfilled jobs (since last slurm start)": "bf_backfilled_jobs",
    "Total cycles": "bf_cycle_counter",
    "Last cycle": "bf_cycle_last",
    "Mean cycle": "bf_cycle_mean",
    "Last queue length": "bf_queue_len",
}
SECTIONS: dict[str, Mapping[str, str] | None] = {
    "Main schedule statistics": SCHEDULE,
    "Backfilling stats": BACKFILL,
    "Remote Procedure Call statistics by message type": None,
    "Remote Procedure Call statistics by user": {},
    "Pending RPC statistics": {},
}
"""Headings of sdiag, with the names below each; None: a line for each kind of request."""
REQUEST = re.compile(r"\s*(?P<type>\S+)\s+\(\s*\d+\)\s+count:(?P<count>\d+)\s+ave_time:\d+\s+total_time:(?P<total>\d+)")


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests of one kind that the controller has answered, and the time that took in all, us."""

    count: int
    time: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers by the names that REST has for them, and requests by kind."""

    figures: dict[str, int]
    requests: dict[str, Requests] = field(default_factory=dict)


def from_rest(body: bytes) -> Statistics:
    """Read an answer to GET diag. Raises Failed for one that is not valid."""
    try:
        told: dict[str, Any] = json.loads(body)["statistics"]
        figures = {name: number for name, value in told.items() if (number := number_of(value)) is not None}
        kinds = told.get("rpcs_by_message_type", ())
        requests = {
            str(each["message_type"]): Requests(number_of(each["count"]) or 0, number_of(each["total_time"]) or 0)
            for each in kinds
        }
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Failed("GET /diag: the answer holds no statistics") from problem
    return Statistics(figures, requests)


def from_sdiag(lines: Iterable[str]) -> Statistics:
    """Read what sdiag prints. Raises Failed for anything else."""
    names: Mapping[str, str] | None = LINES
    found = Statistics({})
    for line in lines:
        heading = next((each for each in SECTIONS if line.startswith(each)), None)
        if heading is not None:
            names = SECTIONS[heading]
        elif names is None:
            if kind := REQUEST.match(line):
                found.requests[kind["type"]] = Requests(int(kind["count"]), int(kind["total"]))
        else:
            name, _, value = line.strip().partition(":")
            if name in names and value.strip().isdigit():
                found.figures[names[name]] = int(value)
    if not found.figures:
        raise Failed("sdiag: the output holds no statistics")
    return found
