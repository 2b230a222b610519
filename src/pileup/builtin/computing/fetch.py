"""Fetch files that jobs have made."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from pileup.builtin.computing.jobs import KEPT, Problems, end_kept, look_up, purge_ended, tell
from pileup.builtin.computing.payload import FileName, Files, read_files
from pileup.plugin import Count, Failed, Op, Target, Test, VerdictException, option
from pileup.plugin.batch import BatchTarget, Job, JobState

_TAKEN: WeakKeyDictionary[BatchTarget, set[str]] = WeakKeyDictionary()
_LOCK = threading.Lock()


class ComputingFetch(Test):
    """Fetch the files that jobs of this run have made, and purge these jobs, as their owners do.

    One iteration looks up at most `jobs` jobs of this run at its place, the oldest first (operation `status`): those
    that `computing.poll` with `keep` has seen end, and open ones. Of each that has completed it fetches every file of
    `files` (operation `fetch`, whose object is JOB/NAME), and then purges those that have ended in one request
    (operation `purge`, whose calls are the jobs) unless `purge: false` is set. Clients share the jobs: each job is
    fetched once. Samples: `fetched` (files), `purged` and `unknown` (jobs that the system no longer knew).

    The jobs make the files: `outputs` of `computing.submit`. With `same_as: {NAME: PATH}` the file NAME is fetched, and
    its content must be that of the file PATH here, relative to the suite (32 KiB together). A file that is not there,
    or that differs, fails the iteration, which goes on with the others; its job is purged all the same.

    Let nothing else of the suite purge these jobs: `computing.purge` and `computing.watch` would take their files, too.
    """

    name = "computing.fetch"
    needs = "batch"

    files: tuple[FileName, ...] = option((), help="files of each job to be fetched")
    same_as: Files = option({}, help="files to be fetched and compared, name there: path here")
    jobs: Count = option(100, ge=1, le=10_000, help="jobs in one iteration")
    purge: bool = option(True, help="purge jobs whose files were fetched")

    def check(self) -> None:
        """Refuse to fetch nothing."""
        if not self.files and not self.same_as:
            raise ValueError("neither `files` nor `same_as` names a file; expected some of the `outputs` of the jobs")
        self._expected = read_files(self.context.folder, self.same_as, "same_as")
        self._names = tuple(dict.fromkeys((*self.files, *self.same_as)))

    def problem_on(self, target: Target) -> str:
        """Refuse a system that hands no files out."""
        if not isinstance(target, BatchTarget) or target.keeps_files:
            return ""
        return f"kind {target.kind!r} hands no files of jobs out; expected a target that does, e.g. arc"

    def run(self, op: Op) -> None:
        """Fetch once."""
        problems, fetched = Problems(), 0
        mine = self._take()
        found = look_up(op, self.target, mine) if mine else []
        over = [job for job in found if job.state.final]
        tell(self.ledger, over)
        for job in over:
            fetched += self._fetch(op, job, problems) if job.state is JobState.COMPLETED else 0
        known = {job.name for job in found}
        unknown = [name for name in mine if name not in known]
        end_kept(self.ledger, unknown)
        purged = purge_ended(op, self.target, self.ledger, over) if over and self.purge else 0
        left = set() if self.purge else {job.name for job in over}
        self._give_back([name for name in mine if name not in left])
        for metric, value in (("purged", purged), ("unknown", len(unknown))):
            self.report(metric, value, "jobs")
        self.report("fetched", fetched)
        problems.tell()

    def _take(self) -> list[str]:
        """Take jobs that no other client has."""
        with _LOCK:
            taken = _TAKEN.setdefault(self.target, set())
            free = [name for kind in (KEPT, "job") for name in self.ledger.keys(kind) if name not in taken]
            taken.update(free[: self.jobs])
        return free[: self.jobs]

    def _give_back(self, names: Sequence[str]) -> None:
        """Let jobs be taken again: those that have not ended yet; nobody finds those that are gone."""
        with _LOCK:
            _TAKEN[self.target].difference_update(names)

    def _fetch(self, op: Op, job: Job, problems: Problems) -> int:
        """Fetch all files of a job; return how many came."""
        came = 0
        for name in self._names:
            try:
                with op("fetch", f"{job.name}/{name}") as fetch:
                    fetch.calls = 1
                    content = self.target.fetch(job, name)
                    fetch.bytes = len(content)
                    self._compare(job, name, content)
            except VerdictException as problem:
                problems.add(problem)
            else:
                came += 1
        return came

    def _compare(self, job: Job, name: str, content: bytes) -> None:
        expected = self._expected.get(name)
        if expected is not None and content != expected:
            raise Failed(f"file {name!r} of job {job.name!r} is not that of `same_as`: {len(content)} bytes came")
