"""What becomes of jobs, as Slurm's accounting keeps it: in a database, in the completion log, or behind sacct.

Each says what has begun and ended since a cursor, and knows jobs that have ended by their names. Slurm reports whole
seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import AfterValidator

from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import Login, check_url
from pileup.builtin.slurm.commands import Commands
from pileup.builtin.slurm.words import HISTORY_FORMAT, completion_job, history_job, numbered, row_job
from pileup.plugin import Failed, PluginError, Refused, TargetError
from pileup.plugin.batch import Changes, Job, JobState

OVERLAP = 20
"""Seconds that each look goes back behind the last one: rows come to the database late, and not in order."""
COLUMNS = "id_job, job_name, state, exit_code, time_submit, time_start, time_end, id_user, nodelist"
SWEEP = 30
"""Seconds between samples by name: on a machine without time to spare slurmdbd may hear of jobs later still."""
MOST_NAMES = 5000
MARGIN = 1000
"""Rows before the oldest open one that are looked at too: rows may come not quite in the order of their numbers."""
MOST_ROWS = 100_000
PATIENCE = 30 * 10**9
BACK = "now-7days"
"""How far sacct looks back for a job by name."""
LOOK = 5.0
"""Seconds."""
UNSEEN = "its end was not seen before Slurm forgot it"
Queue = Callable[[], list[Job]]
"""Asks the controller for the jobs that run now, or for all that it knows."""


def _checked(url: str) -> str:
    if url:
        check_url(url, Login())
    return url


DatabaseUrl = Annotated[str, AfterValidator(_checked)]
"""Address of a database, without a password in it; empty for none."""


class Records(Protocol):
    """One place where Slurm keeps what becomes of jobs."""

    account: bool | None
    """Whether jobs are known there that the controller has forgotten; None until that was asked."""

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int) -> Changes:
        """Return what began or ended since a cursor."""

    def history(self, names: Sequence[str]) -> list[Job]:
        """Return jobs that have ended, by name."""


class DatabaseRecords:
    """The database of slurmdbd. Rows of jobs that a controller forgot when it was killed stay open forever in it."""

    account: bool | None = True

    def __init__(self, url: str, login: Login, cluster: str) -> None:
        self._url = url
        self._login = login
        self._cluster = cluster
        self._local = threading.local()
        self._known = ""

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int) -> Changes:
        """Read the rows that were written since, and from time to time look by name for what came later than it says.

        The cursor is time and number of a row, the oldest open rows, and the time of the last look by name.
        """
        moment, number, low, next_low, swept = (int(part) for part in (cursor or "0/0/0/0/0").split("/"))
        if not number:  # the first page of a look: what is open now was open before, whatever comes meanwhile
            low, next_low = next_low, self._oldest_open()
        rows = self._ask(  # numbers alone, and a name that the database has given
            f"select mod_time, job_db_inx, {COLUMNS} from {self._table()} where job_db_inx >= {low} "  # noqa: S608
            f"and (time_start > 0 or time_end > 0) "  # one that was cancelled while it waited has never begun
            f"and (mod_time > {moment} or (mod_time = {moment} and job_db_inx > {number})) "
            f"order by mod_time, job_db_inx limit {most + 1}"
        )
        jobs = tuple(row_job(row[2:]) for row in rows[:most])
        if len(rows) > most:
            last = rows[most - 1]
            return Changes(jobs, f"{last[0]}/{last[1]}/{low}/{next_low}/{swept}", more=True)
        now = self._now()
        if swept and now - swept >= SWEEP:
            jobs += tuple(self.history(still_open()[:MOST_NAMES])[: most - len(jobs)])
            swept = now
        return Changes(jobs, f"{max(0, now - OVERLAP)}/0/{low}/{next_low}/{swept or now}")

    def history(self, names: Sequence[str]) -> list[Job]:
        """Look names up. They go as hexadecimal numbers: nothing in them can be read as SQL."""
        wanted = ",".join(f"x'{name.encode().hex()}'" for name in names if name)
        if not wanted:
            return []
        query = f"select {COLUMNS} from {self._table()} where time_end > 0 and job_name in ({wanted})"  # noqa: S608
        return [job for job in map(row_job, self._ask(query)) if job.state.final]

    def open_jobs(self) -> dict[JobState, int]:
        """Return how many jobs wait and run, as far as slurmdbd has heard."""
        found: dict[JobState, int] = {}
        query = f"select state, count(*) from {self._table()} where time_end = 0 and deleted = 0 group by 1"  # noqa: S608
        for number, count in self._ask(query):
            state = numbered(int(str(number)))
            found[state] = found.get(state, 0) + int(str(count))
        return found

    def _oldest_open(self) -> int:
        """Return the number of the oldest row that may still change."""
        rows = self._ask(
            f"select coalesce(min(job_db_inx), (select coalesce(max(job_db_inx), 0) from {self._table()})) "  # noqa: S608
            f"from {self._table()} where time_end = 0"
        )
        return max(0, int(str(rows[0][0])) - MARGIN)

    def _now(self) -> int:
        return int(str(self._ask("select unix_timestamp()")[0][0]))

    def _table(self) -> str:
        """Return the table of jobs: that of the cluster, or of the only one."""
        if not self._known:
            name = f"{self._cluster}_job_table".encode().hex()
            which = f"table_name = x'{name}'" if self._cluster else "right(table_name, 10) = '_job_table'"
            rows = self._ask(
                f"select table_name from information_schema.tables where table_schema = database() and {which}"  # noqa: S608
            )
            if len(rows) != 1:
                raise Failed(
                    f"the database has {len(rows)} tables of jobs; expected one: the option `cluster` names which"
                )
            self._known = f"`{rows[0][0]}`"
        return self._known

    def _ask(self, query: str) -> Sequence[Sequence[object]]:
        database: Database | None = getattr(self._local, "database", None)
        if database is None:
            database = self._local.database = Database(self._url, self._login, PATIENCE)
        try:
            return database.ask(query, MOST_ROWS)[1]
        except PluginError as problem:
            raise Failed(str(problem)) from problem


class CompletionRecords:
    """The completion log (jobcomp/filetxt): a line for each job that has ended. What runs the controller reports."""

    account: bool | None = True

    def __init__(self, path: str, running: Queue, every: float = LOOK) -> None:
        self._path = Path(path)
        self._running = running
        self._every = every
        """Seconds between two looks at what runs: the controller reports all its jobs each time."""

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int) -> Changes:
        """Read the lines since, and now and then what runs.

        The cursor is a place in the file, the time of the last look at what runs, and, between pages of that, an id.
        """
        place, looked, after = (*cursor.split("/"), "", "")[:3]
        at, jobs = int(place or 0), list[Job]()
        if not after:
            jobs, at, more = self._lines(at, most)
            if more or len(jobs) == most:
                return Changes(tuple(jobs), f"{at}/{looked}", more=True)
            if time.time() < int(looked or 0) / 1000 + self._every:
                return Changes(tuple(jobs), f"{at}/{looked}")
            looked = str(int(time.time() * 1000))
        page = _page(self._running(), after, most - len(jobs))
        return Changes(
            (*jobs, *page.jobs), f"{at}/{looked}/{page.cursor}" if page.more else f"{at}/{looked}", page.more
        )

    def history(self, names: Sequence[str]) -> list[Job]:
        """Look names up, in the whole file."""
        wanted = set(names)
        return [job for job in self._all() if job.name in wanted and job.state.final]

    def _all(self) -> Iterator[Job]:
        with suppress(FileNotFoundError), self._path.open(errors="replace") as lines:
            yield from filter(None, map(completion_job, lines))

    def _lines(self, at: int, most: int) -> tuple[list[Job], int, bool]:
        """Return jobs of whole lines from a place on, the place behind them, and whether there is more."""
        jobs: list[Job] = []
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            size = file.seek(0, 2)
            at = at if at <= size else 0  # another file since
            file.seek(at)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                at += len(line)
                if (job := completion_job(line.decode("utf-8", "replace"))) is not None:
                    jobs.append(job)
                if len(jobs) >= most:
                    return jobs, at, True
        return jobs, at, False


class SacctRecords:
    """What the controller still remembers (MinJobAge), and what sacct reports on jobs that are not there any more.

    Where there is no accounting, that is what the controller reported on them while it remembered them.
    """

    def __init__(self, commands: Commands, known: Queue) -> None:
        self._commands = commands
        self._known = known
        self._ended: dict[str, Job] = {}
        self._missed: set[str] = set()
        """Open jobs that were not known at the last look; without accounting alone."""
        self.account: bool | None = None

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int) -> Changes:
        """Ask the controller for all, and sacct for open jobs that are not among them.

        Without accounting, one that two looks did not find has ended, nobody knows how: it may have been submitted
        between the answer of the controller and the first of them.
        """
        queue = self._known()
        here = {job.name for job in queue}
        wanted = still_open() if not cursor else []
        mine = set(wanted)
        self.remember([job for job in queue if job.name in mine])
        gone = [name for name in wanted if name not in here]
        moved = [job for job in queue if job.started or job.state.final]
        ended = self.history(gone[:most]) if gone else []
        if self.account is False and not cursor:
            missing = {name for name in gone if name not in self._ended}
            ended += [Job(name, "", JobState.CANCELLED, reason=UNSEEN) for name in sorted(missing & self._missed)]
            self._missed = missing - self._missed
        return _page([*moved, *ended], cursor, most)

    def history(self, names: Sequence[str]) -> list[Job]:
        """Look names up with sacct, or where there is no accounting among those whose end was seen."""
        if self.account is False:
            return [self._ended[name] for name in names if name in self._ended]
        wanted = [name for name in names if name and "," not in name]
        if not wanted:
            return []
        words = ("sacct", "-n", "-P", "-X", "-a", "-S", BACK, "-E", "now", "-o", HISTORY_FORMAT)
        try:
            lines = self._commands.lines(*words, f"--name={','.join(wanted)}")
        except (Failed, Refused) as problem:
            if "disabled" in problem.what:
                self.account = False
                return []
            raise
        self.account = True
        return [job for job in map(history_job, lines) if job is not None and job.state.final]

    def remember(self, jobs: Sequence[Job]) -> None:
        """Keep the ends of jobs that pileup has submitted, unless an accounting does."""
        ended = {job.name: job for job in jobs if job.state.final}
        if ended and self.account is None:
            with suppress(Failed, Refused):  # one that does not answer now is one
                self.history(list(ended)[:1])
        if self.account is False:
            self._ended |= ended


def _page(jobs: Sequence[Job], after: str, most: int) -> Changes:
    """Return the jobs behind an id, at most so many, in the order of their ids; the cursor is empty after the last."""
    behind = sorted(
        (job for job in jobs if not after or _number(job.id) > _number(after)), key=lambda job: _number(job.id)
    )
    if len(behind) > most:
        return Changes(tuple(behind[:most]), behind[most - 1].id if most else after or "0", more=True)
    return Changes(tuple(behind), "")


def _number(id_: str) -> tuple[int, int]:
    """An id as numbers, so that 9 comes before 10; a task of an array has two."""
    first, _, task = id_.partition("_")
    return (int(first or -1), int(task or -1))


def login_of(password_file: str | None) -> Login:
    """Return who asks the database. Raises TargetError for a file that is none."""
    if password_file is not None and not Path(password_file).expanduser().is_file():
        raise TargetError(f"there is no file {password_file}", "one with the password of the database")
    return Login(password_file=password_file)


def running(jobs: Sequence[Job]) -> list[Job]:
    """Return those that run."""
    return [job for job in jobs if job.state is JobState.RUNNING]
