"""The accounting of a computing element whose files can be read: exact times of jobs, also of purged ones.

A-REX writes an entry when it takes a job up, an event for each change of its state, and its name and the times of the
batch system when it has ended (share/arc/sql-schema of ARC 6.17). Times are whole seconds.
"""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.plugin import Failed
from pileup.plugin.batch import Job, JobState

OWN = "pileup"
"""What a private CE knows us by."""
SECOND = 10**9
PATIENCE = 20.0
"""How long a query waits for a writer, s."""
CANCELLED = "Job is canceled by external request"
"""What A-REX says of such a job, as long as it is not purged."""
STATES = {"completed": JobState.COMPLETED, "failed": JobState.FAILED}
JOB = """
SELECT AAR.JobID, Name.InfoValue AS name, Status.Name AS status, AAR.ExitCode, AAR.SubmitTime, AAR.EndTime,
    (SELECT EventTime FROM JobEvents WHERE RecordID = AAR.RecordID AND EventKey = 'LRMSSTART') AS started,
    (SELECT EventTime FROM JobEvents WHERE RecordID = AAR.RecordID AND EventKey = 'LRMSEND') AS ended,
    EXISTS (SELECT 1 FROM JobEvents WHERE RecordID = AAR.RecordID AND EventKey = 'CANCELING') AS cancelled,
    Users.Name AS owner
"""
JOINED = """
JOIN Status ON Status.ID = AAR.StatusID
JOIN Users ON Users.ID = AAR.UserID
LEFT JOIN JobExtraInfo AS Name ON Name.RecordID = AAR.RecordID AND Name.InfoKey = 'jobname'
"""
ENDED = f"""{JOB}, Event.rowid AS number
FROM JobEvents AS Event JOIN AAR ON AAR.RecordID = Event.RecordID {JOINED}
WHERE Event.EventKey = 'FINISHED' AND Event.rowid > ? ORDER BY Event.rowid LIMIT ?
"""
NAMED = f"""{JOB}
FROM AAR {JOINED}
WHERE Status.Name != 'in-progress' AND Name.InfoValue IN (SELECT value FROM json_each(?))
"""  # noqa: S608  made of constants
SUBMITTED = "SELECT JobID, SubmitTime FROM AAR WHERE JobID IN (SELECT value FROM json_each(?))"


EVENTS = """
SELECT Event.rowid AS number, Event.RecordID AS record, Event.EventKey AS state, Status.Name AS status
FROM JobEvents AS Event JOIN AAR ON AAR.RecordID = Event.RecordID JOIN Status ON Status.ID = AAR.StatusID
WHERE Event.rowid > ? ORDER BY Event.rowid LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A job came into a state of A-REX (in small letters); `status` is how it is now, `number` orders changes."""

    number: int
    record: int
    state: str
    status: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A job that has ended; `number` orders the ends."""

    job: Job
    number: int


class Accounting:
    """Reads the database, by a connection for each question: A-REX waits for nobody who holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def url(self) -> str:
        """The database as monitors take it."""
        return f"sqlite:///{self._path}"

    def events_since(self, number: int, most: int) -> list[Change]:
        """Return what has happened to jobs after that number, in its order."""
        rows = self._rows(EVENTS, (number, most))
        return [Change(row["number"], row["record"], str(row["state"]).lower(), row["status"]) for row in rows]

    def ended_since(self, number: int, most: int) -> list[Ended]:
        """Return jobs that have ended after that number, in their order."""
        return [Ended(_job(row), row["number"]) for row in self._rows(ENDED, (number, most))]

    def ended(self, names: Sequence[str]) -> list[Job]:
        """Return jobs of these names that have ended."""
        return [_job(row) for row in self._rows(NAMED, (json.dumps(list(names)),))]

    def submitted(self, ids: Sequence[str]) -> dict[str, int]:
        """Return id -> time of submission in ns of jobs that have an entry."""
        rows = self._rows(SUBMITTED, (json.dumps(list(ids)),))
        return {row["JobID"]: row["SubmitTime"] * SECOND for row in rows}

    def _rows(self, query: str, values: Sequence[Any]) -> list[sqlite3.Row]:
        """Return the rows of a query; none before A-REX has made the database, with the first job."""
        if not self._path.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=PATIENCE)) as connection:
                connection.row_factory = sqlite3.Row
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as problem:
            if "no such table" in str(problem):
                return []
            raise Failed(f"the accounting cannot be read: {problem}") from problem


def _job(row: sqlite3.Row) -> Job:
    state = STATES.get(row["status"], JobState.RUNNING)
    reason = ""
    if state is JobState.FAILED:
        state, reason = (JobState.CANCELLED, CANCELLED) if row["cancelled"] else (state, f"exit code {row['ExitCode']}")
    # Slurm says of a job that was cancelled while it waited that it began when it ended.
    never = state is JobState.CANCELLED and row["started"] == row["ended"]
    return Job(
        row["name"] or "",
        row["JobID"],
        state,
        row["SubmitTime"] * SECOND,
        0 if never else _moment(row["started"]),
        row["EndTime"] * SECOND,
        reason,
        user_of(row["owner"]),
    )


def user_of(subject: str) -> str:
    """Return the user whom a private CE knows by a subject; "": who we are for it."""
    name = subject.rpartition("/CN=")[2]
    return "" if name == OWN else name


def _moment(text: str | None) -> int:
    """Return a time as the database has it (UTC in a private CE) in ns since the epoch, 0 for none."""
    if not text:
        return 0
    read = datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=datetime.UTC)
    return int(read.timestamp()) * SECOND
