"""The `sql` monitor: the shapes of answers, on SQLite; what it refuses, and what it says of what is not there."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.database.query_monitor import SqlMonitor
from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import PLAIN, Login
from pileup.model.record import Sample
from pileup.plugin import PluginError

SECRET = "nobody-may-see-this"
JOBS = """
CREATE TABLE jobs (id INTEGER, state TEXT, pool TEXT, took REAL);
INSERT INTO jobs VALUES (1, 'queued', 'a', 0.5), (2, 'queued', 'b', 1.5), (3, 'done', 'a', NULL), (4, 'queued', 'a', 2);
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    with closing(sqlite3.connect(tmp_path / "jobs 1.db")) as connection:
        connection.executescript(JOBS)
    return f"sqlite:///{tmp_path}/jobs 1.db"


def change(url: str, statement: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.execute(statement)
        connection.commit()


def monitor(url: str, query: str, **options: Any) -> SqlMonitor:
    made = SqlMonitor(url=url, query=query, **options)
    made.open()
    return made


def ask(url: str, query: str, **options: Any) -> list[Sample]:
    return list(monitor(url, query, **options).sample())


def test_one_row_of_named_numbers(url: str) -> None:
    query = "SELECT count(*) AS jobs, avg(took) AS took, NULL AS absent, 1e999 AS endless, '12' AS text FROM jobs"
    units = {"took": "s"}
    found = ask(url, query, units=units)
    assert [(each.metric, each.unit) for each in found] == [("jobs", ""), ("took", "s"), ("text", "")]
    assert [each.value for each in found] == pytest.approx([4, 4 / 3, 12])


def test_rows_of_label_and_number(url: str) -> None:
    query = "SELECT state, count(*) FROM jobs GROUP BY state ORDER BY state"
    assert ask(url, query, metric="jobs") == [
        Sample("jobs", 1, "", "state=done"),
        Sample("jobs", 3, "", "state=queued"),
    ]
    assert ask(url, query)[0] == Sample("count___", 1, "", "state=done")


def test_labels_are_named(url: str) -> None:
    query = "SELECT pool, id % 2 AS odd, count(*) AS jobs, max(id) AS last FROM jobs GROUP BY 1, 2 ORDER BY 1, 2"
    assert ask(url, query, labels=["odd", "pool"])[-2:] == [
        Sample("jobs", 1, "", "odd=0,pool=b"),
        Sample("last", 2, "", "odd=0,pool=b"),
    ]
    with pytest.raises(PluginError, match=r"two rows have the labels pool=a; expected .* labels that differ"):
        ask(url, query)


def test_labels_that_are_gone_are_zero_when_asked_for(url: str) -> None:
    query = "SELECT state, count(*) AS jobs FROM jobs WHERE state != 'done' GROUP BY state"
    gaps, zeros = monitor(url, query), monitor(url, query, absent="zero", units={"jobs": "/s"})
    assert list(gaps.sample()) == [Sample("jobs", 3, "", "state=queued")]
    assert list(zeros.sample()) == [Sample("jobs", 3, "/s", "state=queued")]
    change(url, "UPDATE jobs SET state = 'lost'")
    assert list(gaps.sample()) == [Sample("jobs", 4, "", "state=lost")]
    assert set(zeros.sample()) == {Sample("jobs", 4, "/s", "state=lost"), Sample("jobs", 0, "/s", "state=queued")}
    change(url, "DELETE FROM jobs")
    assert set(zeros.sample()) == {Sample("jobs", 0, "/s", "state=lost"), Sample("jobs", 0, "/s", "state=queued")}


def test_signs_of_queries_are_no_parameters(url: str) -> None:
    assert ask(url, "SELECT count(*) AS n FROM jobs WHERE state LIKE 'd%' AND 'a:b' != ':c' AND '?' = '?'") == [
        Sample("n", 1)
    ]


def test_the_file_stays_as_it_is(url: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"the database refuses: attempt to write a readonly database"):
        ask(url, "DELETE FROM jobs RETURNING id")
    assert ask(url, "SELECT count(*) AS n FROM jobs") == [Sample("n", 4)]
    with pytest.raises(PluginError, match=r"unable to open database file"):
        ask(f"sqlite:///{tmp_path}/absent.db", "SELECT 1 AS one")
    assert not (tmp_path / "absent.db").exists()


def test_an_endless_query_is_ended_and_a_file_that_comes_later_is_found(url: str, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS n FROM n"
    with pytest.raises(PluginError, match=r"the database refuses: interrupted"):
        ask(url, endless, timeout="100 ms")
    late = tmp_path / "late.db"
    watching = monitor(f"sqlite:///{late}", "SELECT count(*) AS n FROM t")
    with pytest.raises(PluginError, match=r"unable to open"):
        watching.sample()
    change(f"sqlite:///{late}", "CREATE TABLE t (i)")
    assert list(watching.sample()) == [Sample("n", 0)]
    watching.close()


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        ("SELECT id FROM jobs", {}, r"the answer has several rows and no labels; expected one row, or labels"),
        ("SELECT state FROM jobs", {}, r"no column of numbers; expected one beside the labels \(it has state\)"),
        ("SELECT id, took FROM jobs LIMIT 1", {"metric": "x"}, r"has 2 columns of numbers; .*\(they are id, took\)"),
        ("SELECT id FROM jobs", {"labels": ["nonsuch"]}, r"has no column 'nonsuch'; expected one of id"),
        ("SELECT id, state FROM jobs", {"labels": ["id"]}, r"column 'state' holds 'queued'; expected numbers"),
        ("SELECT id AS a, state FROM jobs", {"series": 3}, r"more than 3 rows; expected fewer"),
        ("SELECT id AS a, id AS b, state FROM jobs WHERE id > 2", {"series": 3}, r"more than 3 numbers"),
        ("SELECT nonsense FROM jobs", {}, r"the database refuses: no such column: nonsense"),
        ("PRAGMA user_version = 3", {}, r"gives no rows|readonly"),
    ],
)
def test_what_goes_wrong_is_told(url: str, query: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        ask(url, query, **options)


def test_what_is_not_installed_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hint = r"is not installed; expected the libraries for databases \(pip install 'pileup\[sql\]'\)"
    for driver, where in (("pymysql", "mariadb://me@127.0.0.1/x"), ("psycopg", "postgresql://me@127.0.0.1/x")):
        monkeypatch.setitem(sys.modules, driver, None)
        with pytest.raises(PluginError, match=rf"{driver} {hint}"):
            monitor(where, "SELECT 1")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(PluginError, match=rf"sqlalchemy {hint}"):
        monitor(url, "SELECT 1")


def test_a_password_does_not_go_to_other_hosts_in_plain() -> None:
    far = Database("mariadb://me@db.example/jobs", Login(SECRET), 10**9)._for_mysql()
    assert set(far["auth_plugin_map"]) == set(PLAIN)
    with pytest.raises(PluginError, match=r"asks for the password in plain; expected TLS"):
        far["auth_plugin_map"]["dialog"](None).authenticate(None)
    assert "auth_plugin_map" not in Database("mariadb://me@127.0.0.1/jobs", Login(SECRET), 10**9)._for_mysql()
    settings = Database("postgresql://me@db.example/jobs", Login(SECRET), 10**9)._for_postgresql()
    assert settings["require_auth"] == "!password"
    assert "require_auth" not in Database("postgresql://me@/x?host=/run/pg", Login(), 10**9)._for_postgresql()
    assert SECRET not in repr(Login(SECRET))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "oracle://me@host/x"}, r"not an address of a database; expected one like sqlite:////"),
        ({"url": "mariadb://me@host:port/x"}, r"not an address of a database"),
        ({"url": f"mariadb://me:{SECRET}@host/x"}, r"holds a password; expected a password_file"),
        ({"url": f"postgresql://me@host/x?Password={SECRET}"}, r"holds a password"),
        ({"url": "sqlite://jobs.db"}, r"names no file of SQLite; expected sqlite:////"),
        ({"url": "sqlite:////x.db", "password": SECRET}, r"SQLite knows no passwords"),
        ({"url": "postgresql://me@host/x", "defaults_file": "x"}, r"defaults_file is for MariaDB and MySQL"),
        ({"password": SECRET, "password_file": "x"}, r"expected one of the two"),
        ({"query": "  "}, r"`query` is empty"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as problem:
        SqlMonitor(**{"url": "mariadb://me@127.0.0.1/x", "query": "SELECT 1", **options})
    assert SECRET not in str(problem.value)
