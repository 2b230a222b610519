"""The test `sql.query` on SQLite: what it does, times, judges and reports, and what it refuses."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.database import mariadb
from pileup.builtin.database.query_test import SqlQuery
from pileup.builtin.database.target import DatabaseTarget
from pileup.model.errors import SuiteError
from pileup.model.record import Outcome, Sample
from pileup.plugin import Context
from pileup.plugin.testing import Iteration, run_once
from pileup.suite import load
from tests.support import ROOT

TABLES = "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO jobs VALUES (1, 'queued'), (2, 'done');"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "jobs 1.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
    return path


@pytest.fixture
def target(file: Path) -> DatabaseTarget:
    return DatabaseTarget(f"sqlite:///{file}")


def ask(target: DatabaseTarget, statement: str = "", **options: Any) -> Iteration:
    given = {"statement": statement} if statement else {}
    return run_once(SqlQuery, target, **given, **options)


def rows(file: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def test_one_statement_is_one_operation_and_its_numbers_are_samples(target: DatabaseTarget) -> None:
    done = ask(target, 'SELECT count(*) AS jobs, max(id) AS "last one", state FROM jobs')
    assert done.passed, done.error
    assert [(each.name, each.calls) for each in done.operations] == [("select", 1)]
    assert done.numbers == (Sample("jobs", 2.0), Sample("last_one", 2.0))
    named = ask(target, "SELECT 7 AS bytes").numbers
    assert [(each.metric, each.value) for each in named] == [("bytes_", 7)], "a check takes `bytes` for what was moved"
    assert ask(target, "SELECT count(*) AS jobs FROM jobs", samples=False).numbers == ()


def test_several_statements_are_timed_one_by_one_and_committed_each(target: DatabaseTarget, file: Path) -> None:
    statements = [
        "INSERT INTO jobs VALUES (3, 'new')",
        "UPDATE jobs SET state = 'x'",
        "INSERT INTO jobs VALUES (3, '')",
    ]
    done = ask(target, statements=statements)
    assert [each.name for each in done.operations] == ["insert", "update", "insert"]
    assert done.outcome is Outcome.FAILED
    assert done.error == (
        "the database says: UNIQUE constraint failed: jobs.id; expected a statement that it understands and can do"
    )
    assert rows(file, "SELECT count(*) FROM jobs WHERE state = 'x'") == [(3,)]


def test_a_transaction_is_all_or_nothing(target: DatabaseTarget, file: Path) -> None:
    statements = ["INSERT INTO jobs VALUES (3, 'new')", "INSERT INTO jobs VALUES (1, 'twice')"]
    assert ask(target, statements=statements, transaction=True).outcome is Outcome.FAILED
    assert rows(file, "SELECT count(*) FROM jobs") == [(2,)]
    done = ask(target, statements=statements[:1], transaction=True)
    assert done.passed, done.error
    assert [each.name for each in done.operations] == ["insert", "commit"]
    assert rows(file, "SELECT count(*) FROM jobs") == [(3,)]


def test_a_script_of_many_statements(target: DatabaseTarget, file: Path) -> None:
    (file.parent / "tables.sql").write_text("-- two; tables\nCREATE TABLE a (n);\nINSERT INTO a VALUES (';');\n")
    done = run_once(SqlQuery, target, context=Context(folder=file.parent), script="tables.sql", rows=1)
    assert done.passed, done.error
    assert rows(file, "SELECT * FROM a") == [(";",)]
    with pytest.raises(Exception, match=r"script .*nonsuch cannot be read: No such file"):
        run_once(SqlQuery, target, context=Context(folder=file.parent), script="nonsuch")


def test_parameters_are_drawn_by_seed_test_and_number(target: DatabaseTarget, file: Path) -> None:
    options = {"parameters": {"id": {"sequence": 10}, "state": {"uniform": [1, 1000]}}}
    text = "INSERT INTO jobs VALUES (:id, ':id ' || :state)"
    for number in (0, 1):
        assert run_once(SqlQuery, target, number=number, statement=text, **options).passed
    (first, second) = rows(file, "SELECT id, state FROM jobs WHERE id >= 10")
    assert (first[0], second[0]) == (10, 11)
    assert first[1].startswith(":id ")
    assert first[1] != second[1]
    assert run_once(SqlQuery, target, number=0, statement="DELETE FROM jobs WHERE id >= 10").passed
    assert run_once(SqlQuery, target, number=1, statement=text, **options).passed
    assert rows(file, "SELECT id, state FROM jobs WHERE id >= 10") == [second]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rows": 1}, "2 rows were answered; expected 1"),
        ({"expect": {"jobs": "2"}}, "the answer has no column 'jobs'; expected one of id, state"),
        ({"expect": {"id": "> 1"}}, "id is 1; expected > 1"),
    ],
)
def test_answers_are_judged(target: DatabaseTarget, options: dict[str, Any], told: str) -> None:
    done = ask(target, "SELECT id, state FROM jobs ORDER BY id", **options)
    assert (done.outcome, done.error) == (Outcome.FAILED, told)


def test_rows_changed_are_judged(target: DatabaseTarget) -> None:
    assert ask(target, "UPDATE jobs SET state = 'x'", rows=2).passed
    assert ask(target, "DELETE FROM jobs WHERE id > 5", rows=1).error == "0 rows were changed; expected 1"


def test_a_lock_that_is_not_had_is_refused(target: DatabaseTarget, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for transaction in (False, True):
            done = run_once(
                SqlQuery,
                target,
                context=Context(timeout=50 * 10**6),
                statement="DELETE FROM jobs",
                transaction=transaction,
            )
            assert done.outcome is Outcome.REFUSED
            assert done.error.startswith("the database refuses: database is locked; expected the locks that it needs")
    assert ask(target, "DELETE FROM jobs", rows=2).passed


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "


@pytest.mark.parametrize(
    ("statement", "outcome"),
    [
        (ENDLESS + "SELECT max(x) FROM c", Outcome.FAILED),
        (ENDLESS + "INSERT INTO jobs SELECT x + 10, '' FROM c", Outcome.AMBIGUOUS),
    ],
)
def test_what_takes_too_long_is_ended(target: DatabaseTarget, statement: str, outcome: Outcome) -> None:
    done = run_once(SqlQuery, target, context=Context(timeout=100 * 10**6), statement=statement)
    assert done.outcome is outcome
    assert done.error.startswith("the database ended it: interrupted; expected an answer within the timeout")


def test_a_database_that_is_not_there_yet_is_asked_again(tmp_path: Path) -> None:
    target = DatabaseTarget(f"sqlite:///{tmp_path}/folder/jobs.db")
    test = SqlQuery(target, statement="SELECT 1 AS one")
    test.setup()
    (tmp_path / "folder").mkdir()
    test.teardown()
    done = ask(target, "SELECT 1 AS one")
    assert done.passed, done.error
    gone = DatabaseTarget(f"sqlite:///{tmp_path}/nowhere/jobs.db")
    failed = ask(gone, "SELECT 1 AS one")
    assert failed.outcome is Outcome.FAILED
    assert failed.error == "no connection to the database: unable to open database file; expected one that answers"
    assert [each.name for each in failed.operations] == ["connect"]


def test_answers_are_told_where_a_suite_compares_them(target: DatabaseTarget) -> None:
    def told(statement: str, **options: Any) -> list[Sample]:
        context = Context(compared=True)
        done = run_once(SqlQuery, target, context=context, statement=statement, samples=False, **options)
        return [each for each in done.numbers if each.metric == "answer_digest"]

    (first,) = told("SELECT id FROM jobs ORDER BY id")
    assert told("SELECT id * 1.0 AS other FROM jobs ORDER BY id DESC") == [first]
    assert told("SELECT id FROM jobs WHERE id > 1") != [first]
    assert told("SELECT id FROM jobs ORDER BY id DESC", ordered=True) != told("SELECT id FROM jobs", ordered=True)
    assert told("DELETE FROM jobs") == []


SUITE = """
pileup: 1
title: bad
targets:
  db:
    kind: database
    launch: {bufer_pool: 1 GiB}
    options:
      switches:
        index: {set: {on: CREATE INDEX i ON t (n), off: DROP INDEX i}}
        other: {set: {on: CREATE INDEX i ON t (n), off: DROP INDEX i}, default: of}
        third: {set: {on: CREATE INDEX i ON t (n), off: DROP INDEX i}, default: off}
