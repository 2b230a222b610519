"""The control folder of a computing element whose files can be read: how many jobs there are, without asking it."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pileup.builtin.arc.words import CANCELLED
from pileup.plugin import Failed
from pileup.plugin.batch import JobState

UNDER_WAY = ("accepting", "processing", "restarting")
"""Folders with the states of jobs, in the order in which jobs come through them: one on its way is seen in the next."""
ENDED = "finished"
PREFIX, SUFFIX = "job.", ".status"
INSIDE = "INLRMS"
QUEUED = frozenset({"ACCEPTED", "PREPARING", "SUBMIT"})
SQUEUE_WITHIN = 20
"""How long Slurm may take to say what waits, s."""


class Control:
    """Counts jobs by the files that A-REX keeps of them. Raises Failed when these cannot be read."""

    def __init__(self, folder: Path, begun: Path, squeue: Path, slurm_conf: Path) -> None:
        """`begun` has a line for each time that a job has begun on a node: its session folder."""
        self._folder = folder
        self._begun = begun
        self._squeue = str(squeue)
        self._environment = {"SLURM_CONF": str(slurm_conf)}
        self._ends: dict[str, JobState] = {}

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs there are in each state, everybody's; what Slurm has ended runs until A-REX sees it."""
        try:
            words = {job: self._word(place, job) for place in UNDER_WAY for job in self._jobs(place)}
            ended = self._jobs(ENDED)
        except OSError as problem:
            raise Failed(f"{problem.filename} cannot be read: {problem.strerror}") from problem
        self._ends = {job: self._ends.get(job) or self._end(job) for job in ended}
        going = [word for job, word in words.items() if job not in self._ends and word]
        inside = going.count(INSIDE)
        waiting = min(inside, self._waiting()) if inside else 0
        queued = sum(word in QUEUED for word in going) + waiting
        return {**Counter(self._ends.values()), JobState.QUEUED: queued, JobState.RUNNING: len(going) - queued}

    def ended(self, ids: Iterable[str]) -> dict[str, int]:
        """Return id -> time in ns since the epoch of those jobs that have ended and were not purged."""
        try:
            over = set(ids).intersection(self._jobs(ENDED))
            return {job: self._path(ENDED, job).stat().st_mtime_ns for job in over}
        except OSError as problem:
            raise Failed(f"{problem.filename} cannot be read: {problem.strerror}") from problem

    def executions(self, ids: Iterable[str]) -> dict[str, int]:
        """Return id -> how often its script has begun on a node, of jobs that were handed over, purged ones too."""
        try:
            lines = self._begun.read_text(errors="replace").splitlines() if self._begun.exists() else []
        except OSError as problem:
            raise Failed(f"{problem.filename} cannot be read: {problem.strerror}") from problem
        times = Counter(line.rpartition("/")[2] for line in lines)
        return {job: times[job] for job in ids}

    def _path(self, place: str, job: str) -> Path:
        return self._folder / place / f"{PREFIX}{job}{SUFFIX}"

    def _jobs(self, place: str) -> list[str]:
        """Return the ids of the jobs in one folder."""
        folder = self._folder / place
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return [name[len(PREFIX) : -len(SUFFIX)] for name in names if name.endswith(SUFFIX)]

    def _word(self, place: str, job: str) -> str:
        """Return the state of a job; "" when it is in the next folder by now."""
        try:
            return self._path(place, job).read_text().strip().rpartition(":")[2]
        except FileNotFoundError:
            return ""

    def _end(self, job: str) -> JobState:
        try:
            told = (self._folder / f"{PREFIX}{job}.failed").read_text(errors="replace")
        except OSError:
            return JobState.COMPLETED
        return JobState.CANCELLED if CANCELLED in told else JobState.FAILED

    def _waiting(self) -> int:
        """Return how many jobs Slurm has not begun."""
        command = [self._squeue, "-h", "-t", "PENDING,CONFIGURING", "-o", "%i"]
        try:
            done = subprocess.run(
                command, env=self._environment, capture_output=True, timeout=SQUEUE_WITHIN, check=True
            )
        except (OSError, subprocess.SubprocessError) as problem:
            raise Failed(f"the batch system does not say what waits ({type(problem).__name__})") from problem
        return len(done.stdout.split())
