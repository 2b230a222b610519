"""The `slow-queries` monitor against a private MariaDB, alone and in a whole run."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pileup.builtin.database.read_only import Database
from pileup.builtin.database.slow_queries import SlowQueries
from pileup.builtin.database.source import Login
from pileup.builtin.database.sql_text import parse
from pileup.builtin.database.target import DatabaseTarget
from pileup.cli import main
from pileup.plugin import PluginError
from pileup.plugin.testing import MonitorRecord
from pileup.record import RunFolder
from tests.servers.launched import NAME, supervised
from tests.support import require_program

SECOND = 10**9
QUERIES = 15
"""Those of the suite below."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseTarget]:
    """Yield a MariaDB that calls slow what takes 10 ms."""
    require_program("mariadbd", "apt-get install mariadb-server-core")
    folder = tmp_path_factory.mktemp("db")
    launcher = DatabaseTarget.launcher({"slow_queries": 10 * 10**6}, folder)
    assert launcher is not None
    with supervised(launcher, folder) as supervisor:
        yield DatabaseTarget(supervisor.url(NAME))


def asked(target: DatabaseTarget, query: str) -> None:
    database = Database(target.database_url, Login(), 10 * SECOND)
    database.ask(query, 10)
    database.close()


@contextmanager
def watching(target: DatabaseTarget) -> Iterator[SlowQueries]:
    monitor = SlowQueries(target="db")
    monitor.attach(lambda: target)
    try:
        monitor.open()
        yield monitor
    finally:
        monitor.close()


def test_a_slow_query_is_seen_with_its_time_and_without_its_values(target: DatabaseTarget) -> None:
    with watching(target) as monitor:
        record = MonitorRecord(monitor)
        asked(target, "SELECT SLEEP(0.15), 'a secret' AS text")
        asked(target, "SELECT 1")
        found = {f"{each.metric}[{each.labels}]": each.value for each in monitor.sample()}
        (operation,) = record.operations()
    assert found["number[]"] == 1
    assert 0.15 <= found["query_time[of=largest]"] < 5
    assert operation.name == "SELECT SLEEP(?), ? AS text"
    assert 0.15 * SECOND <= operation.end - operation.start < 5 * SECOND
    assert operation.key == "root@pileup"


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DatabaseTarget]:
    """Yield a PostgreSQL that calls slow what takes 10 ms."""
    require_program("/usr/lib/postgresql/15/bin/postgres", "apt-get install postgresql")
    folder = tmp_path_factory.mktemp("postgresql")
    launcher = DatabaseTarget.launcher({"server": "postgresql", "slow_queries": 10 * 10**6}, folder)
    assert launcher is not None
    with supervised(launcher, folder) as supervisor:
        yield DatabaseTarget(supervisor.url(NAME))
    kept = (folder / "slow-queries.json").read_text()
    assert "pg_sleep(0.15)" in kept, "the log stays when the server has ended"


def test_a_slow_query_of_postgresql_is_seen_with_its_time(postgresql: DatabaseTarget) -> None:
    with watching(postgresql) as monitor:
        record = MonitorRecord(monitor)
        before = time.time_ns()
        asked(postgresql, "SELECT pg_sleep(0.15), 'a secret' AS text")
        after = time.time_ns()
        asked(postgresql, "SELECT 1")
        found = {f"{each.metric}[{each.labels}]": each.value for each in monitor.sample()}
        (operation,) = record.operations()
    assert found["number[]"] == 1
    assert 0.15 <= found["query_time[of=largest]"] < 5
    assert operation.name == "SELECT pg_sleep(?), ? AS text"
    assert before - 10**7 <= operation.start < operation.end <= after + 10**7, "to the millisecond, in UTC"
    assert operation.key == "pileup@postgres"


def test_a_postgresql_that_writes_no_log_in_json_is_told(tmp_path: Path) -> None:
    require_program("/usr/lib/postgresql/15/bin/postgres", "apt-get install postgresql")
    launcher = DatabaseTarget.launcher({"server": "postgresql"}, tmp_path / "db")
    assert launcher is not None
    with supervised(launcher, tmp_path / "db") as supervisor:
        target = DatabaseTarget(supervisor.url(NAME))
        told = r"writes no log of slow queries in JSON; expected one that does"
        with pytest.raises(PluginError, match=told), watching(target):
            pass


def test_a_server_that_writes_no_log_is_told(target: DatabaseTarget) -> None:
    with closing(target.session(10 * SECOND)) as session:
        session.execute(parse("SET GLOBAL slow_query_log = 0"), {})
        told = r"writes no log of slow queries .*; expected one that does"
        try:
            with pytest.raises(PluginError, match=told), watching(target):
                pass
        finally:
            session.execute(parse("SET GLOBAL slow_query_log = 1"), {})
    with watching(target):
        pass


SUITE = """
pileup: 1
title: Slow queries
targets: {db: {kind: database, launch: {slow_queries: 20 ms}}}
tests:
  - name: ask
    use: sql.query
    target: db
    options: {statement: "SELECT SLEEP(0.05), 'a secret'"}
    load: {rate: 5 /s, for: 3 s}
monitors:
  - {use: slow-queries, target: db, every: 200 ms}
  - {use: process, target: db.mariadbd, every: 200 ms}
  - {use: sql, target: db, query: "SELECT count(*) AS tables FROM information_schema.tables", every: 200 ms}
criteria:
  - {id: C1, says: They are seen, check: sum(slow-queries.number) >= 8}
  - {id: C2, says: It is there, check: "max(process.rss[of=all]) > 1 MB"}
  - {id: C3, says: It has tables, check: min(sql.tables) > 10}
  - {id: C4, says: pileup is small, check: max(pileup.rss) < 2 GB}
cooldown: {until: first(slow-queries.number) >= 0, at_most: 3 s}
"""


@pytest.mark.long
def test_a_run_keeps_them_as_operations_of_the_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_program("mariadbd", "apt-get install mariadb-server-core")
    (tmp_path / "suite.yaml").write_text(SUITE)
    code = main(["run", str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "runs"), "--quiet"])
    folder = RunFolder.open(Path(capsys.readouterr().out.strip().splitlines()[-1]))
    results = json.loads((folder.path / "results.json").read_text())
    assert (code, [each["verdict"] for each in results["criteria"]]) == (0, ["met"] * 4)
    found = folder.operations().arrays("operation", "target", "case", "start", "end", where="side = 'server'")
    assert set(found["operation"]) == {"SELECT SLEEP(?), ?"}
    assert (set(found["target"]), set(found["case"]), len(found["end"])) == ({"db"}, {"ask"}, QUERIES)
    assert all(found["end"] - found["start"] >= 0.05 * SECOND)
    (kind,) = results["served"]
    assert (kind["target"], kind["operation"], kind["count"]) == ("db", "SELECT SLEEP(?), ?", QUERIES)
    assert kind["total"] == sum(found["end"] - found["start"])
    page = (folder.path / "report.html").read_text()
    assert "What servers did" in page
    assert "SELECT SLEEP(?), ?" in page
    counts = next(case for case in results["cases"])["operations"][0]["counts"]
    assert counts["passed"] == QUERIES  # those of the server enter no figure of a case
    assert main(["verify", str(folder.path)]) == 0
    again = shutil.copytree(folder.path, folder.path.with_name("again"))
    assert main(["merge", str(folder.path), str(again), "--out", str(tmp_path / "merged")]) == 0
    (merged,) = (tmp_path / "merged").iterdir()
    assert sum(each["count"] for each in json.loads((merged / "results.json").read_text())["served"]) == 2 * QUERIES
