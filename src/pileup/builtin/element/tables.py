"""The database of the practice computing element: tables as CREAM had them, and what is done for each job."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pymysql import Connection

DATABASE = "creamdb"
REGISTERED, PENDING, IDLE, RUNNING, CANCELLED, DONE_OK, DONE_FAILED = 0, 1, 2, 3, 5, 7, 8
"""Types of job_status."""
PROXY = "DELEGATION_PROXY_CERT_SANDBOX_PATH"
AGAIN = frozenset({1205, 1213})
"""Errors after which a statement is done again: a lock was waited for in vain, or a deadlock was resolved."""
TRIES = 50
TABLES = (
    "CREATE TABLE job (id VARCHAR(64) PRIMARY KEY, userId VARCHAR(64) NOT NULL, creationTime DATETIME NOT NULL) "
    "ENGINE=InnoDB",
    "CREATE TABLE job_status (id BIGINT PRIMARY KEY AUTO_INCREMENT, type INT NOT NULL, jobId VARCHAR(64) NOT NULL, "
    "time_stamp DATETIME NOT NULL, KEY job_status_jobId_idx (jobId)) ENGINE=InnoDB",
    "CREATE TABLE extra_attribute (jobId VARCHAR(64) NOT NULL, name VARCHAR(64) NOT NULL, value TEXT) ENGINE=InnoDB",
)
INDEX = "CREATE INDEX extra_attribute_jobId_idx ON extra_attribute (jobId(14))"
BEFORE = (
    "INSERT INTO job SELECT CONCAT('OLD', LPAD(seq, 9, '0')), 'user0', NOW() FROM seq_1_to_{rows}",
    "INSERT INTO job_status (type, jobId, time_stamp) SELECT 7, CONCAT('OLD', LPAD(seq, 9, '0')), NOW() "
    "FROM seq_1_to_{rows}",
    "INSERT INTO extra_attribute SELECT CONCAT('OLD', LPAD(seq, 9, '0')), '{proxy}', "
    "CONCAT('/opt/glite/var/cream_sandbox/dteam/', seq) FROM seq_1_to_{rows}",
)


class Tables:
    """The tables, by one connection for each thread; every statement is committed for itself."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._local = threading.local()

    def make(self, rows: int, index: bool) -> None:
        """Make the tables again, with the rows of so many jobs that are over."""
        for name in ("job", "job_status", "extra_attribute"):
            self.do(f"DROP TABLE IF EXISTS {name}")
        before = [each.format(rows=rows, proxy=PROXY) for each in BEFORE] if rows else []
        for statement in (*TABLES, *before, *([INDEX] if index else [])):
            self.do(statement)
        self.do("ANALYZE TABLE job, job_status, extra_attribute")

    def register(self, job: str, user: str) -> None:
        """A job is accepted: it has a row in each table."""
        self.do("INSERT INTO job VALUES (%s, %s, NOW())", job, user)
        self.becomes(job, REGISTERED)
        self.do("INSERT INTO extra_attribute VALUES (%s, %s, '')", job, PROXY)

    def prepare(self, job: str) -> None:
        """Before a job is handed over: the statement of the slow log of 2009."""
        path = f"/opt/glite/var/cream_sandbox/dteam/{job}"
        self.do("UPDATE extra_attribute SET value = %s WHERE jobId = %s AND name = %s", path, job, PROXY)
        self.becomes(job, PENDING)

    def becomes(self, job: str, status: int) -> None:
        """A job has a new status."""
        self.do("INSERT INTO job_status (type, jobId, time_stamp) VALUES (%s, %s, NOW())", status, job)

    def remove(self, job: str) -> None:
        """A job is purged: the other statement of that log, and the rest."""
        self.do("DELETE FROM extra_attribute WHERE jobId = %s", job)
        self.do("DELETE FROM job_status WHERE jobId = %s", job)
        self.do("DELETE FROM job WHERE id = %s", job)

    def do(self, statement: str, *values: object) -> None:
        """Do one statement, again as long as it only lost a conflict. Raises pymysql's errors."""
        from pymysql import OperationalError  # noqa: PLC0415  not everybody has it

        for left in reversed(range(TRIES)):
            try:
                self._execute(statement, values)
            except OperationalError as problem:
                if problem.args[0] not in AGAIN or not left:
                    raise
            else:
                return

    def _execute(self, statement: str, values: Sequence[object]) -> None:
        with self._connection().cursor() as cursor:
            cursor.execute(statement, values or None)

    def _connection(self) -> Connection:
        made: Connection | None = getattr(self._local, "connection", None)
        if made is None:
            import pymysql  # noqa: PLC0415  not everybody has it

            made = pymysql.connect(unix_socket=self._socket, user="root", database=DATABASE, autocommit=True)
            self._local.connection = made
        return made
