"""What Slurm says, in its own words: states, lines of its commands, rows of its database, errors."""

from __future__ import annotations

import json
import pwd
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from pileup.plugin import Ambiguous, Failed, Refused
from pileup.plugin.batch import Job, JobState

SECOND = 10**9
MOST_USERS = 1000
"""Users whose names are kept."""
QUEUE_FORMAT = "%i|%T|%V|%S|%e|%u|%N|%r|%j"
"""Of squeue. The name comes last: it may hold anything."""
HISTORY_FORMAT = "JobIDRaw,State,ExitCode,Submit,Start,End,User,NodeList,JobName"
"""Of sacct."""
WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})
GOING = frozenset(
    {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"}
)
NUMBERS = (
    "PENDING",
    "RUNNING",
    "SUSPENDED",
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
)
"""States by their numbers in the database (slurm.h, enum job_states)."""
NOWHERE = frozenset({"", "(null)", "None assigned"})
"""Nodes of a job that has never begun: its start is reported as its end."""
COMPLETION = re.compile(
    r"JobId=(?P<id>\d+)\S* UserId=(?P<user>[^(]*)\(\d+\) GroupId=[^(]*\(\d+\) Name=(?P<name>.*) "
    r"JobState=(?P<state>\S+) Partition=.* StartTime=(?P<start>\S+) EndTime=(?P<end>\S+) NodeList=(?P<nodes>\S+) .*"
    r"SubmitTime=(?P<submit>\S+) .* ExitCode=(?P<code>\d+):(?P<signal>\d+)\s*$"
)
"""A line of the completion log (jobcomp/filetxt)."""
FULL = re.compile(r"temporarily unable to accept job|job queue full|Resource temporarily unavailable", re.IGNORECASE)
"""How it says that it has as many jobs as it keeps."""
NO = re.compile(r"policy|limit|denied|not permitted|authentication|try again|not available|exceed", re.IGNORECASE)
SILENT = re.compile(
    r"timed out|Zero Bytes|receive failure|send failure|shutdown|\(receive|\(send|Unspecified error", re.IGNORECASE
)
"""How it says that a request has left and no answer came."""


def state_of(word: str) -> JobState:
    """Return what a state is called here; `CANCELLED by 1000` and such begin with the state."""
    first = word.split(maxsplit=1)[0].rstrip("+") if word else ""
    if first in WAITING:
        return JobState.QUEUED
    if first in GOING:
        return JobState.RUNNING
    with suppress(ValueError):
        return JobState(first.lower())
    return JobState.FAILED


def moment(text: str) -> int:
    """Return a time in ns since the epoch: seconds since it, or local time as Slurm writes it; 0 for none."""
    if text.isdigit():
        return int(text) * SECOND
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))) * SECOND
    except ValueError:  # N/A, Unknown, None, NONE
        return 0


def why(word: str, code: int, signal: int, told: str = "") -> str:
    """Return how a job that is over has failed; empty for one that has not."""
    state = word.split(maxsplit=1)[0] if word else ""
    if state in {"COMPLETED", ""}:
        return ""
    if state != "FAILED":
        return state
    if code:
        return f"exit code {code}"
    return f"signal {signal}" if signal else told or state


def queue_job(line: str) -> Job | None:
    """Read a line of squeue in QUEUE_FORMAT; None for anything else, or that stands for many tasks."""
    parts = line.split("|", 8)
    if len(parts) < 9 or not parts[0].replace("_", "").isdigit():
        return None
    id_, word, submit, start, end, user, nodes, told, name = parts
    state = state_of(word)
    begun = state is not JobState.QUEUED and nodes not in NOWHERE
    return Job(
        name,
        id_,
        state,
        moment(submit),
        moment(start) if begun else 0,
        moment(end) if state.final else 0,
        why(word, 0, 0, told) if state.final else ("" if told == "None" else told),
        user,
    )


def completion_job(line: str) -> Job | None:
    """Read a line of the completion log; None for anything else."""
    found = COMPLETION.match(line)
    if found is None:
        return None
    word = found["state"]
    started = 0 if found["nodes"] in NOWHERE else moment(found["start"])
    reason = why(word, int(found["code"]), int(found["signal"]))
    times = (moment(found["submit"]), started, moment(found["end"]))
    return Job(found["name"], found["id"], state_of(word), *times, reason, found["user"])


def history_job(line: str) -> Job | None:
    """Read a line of sacct in HISTORY_FORMAT; None for anything else."""
    parts = line.split("|", 8)
    if len(parts) < 9:
        return None
    id_, word, ended_with, submit, start, end, user, nodes, name = parts
    code, _, signal = ended_with.partition(":")
    state = state_of(word)
    started = 0 if nodes in NOWHERE or state is JobState.QUEUED else moment(start)
    reason = why(word, int(code or 0), int(signal or 0)) if state.final else ""
    return Job(name, id_, state, moment(submit), started, moment(end) if state.final else 0, reason, user)


def word_of(number: int) -> str:
    """Return the word for a state of the database; flags are above its lowest byte."""
    return NUMBERS[number & 0xFF] if number & 0xFF < len(NUMBERS) else "FAILED"


def numbered(number: int) -> JobState:
    """Return what a state of the database is called here."""
    return state_of(word_of(number))


def row_job(row: Sequence[Any]) -> Job:
    """Read a row of the database: id, name, state, exit code, times of submission, start, end, user, nodes."""
    id_, name, number, ended_with, submit, start, end, user, nodes = row
    word, state = word_of(number), numbered(number)
    started = 0 if (nodes or "") in NOWHERE else int(start) * SECOND
    reason = why(word, (int(ended_with) >> 8) & 0xFF, int(ended_with) & 0x7F) if state.final else ""
    return Job(str(name), str(id_), state, int(submit) * SECOND, started, int(end) * SECOND, reason, user_name(user))


@lru_cache(MOST_USERS)
def user_name(number: int) -> str:
    """Return the name of a user, or the number where this machine knows none; kept, since each row asks for it."""
    try:
        return pwd.getpwuid(int(number)).pw_name
    except (KeyError, OverflowError):
        return str(number)


def problem_of(answer: bytes) -> tuple[int, str]:
    """Return number and text of the first error in an answer of slurmrestd; 0 and "" when it reports none."""
    try:
        told = json.loads(answer)
        errors = told.get("errors") or []
    except (ValueError, AttributeError):
        text = answer.decode("utf-8", "replace").strip()
        return (-1, text[:200]) if text else (0, "")
    first: dict[str, Any] = errors[0] if errors and isinstance(errors[0], dict) else {}
    number = first.get("error_code", first.get("error_number", 0))
    return int(number), str(first.get("error") or first.get("description") or "")


def judged(text: str, what: str) -> Ambiguous | Failed | Refused:
    """Return what it means that a request was answered by an error: full or not allowed, no answer, or wrong."""
    said = f"{what}: {text}"
    if FULL.search(text):
        return Refused(said)
    if SILENT.search(text):
        return Ambiguous(said)
    return Refused(said) if NO.search(text) else Failed(said)
