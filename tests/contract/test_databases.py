"""The `sql` monitor does the same on a real MariaDB and a real PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import create_engine, make_url

from pileup.builtin.database.query_monitor import SqlMonitor
from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import DRIVERS
from pileup.model.record import Sample
from pileup.plugin import PluginError
from tests.servers.certificates import make_certificate
from tests.servers.databases import ASCII_PASSWORD, ASCII_READER, PASSWORD, READER, Private, mariadb, postgresql

TABLE = (
    "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state VARCHAR(20), took NUMERIC(10, 2))",
    "INSERT INTO jobs VALUES (1, 'queued', 0.5), (2, 'queued', 1.5), (3, 'done', NULL), (4, '100%', 3)",
)
BY_STATE = "SELECT state, count(*) AS jobs FROM jobs GROUP BY state ORDER BY state"
SLEEP = {
    "mariadb": "SELECT count(*) AS n FROM seq_1_to_1000000 AS a, seq_1_to_1000000 AS b",
    "postgresql": "SELECT 1 AS n FROM pg_sleep(30)",
}
ENDED = {"mariadb": r"max_statement_time exceeded", "postgresql": r"statement timeout"}
READ_ONLY = {"mariadb": r"READ ONLY transaction", "postgresql": r"read-only transaction"}


@pytest.fixture(scope="module", params=["mariadb", "postgresql"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Private]:
    folder = tmp_path_factory.mktemp(request.param)
    with {"mariadb": mariadb, "postgresql": postgresql}[request.param](folder) as private:
        execute(private, *TABLE)
        yield private


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text(PASSWORD + "\n")
    return path


def engine_of(server: Private) -> Any:
    url = make_url(server.url).set(drivername=DRIVERS[kind(server)])
    password = PASSWORD.encode() if kind(server) == "mariadb" else PASSWORD  # PyMySQL takes text for Latin-1
    return create_engine(url, connect_args={"password": password})


def execute(server: Private, *statements: str) -> None:
    engine = engine_of(server)
    with engine.begin() as connection:
        for statement in statements:
            connection.execution_options(no_parameters=True).exec_driver_sql(statement)
    engine.dispose()


def kind(server: Private) -> str:
    return server.url.partition(":")[0]


def ask(server: Private, query: str, **options: Any) -> list[Sample]:
    monitor = SqlMonitor(**{"url": server.url, "query": query, **options})
    monitor.open()
    try:
        return list(monitor.sample())
    finally:
        monitor.close()


def test_rows_and_numbers_of_every_type(server: Private, password_file: Path) -> None:
    wanted = [
        Sample("jobs", 1, "", "state=100%"),
        Sample("jobs", 1, "", "state=done"),
        Sample("jobs", 2, "", "state=queued"),
    ]
    for url in (server.url, server.socket_url):
        assert ask(server, BY_STATE, url=url, password_file=str(password_file)) == wanted
    query = (
        "SELECT count(*) AS n, sum(took) AS took, min(NULL) AS absent, 1 = 1 AS yes FROM jobs WHERE state LIKE '%e%'"
    )
    assert ask(server, query, password=PASSWORD) == [Sample("n", 3), Sample("took", 2), Sample("yes", 1)]


def test_what_is_asked_changes_nothing(server: Private) -> None:
    for statement in ("DELETE FROM jobs", "INSERT INTO jobs VALUES (9, 'x', 1)", "DROP TABLE jobs"):
        with pytest.raises(PluginError, match=READ_ONLY[kind(server)]):
            ask(server, statement, password=PASSWORD)
    assert ask(server, "SELECT count(*) AS n FROM jobs", password=PASSWORD) == [Sample("n", 4)]


def test_a_query_that_takes_too_long_is_ended(server: Private) -> None:
    begin = time.monotonic()
    with pytest.raises(PluginError, match=ENDED[kind(server)]):
        ask(server, SLEEP[kind(server)], password=PASSWORD, timeout="200 ms")
    assert time.monotonic() - begin < 20, "not by its own end"


def test_new_rows_are_seen_by_the_same_connection(server: Private) -> None:
    monitor = SqlMonitor(url=server.url, query="SELECT count(*) AS n FROM jobs", password=PASSWORD)
    assert list(monitor.sample()) == [Sample("n", 4)]
    execute(server, "INSERT INTO jobs VALUES (5, 'queued', 1)")
    assert list(monitor.sample()) == [Sample("n", 5)]
    execute(server, "DELETE FROM jobs WHERE id = 5")
    monitor.close()


def test_a_wrong_password_is_refused_and_not_told(server: Private, password_file: Path) -> None:
    password_file.write_text("wrong-and-secret\n")
    with pytest.raises(
        PluginError, match=rf"the database refuses: .*(Access denied|authentication failed).*{READER}"
    ) as told:
        ask(server, "SELECT 1 AS n", password_file=str(password_file))
    assert "wrong-and-secret" not in str(told.value)
    password_file.write_text("\n")
    with pytest.raises(PluginError, match=r"password_file .* is empty"):
        ask(server, "SELECT 1 AS n", password_file=str(password_file))
    password_file.unlink()
    with pytest.raises(PluginError, match=r"password_file .* cannot be read: No such file"):
        ask(server, "SELECT 1 AS n", password_file=str(password_file))


def test_a_password_file_is_read_for_each_connection(server: Private, password_file: Path) -> None:
    monitor = SqlMonitor(url=server.url, query="SELECT 1 AS n", password_file=str(password_file))
    password_file.write_text("not yet\n")
    with pytest.raises(PluginError):
        monitor.sample()
    password_file.write_text(PASSWORD)
    assert list(monitor.sample()) == [Sample("n", 1)]
    monitor.close()


def test_tls_needs_the_right_authority(server: Private, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_text(make_certificate()[0])
    assert ask(server, "SELECT 1 AS n", password=PASSWORD, ca=server.ca) == [Sample("n", 1)]
    with pytest.raises(PluginError, match=r"(?i)certificate verify failed"):
        ask(server, "SELECT 1 AS n", password=PASSWORD, ca=str(other))
    with pytest.raises(PluginError, match=r"ca .*nonsuch cannot be read"):
        ask(server, "SELECT 1 AS n", password=PASSWORD, ca=str(tmp_path / "nonsuch"))


def test_what_is_never_sent_in_plain_is_not_asked_for_here(server: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Database, "_near", lambda _: False)  # as to a server elsewhere
    assert ask(server, "SELECT 1 AS n", password=PASSWORD) == [Sample("n", 1)]


def test_the_password_is_in_no_list_of_processes(server: Private) -> None:
    monitor = SqlMonitor(url=server.url, query="SELECT 1 AS n", password=PASSWORD)
    monitor.sample()
    words = [word for process in psutil.process_iter(["cmdline"]) for word in process.info["cmdline"] or []]
    assert words
    assert not [word for word in words if PASSWORD in word]
    monitor.close()


def test_an_option_file_of_mariadb(server: Private, tmp_path: Path) -> None:
    if kind(server) != "mariadb":
        pytest.skip("option files are MariaDB's")
    port = server.url.rpartition(":")[2].partition("/")[0]
    options = tmp_path / "my.cnf"
    options.write_text(f"[client]\nuser={ASCII_READER}\npassword={ASCII_PASSWORD}\nhost=127.0.0.1\nport={port}\n")
    assert ask(server, "SELECT count(*) AS n FROM jobs", url="mariadb:///jobs", defaults_file=str(options)) == [
        Sample("n", 4)
    ]
    with pytest.raises(PluginError, match=r"defaults_file .* cannot be read"):
        ask(server, "SELECT 1", url="mariadb:///jobs", defaults_file=str(tmp_path / "nonsuch"))


def test_a_server_that_was_down_is_asked_again(server: Private, password_file: Path) -> None:
    monitor = SqlMonitor(url=server.url, query="SELECT count(*) AS n FROM jobs", password_file=str(password_file))
    assert list(monitor.sample()) == [Sample("n", 4)]
    server.kill()
    for _ in range(2):
        with pytest.raises(PluginError, match=r"the database refuses: .*(refused|Can't connect|closed)"):
            monitor.sample()
    server.restart()
    assert list(monitor.sample()) == [Sample("n", 4)]
    monitor.close()
