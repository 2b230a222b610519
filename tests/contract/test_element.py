"""The practice computing element over a real MariaDB: what it accepts runs once, is a row, and the index finds it."""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from pileup.builtin.element.tables import PROXY, Tables
from pileup.builtin.element.target import PracticeElementTarget
from pileup.model.errors import Refused
from pileup.plugin.batch import Claim, Fate, JobSpec, JobState, tally
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.servers.practice_batch import truth
from tests.support import give_up, require_program

ROWS = 3000
LONG = 3600 * 10**9
SOON = 10.0


class Running:
    """A running element."""

    def __init__(self, supervisor: Supervisor, folder: Path) -> None:
        self.supervisor, self.folder = supervisor, folder
        self.target = PracticeElementTarget(supervisor.url(NAME))

    @property
    def tables(self) -> Tables:
        return Tables(self.target.database_url.partition("unix_socket=")[2])

    def count(self, table: str, job: str = "CREAM%") -> int:
        column = "id" if table == "job" else "jobId"
        with self.tables._connection().cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {column} LIKE %s", (job,))
            (found,) = cursor.fetchone()
        return int(found)

    def plan(self) -> tuple[str, int]:
        """How the UPDATE of a job finds its row: the type of access, and about how many rows it looks at."""
        statement = "EXPLAIN UPDATE extra_attribute SET value = 'x' WHERE jobId = %s AND name = %s"
        with self.tables._connection().cursor() as cursor:
            cursor.execute(statement, ("OLD000000007", PROXY))
            columns = [column[0] for column in cursor.description]
            row = dict(zip(columns, cursor.fetchone(), strict=True))
        return str(row["type"]), int(row["rows"])

    def restart(self, **settings: object) -> None:
        self.supervisor.restart(NAME, PracticeElementTarget.launcher(QUICK | settings, self.folder))


QUICK: dict[str, object] = {"rows": ROWS, "slots": 3, "cycle": "0 s", "look": "20 ms", "flush": "second"}


@pytest.fixture(scope="module")
def element(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    require_program("mariadbd", "apt-get install mariadb-server-core")
    if find_spec("pymysql") is None:
        give_up("pymysql is not installed: pip install 'pileup[sql]'")
    folder = tmp_path_factory.mktemp("element") / "ce"
    launcher = PracticeElementTarget.launcher(QUICK, folder)
    assert launcher is not None
    with supervised(launcher, folder) as supervisor:
        yield Running(supervisor, folder)


def until(target: PracticeElementTarget, state: JobState, count: int) -> None:
    end = time.monotonic() + SOON
    while target.counts().get(state, 0) < count:
        assert time.monotonic() < end, target.counts()
        time.sleep(0.01)


@pytest.mark.long
def test_what_is_accepted_is_a_row_runs_once_and_goes_with_a_purge(element: Running) -> None:
    target = element.target
    taken = target.submit([JobSpec(f"job-{number}") for number in range(8)])
    assert [element.count("job"), element.count("extra_attribute")] == [8, 8], "it answers when the rows are there"
    until(target, JobState.COMPLETED, 8)
    assert element.count("job_status") == 8 * 4 + extra(element), "registered, pending, idle, done; some were seen run"
    (journal,) = element.folder.rglob("jobs.csv")
    assert sorted(job.name for job in truth(journal)) == sorted(each.name for each in taken)
    claims = [Claim(each.name, each.id) for each in taken]
    assert tally(target.audit(claims)) == {Fate.ONCE: 8}
    page = target.changes("", list)
    assert {job.name for job in page.jobs if job.state is JobState.COMPLETED} == {each.name for each in taken}
    done = target.purge(ids=[each.id for each in taken[:5]] + ["1"])
    assert (done.count, done.busy, done.missing) == (5, (), ("1",))
    assert [element.count(table) for table in ("job", "extra_attribute")] == [3, 3]
    assert target.purge(oldest=10).count == 3
    assert tally(target.audit(claims)) == {Fate.ONCE: 8}, "the accounting knows what was purged"
    with pytest.raises(Refused, match="knows no credentials"):
        target.delegate(10**9)


def extra(element: Running) -> int:
    """How many jobs were seen while they ran."""
    with element.tables._connection().cursor() as cursor:
        cursor.execute("SELECT count(*) FROM job_status WHERE type = 3 AND jobId LIKE 'CREAM%'")
        return int(cursor.fetchone()[0])


@pytest.mark.long
def test_jobs_that_wait_and_jobs_that_run_are_cancelled(element: Running) -> None:
    target = element.target
    taken = target.submit([JobSpec(f"long-{number}", LONG) for number in range(6)])
    until(target, JobState.RUNNING, 3)
    assert target.cancel([each.id for each in taken] + ["1"]) == ["1"]
    until(target, JobState.CANCELLED, 6)
    assert {job.state for job in target.history([each.name for each in taken])} == {JobState.CANCELLED}
    assert target.cancel([taken[0].id]) == [taken[0].id], "it is over"


@pytest.mark.long
def test_without_the_index_each_update_reads_the_whole_table(element: Running) -> None:
    claims = [Claim(each.name, each.id) for each in element.target.submit([JobSpec("before")])]
    until(element.target, JobState.COMPLETED, 1)
    assert element.plan() == ("range", 1)
    element.restart(index=False)
    again = PracticeElementTarget(element.supervisor.url(NAME))
    kind, rows = element.plan()
    assert kind in {"ALL", "index"}
    assert rows > 0.9 * ROWS
    assert tally(again.audit(claims)) == {Fate.ONCE: 1}, "the batch system remembers"
    (other,) = again.submit([JobSpec("after")])
    assert other.id != claims[0].id
    element.restart()
