"""What an error of a database means for who asked: failed, refused, or ambiguous, in the database's own words.

Numbers: https://mariadb.com/kb/en/mariadb-error-codes/, https://www.postgresql.org/docs/current/errcodes-appendix.html
and https://www.sqlite.org/rescode.html.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from pileup.builtin.database.source import words_of
from pileup.plugin import Ambiguous, Failed, Refused

if TYPE_CHECKING:
    from sqlalchemy.exc import DBAPIError

    from pileup.plugin import VerdictException

LOCKED = {1205, 1213, 1020, 3572, "40P01", "40001", "55P03", "SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_BUSY_SNAPSHOT"}
"""Somebody else holds what it needs, or all wait for each other: nothing was done, and again it may go well."""
FULL = {1040, 1203, 1226, "53300", "57P03"}
"""No more connections."""
FORBIDDEN = {1044, 1045, 1142, 1143, 1227, 1290, 1698, 1792, "28P01", "28000", "42501", "25006", "SQLITE_READONLY"}
"""Not for this user, or not on this server."""
LATE = {1317, 1969, 3024, "57014", "SQLITE_INTERRUPT"}
"""Ended by the database because it took too long."""
LOST = {1053, 1927, 2006, 2013, 2055, 4031, "57P01", "57P02"}
"""The connection, while an answer was waited for."""
MOST = 400
"""Characters of what a database says."""
REFUSALS = (
    (LOCKED, "the locks that it needs (the same again may pass)"),
    (FULL, "one connection for each client"),
    (FORBIDDEN, "a user who may do this"),
)
"""Codes of what a database refuses, and what had been expected."""


def code_of(problem: object) -> int | str:
    """Return the number or the name that a driver gives an error, empty when there is none."""
    if isinstance(problem, sqlite3.Error):
        return str(getattr(problem, "sqlite_errorname", ""))
    given: tuple[Any, ...] = getattr(problem, "args", ())
    if given and isinstance(given[0], int):  # of MariaDB, whose states say less than its numbers
        return given[0]
    state = getattr(problem, "sqlstate", None)
    return state if isinstance(state, str) else ""


def verdict_of_error(problem: DBAPIError, writes: bool, connecting: bool = False) -> VerdictException:
    """Return the exception that ends an iteration for an error of a statement, or of `connecting`.

    Where it `writes`, no answer means that it may have happened: then it is ambiguous.
    """
    code, told = code_of(problem.orig), words_of(problem.orig)[:MOST]
    for codes, expected in REFUSALS:
        if code in codes:
            return Refused(f"the database refuses: {told}", expected)
    if connecting:
        return Failed(f"no connection to the database: {told}", "one that answers")
    if code in LATE:
        return _unanswered(
            writes, f"the database ended it: {told}", "an answer within the timeout", "raise `timeout`, or ask for less"
        )
    if code in LOST or problem.connection_invalidated or (isinstance(code, str) and code.startswith("08")):
        return _unanswered(writes, f"the connection was lost: {told}", "an answer")
    return Failed(f"the database says: {told}", "a statement that it understands and can do")


def _unanswered(writes: bool, what: str, expected: str, hint: str = "") -> VerdictException:
    return (Ambiguous if writes else Failed)(what, expected, hint)
