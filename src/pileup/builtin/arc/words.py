"""What ARC's REST interface calls things: states of jobs, and their description in xRSL."""

from __future__ import annotations

from base64 import b64encode

from pileup.plugin.batch import JobSpec, JobState, shell_line

ASKED = {
    "ACCEPTING": JobState.QUEUED,
    "ACCEPTED": JobState.QUEUED,
    "PREPARING": JobState.QUEUED,
    "PREPARED": JobState.QUEUED,
    "SUBMITTING": JobState.QUEUED,
    "QUEUING": JobState.QUEUED,
    "HELD": JobState.QUEUED,
    "RUNNING": JobState.RUNNING,
    "EXITINGLRMS": JobState.RUNNING,
    "EXECUTED": JobState.RUNNING,
    "FINISHING": JobState.RUNNING,
    "KILLING": JobState.RUNNING,
    "OTHER": JobState.RUNNING,
    "FINISHED": JobState.COMPLETED,
    "FAILED": JobState.FAILED,
    "KILLED": JobState.CANCELLED,
}
"""State of the REST interface to state here; a job that is WIPED is gone."""
WIPED = "WIPED"
"""State of a job whose files are gone."""
HANDED_OVER = "RUNNING"
"""What a list of jobs calls each that is in the batch system, waiting there or running."""
WAITS = frozenset(name for name, state in ASKED.items() if state is JobState.QUEUED)
CANCELLED = "canceled by external request"
"""Part of the reason of a job that somebody has ended."""
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/=:,;+@%&|<>[]{}?*~#!^()'")
"""Characters that ARC's scripts hand on as they are: in others the shell on the node would see more than one line."""


def describe(job: JobSpec, queue: str = "", more: str = "") -> str:
    """Return one job in xRSL; `more` is at its end as it is."""
    line = shell_line(job)
    if not set(line) <= PLAIN:
        line = f"echo {b64encode(line.encode()).decode()} | base64 -d | sh"
    given = {"jobname": job.name, "queue": queue, "delegationid": job.delegation}
    told = "".join(f"({name}={quoted(value)})" for name, value in given.items() if value)
    made = "".join(f'({quoted(name)} "")' for name in job.outputs)
    told += f"(outputfiles={made})" if made else ""
    return f'&(executable="/bin/sh")(arguments="-c" {quoted(line)}){told}{more}'


def describe_all(jobs: list[str]) -> str:
    """Return several jobs as one request."""
    return jobs[0] if len(jobs) == 1 else "+" + "".join(f"({each})" for each in jobs)


def quoted(text: str) -> str:
    """Return a text as a string of xRSL."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
