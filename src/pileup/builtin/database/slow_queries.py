"""Watches the log of slow queries of MariaDB, MySQL or PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pileup.builtin.database.of_target import database_of
from pileup.builtin.database.postgresql_log import slow_query
from pileup.builtin.database.read_only import Database
from pileup.builtin.database.slow_log import SlowLog, SlowQuery
from pileup.plugin import Monitor, PluginError, Sample, Target, TargetError, option
from pileup.plugin.logs import by_line

SECOND = 10**9
PATIENCE = 10 * SECOND
MOST_ROWS = 2**32 - 1
"""What the record has room for."""
WHERE_POSTGRESQL = (
    "SELECT pg_current_logfile('jsonlog'), current_setting('data_directory'), "
    "(SELECT setting FROM pg_settings WHERE name = 'log_min_duration_statement')"
)
"""A user that is not pg_monitor may not ask for the file."""
WHERE = "SELECT @@GLOBAL.slow_query_log, @@GLOBAL.log_output, @@GLOBAL.slow_query_log_file, @@GLOBAL.datadir"


class SlowQueries(Monitor):
    """Follow the slow query log of a MariaDB, MySQL or PostgreSQL on this machine.

        targets: {db: {kind: database, launch: {slow_queries: 100 ms}}}
        monitors: [{use: slow-queries, target: db}]
        criteria:
          - {id: C1, says: No query takes 5 s, check: "max(slow-queries.query_time[of=largest]) < 5 s"}

    `target` is a target with a database: kind database, or slurm with accounting; pileup asks it for the path of its
    log. `file` is the path of a log. The server must write it: set `slow_query_log` on and `log_output` FILE;
    `long_query_time` says what is slow. With `host: ssh://…`, `file` is read on that host. PostgreSQL (15 and later)
    must write its log in JSON: `logging_collector` on, `log_destination` jsonlog, `log_min_duration_statement`; a
    `file` that ends in .json is such a log. It reports neither locks nor rows.

    | metric | unit | what |
    |---|---|---|
    | `number` | | slow queries since the sample before |
    | `rate` | /s | the same |
    | `query_time[of=all]` `mean` `largest` | s | how long they took |
    | `lock_time[of=all]` `mean` `largest` | s | the part of it that they waited for locks |
    | `rows_examined[of=all]` `mean` `largest` | | rows that they examined |

    Each query is also an operation of the server in the record (`side` is server): its statement without literals,
    start and end, rows examined as `calls`, bytes sent, first byte after the locks. Reports list the kinds of
    statements that took the most time. The log has start times in whole seconds. Entries from before the run are left
    out.
    """

    name = "slow-queries"
    records = True

    target: str | None = option(None, help="name of a target of the suite that has a database")
    file: str | None = option(None, help="path of the log (slow_query_log_file)")

    def check(self) -> None:
        """Refuse two logs, and none."""
        if (self.target is None) == (self.file is None):
            raise ValueError("one log is read; expected `target` or `file`")
        self._log: SlowLog | None = None
        self._watched: Target | None = None
        self._since = time.time_ns()
        self._moment = time.monotonic()

    def open(self) -> None:
        """Find the log. Raises PluginError, TargetError when nobody knows where it is."""
        self._reached()

    def sample(self) -> Iterator[Sample]:
        """Read what was added. Raises PluginError, TargetError."""
        found = list(self._reached().entries())
        self._record(found)
        moment = time.monotonic()
        passed, self._moment = moment - self._moment, moment
        yield Sample("number", len(found))
        if passed > 0:
            yield Sample("rate", len(found) / passed, "/s")
        yield from _summary("query_time", [each.took / SECOND for each in found], "s")
        yield from _summary("lock_time", [each.locked / SECOND for each in found], "s")
        yield from _summary("rows_examined", [each.examined for each in found], "")

    def _record(self, found: Sequence[SlowQuery]) -> None:
        for each in found:
            self.record(
                each.kind,
                f"{each.user}@{each.schema}" if each.schema else each.user,
                start=each.begin,
                end=each.begin + each.took,
                first_byte=each.begin + each.locked,
                bytes=each.size,
                calls=min(each.examined, MOST_ROWS),
            )

    def close(self) -> None:
        """Let go of the log."""
        if self._log is not None:
            self._log.close()

    def _reached(self) -> SlowLog:
        """Return the log, another one after the watched target has become another."""
        if self.file is not None:
            self._log = self._log or _log(Path(self.file).expanduser(), self._since)
        elif (target := self._still_there()) is not self._watched or self._log is None:
            path = _path(target)
            self.close()
            self._log, self._watched = _log(path, self._since), target
        return self._log

    def _still_there(self) -> Target:
        """Return the watched target; of one that has ended the log is read to its end. Raises TargetError."""
        try:
            return self.watched()
        except TargetError:
            if self._watched is None:
                raise
            return self._watched


def _log(path: Path, since: int) -> SlowLog:
    return SlowLog(path, since, by_line(slow_query)) if path.suffix == ".json" else SlowLog(path, since)


def _path(target: Target) -> Path:
    """Ask a server where its log is. Raises PluginError when it writes none, or has none."""
    url = str(getattr(target, "database_url", ""))
    with closing(database_of(target, PATIENCE)) as database:
        if url.startswith("postgresql"):
            return _of_postgresql(database, target)
        _, rows = database.ask(WHERE, 1)
    on, output, file, folder = (str(value) for value in rows[0])
    if on not in {"1", "ON"} or "FILE" not in output:
        told = "writes no log of slow queries into a file"
        hint = "SET GLOBAL slow_query_log = 1, log_output = 'FILE'; or `slow_queries: 1 s` under `launch`"
        raise PluginError(f"the server of target {target.kind} {told}", "one that does", hint)
    return Path(folder) / file


def _of_postgresql(database: Database, target: Target) -> Path:
    _, rows = database.ask(WHERE_POSTGRESQL, 1)
    path, folder, least = rows[0]
    if path is None or int(least) < 0:
        told = "writes no log of slow queries in JSON"
        hint = (
            "logging_collector = on, log_destination = jsonlog, log_min_duration_statement = 1000; "
            "or `slow_queries: 1 s` under `launch`"
        )
        raise PluginError(f"the server of target {target.kind} {told}", "one that does", hint)
    return Path(str(folder)) / str(path)


def _summary(metric: str, values: Sequence[float], unit: str) -> Iterator[Sample]:
    """Yield the sum, the largest (0 of none: a limit is kept then), and the mean where there are any."""
    yield Sample(metric, sum(values), unit, "of=all")
    yield Sample(metric, max(values, default=0), unit, "of=largest")
    if values:
        yield Sample(metric, sum(values) / len(values), unit, "of=mean")