scan: {db.third: [on, of], db.index: [on]}
tests:
  - {name: none, use: sql.query, target: db}
  - {name: both, use: sql.query, target: db, options: {statement: SELECT 1, script: a.sql}}
  - {name: two, use: sql.query, target: db, options: {statement: "SELECT 1; SELECT 2"}}
  - {name: unknown, use: sql.query, target: db, options: {statement: "SELECT :job"}}
  - {name: unused, use: sql.query, target: db, options: {statement: "SELECT 1", parameters: {job: 1}}}
  - {name: law, use: sql.query, target: db, options: {statement: "SELECT :job", parameters: {job: {uniform: [9, 1]}}}}
  - {name: order, use: sql.query, target: db, options: {statement: "SELECT 1 AS one", expect: {one: ">= many"}}}
"""
FAULTS = """
7:14: unknown word 'bufer_pool'; expected 'buffer_pool'
10:16: `index`: nothing gives the value to restore; expected `get: QUERY`, `default: VALUE`, or `restore: never`
11:16: `other`: `default` is 'of'; expected one of on, off
13:23: db.third has no value 'of'; expected 'off'
15:5: 'sql.query': nothing says what is done; expected one of statement, statements, script
16:55: 'sql.query': statement and script are given; expected one of statement, statements, script
17:54: 'sql.query': 'SELECT 1; SELECT 2' has 2 statements where one belongs; expected one, or a list of `statements`
18:58: 'sql.query': parameter :job has no values; expected job under `parameters`
19:57: 'sql.query': no statement has :job; expected the parameters that there are, none
20:99: `job`: uniform goes from a larger to a smaller number; expected [from, to] with from <= to
21:56: 'sql.query': '>= many' compares with no number; expected one like '>= 100'
"""


def test_every_fault_of_a_suite_is_told_at_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb.shutil, "which", lambda name, path: f"/usr/bin/{name}")
    path = tmp_path / "bad.yaml"
    path.write_text(SUITE)
    with pytest.raises(SuiteError) as told:
        load(path)
    assert [str(each).removeprefix(f"{path}:") for each in told.value.problems] == FAULTS.strip().splitlines()


PAGE = (ROOT / "docs/database.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL))
def test_the_examples_of_the_page_are_right(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mariadb.shutil, "which", lambda name, path: f"/usr/bin/{name}")
    (tmp_path / "suite.yaml").write_text(text)
    assert load(tmp_path / "suite.yaml").cases
