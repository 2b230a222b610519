"""The kind `database` and the test `sql.query` keep the same promises on SQLite, MariaDB and PostgreSQL."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from pileup.builtin.database.query_test import SqlQuery
from pileup.builtin.database.session import Session
from pileup.builtin.database.sql_text import parse
from pileup.builtin.database.target import DatabaseTarget
from pileup.model.record import Outcome
from pileup.plugin import Context, Refused
from pileup.plugin.testing import Iteration, TestOp, run_once
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.support import give_up

pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # PyMySQL's, of a dead unix socket
SECOND = 10**9
QUICK = {
    "mariadb": {"buffer_pool": "16 MiB", "variables": {"innodb_log_file_size": "8M"}},
    "postgresql": {"server": "postgresql", "buffer_pool": "16 MiB"},
}
SETTINGS = {"flush": "second", "slow_queries": "300 ms", "lock_wait_timeout": "2 s"}
INDEX = {
    "mariadb": ("CREATE INDEX IF NOT EXISTS i ON jobs (state)", "DROP INDEX IF EXISTS i ON jobs"),
    "postgresql": ("CREATE INDEX IF NOT EXISTS i ON jobs (state)", "DROP INDEX IF EXISTS i"),
    "sqlite": ("CREATE INDEX IF NOT EXISTS i ON jobs (state)", "DROP INDEX IF EXISTS i"),
}
ASKED = {
    "mariadb": "information_schema.statistics WHERE index_name = 'i'",
    "postgresql": "pg_indexes WHERE indexname = 'i'",
    "sqlite": "sqlite_master WHERE name = 'i'",
}
SLEEP = {
    "mariadb": "SELECT count(*) AS n FROM seq_1_to_1000000 AS a, seq_1_to_1000000 AS b",
    "postgresql": "SELECT 1 AS n FROM pg_sleep(30)",
    "sqlite": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) AS n FROM c",
}


@dataclass(frozen=True)
class Served:
    """A database with a table `jobs` of two rows, and what may be done to its server."""

    kind: str
    target: DatabaseTarget
    supervisor: Supervisor | None


@pytest.fixture(scope="module", params=["sqlite", "mariadb", "postgresql"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder, kind = tmp_path_factory.mktemp("database"), request.param
    folder.chmod(0o755)
    with _server(kind, folder) as (url, supervisor):
        on, off = INDEX[kind]
        asked = f"SELECT CASE count(*) WHEN 0 THEN 'off' ELSE 'on' END FROM {ASKED[kind]}"
        target = DatabaseTarget(url, switches={"index": {"set": {"on": on, "off": off}, "get": asked}})
        with closing(target.session(10 * SECOND)) as session:
            session.execute(
                parse("CREATE TABLE jobs (id INTEGER PRIMARY KEY, state VARCHAR(20), took NUMERIC(9, 2))"), {}
            )
        yield Served(kind, target, supervisor)


@contextmanager
def _server(kind: str, folder: Path) -> Iterator[tuple[str, Supervisor | None]]:
    if kind == "sqlite":
        yield str(folder), None
        return
    try:
        launcher = DatabaseTarget.launcher({**QUICK[kind], **SETTINGS}, folder)
    except ValueError as problem:
        give_up(str(problem))
    assert launcher is not None
    with supervised(launcher, folder / "server") as supervisor:
        yield supervisor.url(NAME), supervisor


@pytest.fixture(autouse=True)
def _two_rows(served: Served) -> None:
    with closing(served.target.session(10 * SECOND)) as session:
        session.execute(parse("DELETE FROM jobs"), {})
        session.execute(parse("INSERT INTO jobs VALUES (1, 'queued', 0.5), (2, 'do:ne%', NULL)"), {})


def ask(served: Served, *statements: str, timeout: int = 20 * SECOND, number: int = 0, **options: Any) -> Iteration:
    context = Context(timeout=timeout, compared=True)
    return run_once(SqlQuery, served.target, context=context, number=number, statements=list(statements), **options)


def home_of(served: Served) -> Path:
    """Return the folder of a private server."""
    return Path(served.target.url.partition("=")[2].removesuffix("/db.sock"))


def digest(done: Iteration) -> float:
    (found,) = (each.value for each in done.numbers if each.metric == "answer_digest")
    return found


def test_it_says_what_it_is(served: Served) -> None:
    names = {"sqlite": "SQLite 3.", "mariadb": "MariaDB 1", "postgresql": "PostgreSQL 1"}
    assert served.target.probe().startswith(names[served.kind])


def test_rows_are_asked_changed_and_judged(served: Served) -> None:
    done = ask(
        served, "SELECT count(*) AS jobs, sum(took) AS took FROM jobs WHERE state LIKE '%e%'", expect={"jobs": 2}
    )
    assert done.passed, done.error
    assert {each.metric: each.value for each in done.numbers if each.metric != "answer_digest"} == {
        "jobs": 2.0,
        "took": 0.5,
    }
    assert ask(served, "UPDATE jobs SET took = 1", rows=2).passed
    assert ask(served, "DELETE FROM jobs WHERE id = 7", rows=1).error == "0 rows were changed; expected 1"
    assert ask(served, "SELECT nonsuch FROM jobs").outcome is Outcome.FAILED


def test_parameters_are_bound_and_text_stays_as_it_is(served: Served) -> None:
    text = "SELECT id, ':id %' AS mark FROM jobs WHERE id = :id AND state LIKE '%:ne%%'"
    done = ask(served, text, parameters={"id": 2}, rows=1, expect={"mark": ":id %"})
    assert done.passed, done.error
    inserted = ask(
        served,
        "INSERT INTO jobs VALUES (:id, :state, :took)",
        parameters={"id": {"sequence": 100}, "state": {"unique": "job-"}, "took": {"uniform": [0.5, 9.5]}},
        number=5,
        rows=1,
    )
    assert inserted.passed, inserted.error
    assert ask(
        served, "SELECT 1 FROM jobs WHERE id = 105 AND state LIKE 'job-%-5' AND took BETWEEN 0.5 AND 9.5", rows=1
    )


def test_the_same_answer_has_the_same_digest_everywhere(served: Served) -> None:
    one = ask(served, "SELECT id, state, took FROM jobs ORDER BY id")
    other = ask(served, "SELECT a.id, a.state, a.took FROM jobs a LEFT JOIN jobs b ON b.id = a.id ORDER BY a.id DESC")
    assert digest(one) == digest(other) == 87818014463200.0
    assert digest(ask(served, "SELECT id, state, 1.0 AS took FROM jobs")) != digest(one)


def test_a_transaction_is_all_or_nothing(served: Served) -> None:
    both = ("INSERT INTO jobs VALUES (3, 'new', 1)", "INSERT INTO jobs VALUES (1, 'twice', 1)")
    done = ask(served, *both, transaction=True)
    assert done.outcome is Outcome.FAILED, done.error
    assert ask(served, "SELECT count(*) AS n FROM jobs", expect={"n": 2}).passed
    done = ask(served, both[0], transaction=True)
    assert [each.name for each in done.operations] == ["insert", "commit"]
    assert ask(served, "SELECT count(*) AS n FROM jobs", expect={"n": 3}).passed


def test_what_takes_too_long_is_ended_by_the_database(served: Served) -> None:
    begin = time.monotonic()
    done = ask(served, SLEEP[served.kind], timeout=SECOND // 5)
    assert done.outcome is Outcome.FAILED
    assert done.error.startswith("the database ended it: "), done.error
    assert time.monotonic() - begin < 20, "not by its own end"


def _locked(served: Served, session: Session) -> None:
    session.begin(writes=True)
    session.execute(parse("UPDATE jobs SET took = 3 WHERE id = 1"), {})


def test_a_lock_that_is_not_had_in_time_is_refused(served: Served) -> None:
    with closing(served.target.session(20 * SECOND)) as session:
        _locked(served, session)
        timeout = SECOND // 5 if served.kind == "sqlite" else 20 * SECOND  # the others have lock_wait_timeout
        done = ask(served, "UPDATE jobs SET took = 4 WHERE id = 1", timeout=timeout)
        assert done.outcome is Outcome.REFUSED, done.error
        assert "expected the locks that it needs" in done.error
        session.commit()
    assert ask(served, "SELECT took FROM jobs WHERE id = 1", expect={"took": 3}).passed


def test_a_deadlock_is_refused_and_nothing_of_it_stays(served: Served) -> None:
    if served.kind == "sqlite":
        pytest.skip("SQLite has one lock: no two can wait for each other")
    meeting = threading.Barrier(2, timeout=20)

    def crossing(first: int, second: int) -> str:
        with closing(served.target.session(20 * SECOND)) as session:
            session.begin(writes=True)
            session.execute(parse(f"UPDATE jobs SET took = 10 WHERE id = {first}"), {})
            meeting.wait()
            try:
                session.execute(parse(f"UPDATE jobs SET took = 10 WHERE id = {second}"), {})
            except Refused as problem:
                session.rollback()
                return str(problem)
            session.commit()
            return ""

    with ThreadPoolExecutor(2) as pool:
        told = sorted(pool.map(crossing, (1, 2), (2, 1)))
    assert told[0] == ""
    assert "the database refuses: " in told[1]
    assert "eadlock" in told[1]
    assert ask(served, "SELECT count(*) AS n FROM jobs WHERE took = 10", expect={"n": 2}).passed


def test_an_index_is_switched(served: Served) -> None:
    before = served.target.setting("index")
    for value in ("on", "off", "on"):
        served.target.change("index", value)
        assert served.target.setting("index") == value
    served.target.change("index", before or "off")


def test_a_log_of_slow_queries_is_kept(served: Served) -> None:
    log = served.target.slow_log
    if served.kind != "mariadb":
        assert log == ""
        return
    assert ask(served, "SELECT sleep(0.4) AS n").passed
    assert "sleep(0.4)" in Path(log).read_text()


def test_a_client_whose_server_was_killed_goes_on_when_it_is_back(served: Served) -> None:
    if served.supervisor is None:
        pytest.skip("SQLite has no server")
    if served.kind == "postgresql":
        assert ask(served, "CHECKPOINT").passed  # with `flush: second` a kill loses what was committed just before
    test = SqlQuery(served.target, Context(timeout=20 * SECOND), statement="DELETE FROM jobs WHERE id < 9")
    test.setup()
    servers = [each for each in psutil.Process().children() if str(home_of(served)) in " ".join(each.cmdline())]
    backends = [child for each in servers for child in each.children(recursive=True)]
    assert servers
    served.supervisor.kill(NAME)
    assert not psutil.wait_procs(backends, timeout=20)[1]  # PostgreSQL's may outlive their server for a moment
    outcomes = [_once(test)]
    outcomes.append(_once(test))
    served.supervisor.restart(NAME)
    outcomes.append(_once(test))
    test.teardown()
    gc.collect()  # the socket of the connection that was not made, here and not in another test
    lost, refused, passed = outcomes
    assert lost[0] in ("Ambiguous", "Failed"), lost  # Failed: the driver knew before it sent anything
    assert refused[0] == "Failed"
    assert "no connection to the database" in refused[1]
    assert passed == ("", "")


def _once(test: SqlQuery) -> tuple[str, str]:
    try:
        test.run(TestOp())
    except Exception as problem:
        return type(problem).__name__, str(problem)
    return "", ""


def test_nobody_else_comes_into_a_private_server(served: Served) -> None:
    if served.supervisor is None:
        pytest.skip("SQLite has no server")
    assert home_of(served).stat().st_mode & 0o077 == 0
