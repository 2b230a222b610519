"""What the practice computing element does: it accepts jobs, hands them over, and follows them.

A job is accepted when it is in the database. Threads hand accepted jobs over to the batch system, one after another,
while others are accepted; another one asks what became of them. What the element answers, it knows by itself.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from pileup.builtin.element.tables import CANCELLED, DONE_FAILED, DONE_OK, IDLE, RUNNING, Tables
from pileup.builtin.practice.batch import JobTold, PracticeBatchTarget
from pileup.plugin.batch import Job, JobSpec, JobState

STATUS = {
    JobState.RUNNING: RUNNING,
    JobState.COMPLETED: DONE_OK,
    JobState.FAILED: DONE_FAILED,
    JobState.CANCELLED: CANCELLED,
}
SECOND = 10**9


class JobWanted(TypedDict):
    """A job as it is asked for; how long it runs in ns."""

    name: str
    duration: int
    user: NotRequired[str]


class Asked(TypedDict, total=False):
    """What a request names; which words depends on what is asked for."""

    jobs: list[JobWanted]
    names: list[str]
    ids: list[int]
    oldest: int


class Page(TypedDict):
    """What jobs became, and where the next page begins."""

    jobs: list[JobTold]
    next: int
    more: bool


class PurgeTold(TypedDict):
    """What became of a purge."""

    purged: int
    busy: list[int]
    missing: list[int]


@dataclass
class Known:
    """A job as the element knows it; times in ns since the epoch, 0: not yet."""

    name: str
    id: int
    duration: int
    user: str
    submitted: int
    state: JobState = JobState.QUEUED
    started: int = 0
    ended: int = 0
    reason: str = ""
    behind: str = ""
    """Its id in the batch system; empty while it waits here."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state.final

    @property
    def row(self) -> str:
        """Its id in the database."""
        return f"CREAM{self.id:09}"

    def told(self) -> JobTold:
        """What is said of it: as the practice batch system says it."""
        return JobTold(
            name=self.name,
            id=self.id,
            state=self.state.value,
            submitted=self.submitted,
            started=self.started,
            ended=self.ended,
            reason=self.reason,
            user=self.user,
        )


def _of_before(job: Job) -> JobTold:
    """What is said of a job that was accepted before the start; its number is gone."""
    told = Known(job.name, 0, 0, job.user, job.submitted, job.state, job.started, job.ended, job.reason)
    return told.told()


