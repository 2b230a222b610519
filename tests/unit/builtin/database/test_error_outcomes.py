"""What errors of databases mean, by the drivers' own exceptions."""

from __future__ import annotations

import sqlite3
from typing import Any

import psycopg
import psycopg.errors
import pymysql
import pytest
from sqlalchemy.exc import DBAPIError

from pileup.builtin.database.error_outcomes import code_of, verdict_of_error
from pileup.plugin import Ambiguous, Failed, Refused


def wrapped(problem: Exception, invalidated: bool = False) -> DBAPIError:
    return DBAPIError("SELECT 1", None, problem, connection_invalidated=invalidated)


@pytest.mark.parametrize(
    ("problem", "verdict", "told"),
    [
        (
            pymysql.err.OperationalError(1213, "Deadlock found when trying to get lock; try restarting transaction"),
            Refused,
            "the database refuses: Deadlock found when trying to get lock; try restarting transaction (error 1213); "
            "expected the locks that it needs (the same again may pass)",
        ),
        (pymysql.err.OperationalError(1205, "Lock wait timeout exceeded"), Refused, "Lock wait timeout exceeded"),
        (pymysql.err.OperationalError(1040, "Too many connections"), Refused, "one connection for each client"),
        (pymysql.err.OperationalError(1142, "DROP command denied"), Refused, "a user who may do this"),
        (pymysql.err.ProgrammingError(1146, "Table 'a.b' doesn't exist"), Failed, "the database says: Table 'a.b'"),
        (pymysql.err.IntegrityError(1062, "Duplicate entry"), Failed, "Duplicate entry (error 1062)"),
        (psycopg.errors.DeadlockDetected("deadlock detected"), Refused, "deadlock detected"),
        (psycopg.errors.LockNotAvailable("canceling statement due to lock timeout"), Refused, "lock timeout"),
        (psycopg.errors.SerializationFailure("could not serialize access"), Refused, "could not serialize"),
        (psycopg.errors.UndefinedTable('relation "x" does not exist'), Failed, 'relation "x" does not exist'),
    ],
)
@pytest.mark.parametrize("writes", [False, True])
def test_what_the_database_has_answered_is_no_doubt(
    problem: Exception, verdict: type[Exception], told: str, writes: bool
) -> None:
    found = verdict_of_error(wrapped(problem), writes)
    assert type(found) is verdict
    assert told in str(found)


@pytest.mark.parametrize(
    "problem",
    [
        pymysql.err.OperationalError(1969, "Query execution was interrupted (max_statement_time exceeded)"),
        pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query"),
        psycopg.errors.QueryCanceled("canceling statement due to statement timeout"),
        psycopg.errors.AdminShutdown("terminating connection due to administrator command"),
    ],
)
def test_without_an_answer_what_writes_may_have_happened(problem: Exception) -> None:
    assert type(verdict_of_error(wrapped(problem), writes=True)) is Ambiguous
    assert type(verdict_of_error(wrapped(problem), writes=False)) is Failed


def test_a_connection_that_the_driver_gives_up_is_lost() -> None:
    lost = wrapped(psycopg.OperationalError("consuming input failed: server closed the connection"), invalidated=True)
    assert type(verdict_of_error(lost, writes=True)) is Ambiguous


@pytest.mark.parametrize(
    ("problem", "verdict"),
    [
        (pymysql.err.OperationalError(2003, "Can't connect to MySQL server"), Failed),
        (pymysql.err.OperationalError(1045, "Access denied"), Refused),
        (pymysql.err.OperationalError(1040, "Too many connections"), Refused),
        (psycopg.OperationalError("connection refused"), Failed),
    ],
)
def test_without_a_connection_nothing_has_happened(problem: Exception, verdict: type[Exception]) -> None:
    assert type(verdict_of_error(wrapped(problem), writes=True, connecting=True)) is verdict


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (pymysql.err.OperationalError(1213, "x"), 1213),
        (psycopg.errors.DeadlockDetected("x"), "40P01"),
        (psycopg.OperationalError("x"), ""),
        (ValueError("x"), ""),
    ],
)
def test_codes(problem: Exception, code: Any) -> None:
    assert code_of(problem) == code


def test_codes_of_sqlite() -> None:
    with pytest.raises(sqlite3.Error) as told:
        sqlite3.connect(":memory:").execute("SELECT * FROM nonsuch")
    assert code_of(told.value) == "SQLITE_ERROR"