class Element:
    """The jobs of the element, and its threads; safe to ask from any thread."""

    def __init__(self, tables: Tables, batch: PracticeBatchTarget, workers: int, look: int) -> None:
        self._tables, self._batch, self._look = tables, batch, look / SECOND
        self._lock = threading.Lock()
        self._jobs: dict[int, Known] = {}
        self._names: dict[str, Known] = {}
        self._over: dict[str, Known] = {}
        """Jobs that have ended, purged ones too, by name: its accounting."""
        self._log: list[JobTold] = []
        """What jobs became, in order: a cursor is a place in it."""
        self._waiting: queue.SimpleQueue[Known] = queue.SimpleQueue()
        self._last = int(time.time()) % 100_000 * 10_000
        """Number of the newest job: of nine digits, and other ones after each start."""
        for work in (*[self._hand_over] * workers, self._follow):
            threading.Thread(target=work, daemon=True).start()

    def accept(self, jobs: Sequence[JobWanted]) -> list[int]:
        """Register jobs; return their ids."""
        made = [self._register(each) for each in jobs]
        for job in made:
            self._waiting.put(job)
        return [job.id for job in made]

    def _register(self, wanted: JobWanted) -> Known:
        with self._lock:
            self._last += 1
            number = self._last
        job = Known(wanted["name"], number, wanted["duration"], wanted.get("user", ""), time.time_ns())
        self._tables.register(job.row, job.user)
        with self._lock:
            self._jobs[job.id] = self._names[job.name] = job
        return job

    def _hand_over(self) -> None:
        """Hand jobs over, one after another, until the process ends."""
        while True:
            job = self._waiting.get()
            if job.over:  # cancelled before
                continue
            self._tables.prepare(job.row)
            if self._given(job):
                self._tables.becomes(job.row, IDLE)

    def _given(self, job: Known) -> bool:
        """Submit a job to the batch system, unless it was cancelled meanwhile; return whether it was."""
        with self._lock:
            if job.over:
                return False
            (answer,) = self._batch.submit([JobSpec(job.name, job.duration)])
            job.behind = answer.id
        return True

    def _follow(self) -> None:
        """Ask the batch system what became of jobs, until the process ends."""
        cursor = ""
        while True:
            news = self._batch.changes(cursor, list)
            cursor = news.cursor
            for told in news.jobs:
                self._become(told)
            if not news.more:
                time.sleep(self._look)

    def _become(self, told: Job) -> None:
        job = self._names.get(told.name)
        if job is None or job.state.final or told.state is job.state:
            return
        self._tables.becomes(job.row, STATUS[told.state])
        self._note(job, told)

    def _note(self, job: Known, told: Job) -> None:
        with self._lock:
            job.state, job.started, job.ended, job.reason = told.state, told.started, told.ended, told.reason
            self._log.append(job.told())
            if job.state.final:
                self._over[job.name] = job

    def status(self, names: Iterable[str], ids: Iterable[int]) -> list[JobTold]:
        """Return what is known of jobs that are not purged."""
        with self._lock:
            found = [self._names.get(name) for name in names] + [self._jobs.get(number) for number in ids]
            return [job.told() for job in found if job is not None]

    def history(self, names: Iterable[str]) -> list[JobTold]:
        """Return what became of jobs that have ended."""
        wanted = list(names)
        with self._lock:
            known = [self._over[name].told() for name in wanted if name in self._over]
            strange = [name for name in wanted if name not in self._over and name not in self._names]
        before = self._batch.history(strange) if strange else []  # of an earlier start: the batch system knows
        return known + [_of_before(job) for job in before]

    def changes(self, since: int, most: int) -> Page:
        """Return a page of what jobs became after a place in the log."""
        with self._lock:
            page = self._log[since : since + most]
            return {"jobs": page, "next": since + len(page), "more": since + len(page) < len(self._log)}

    def counts(self) -> dict[str, int]:
        """Return how many jobs there are in each state."""
        with self._lock:
            return dict(Counter(job.state.value for job in self._jobs.values()))

    def cancel(self, ids: Iterable[int]) -> list[int]:
        """End jobs; return the ids of those that are over, or unknown."""
        return [number for number in ids if not self._cancelled(self._jobs.get(number))]

    def _cancelled(self, job: Known | None) -> bool:
        if job is None or job.state.final:
            return False
        with self._lock:
            behind = job.behind
            if not behind:  # it is not handed over any more
                job.state = JobState.CANCELLED
        if behind:
            return not self._batch.cancel([behind])
        now = time.time_ns()
        self._tables.becomes(job.row, CANCELLED)
        self._note(job, Job(job.name, "", JobState.CANCELLED, job.submitted, 0, now, "cancelled"))
        return True

    def purge(self, ids: Iterable[int], oldest: int) -> PurgeTold:
        """Remove jobs that have ended: these, or so many of the oldest."""
        with self._lock:
            over = [number for number, job in self._jobs.items() if job.state.final][:oldest] if oldest else []
        wanted = {number: self._jobs.get(number) for number in (*ids, *over)}
        ended = [job for job in wanted.values() if job is not None and job.state.final]
        for job in ended:
            self._tables.remove(job.row)
            with self._lock:
                self._jobs.pop(job.id, None)
                self._names.pop(job.name, None)
        busy = [number for number, job in wanted.items() if job is not None and not job.state.final]
        missing = [number for number, job in wanted.items() if job is None]
        return {"purged": len(ended), "busy": busy, "missing": missing}
