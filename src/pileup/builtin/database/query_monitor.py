"""Numbers from any query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import SecretStr

from pileup.builtin.database.of_target import database_of
from pileup.builtin.database.query_samples import Shape, samples_of
from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import Login, check_url
from pileup.plugin import Duration, Monitor, PluginError, Sample, Target, option


class SqlMonitor(Monitor):
    """Ask a database at every interval: SQLite, MariaDB, MySQL or PostgreSQL. Needs `pip install 'pileup[sql]'`.

    Each column of numbers is a metric of that name; columns listed in `labels` distinguish rows. Without `labels`,
    columns with text are labels. So one row `SELECT count(*) AS jobs, …` gives a metric for each column, and rows
    `SELECT state, count(*) AS jobs … GROUP BY state` give `jobs[state=…]`. NULL leaves a gap.

        monitors:
          - use: sql
            name: slurm
            every: 10 s
            url: mariadb://slurm@127.0.0.1/slurm_acct
            password_file: /etc/pileup/slurm
            query: SELECT state, count(*) AS jobs FROM test_job_table GROUP BY state
            labels: [state]
            absent: zero

    In a check: `max(slurm.jobs[state=5]) < 10`. Urls, and those of a unix socket:

    - `sqlite:////var/lib/service/jobs.db`, a file
    - `mariadb://user@host:3306/name` or `mysql://…`, `mariadb://user@/name?unix_socket=/run/db.sock`
    - `postgresql://user@host:5432/name`, `postgresql://user@/name?host=/run/postgresql`

    `target` instead of `url` queries the database of a target of the suite: kind database, slurm with accounting, or a
    private ARC CE.

    The password is read from `password_file`, for MariaDB and MySQL also from `defaults_file`, whose `[client]` may
    also have user, host and socket; PostgreSQL looks into `~/.pgpass` by itself. `password` is for a variable of the
    suite. None of them reaches the record, but a password given by `--set` is visible in the list of processes.

    Every query runs in a read-only transaction, which is rolled back. The database ends a query after `timeout` (on
    MySQL only SELECT). A query that fails or returns more than `series` numbers leaves a gap, and the reason is
    recorded once. A lost connection is made again.
    """

    name = "sql"

    url: str | None = option(None, help="the database, without a password, e.g. postgresql://reader@127.0.0.1/jobs")
    target: str | None = option(None, help="name of a target of the suite whose database is queried")
    query: str = option(help="the query to run at every interval")
    labels: list[str] = option([], help="columns whose values are labels; default: those that hold text")
    metric: str | None = option(
        None, help="name of the metric when one column holds numbers; default: that of the column"
    )
    units: dict[str, str] = option({}, help="name of a metric: its unit, for charts and checks")
    absent: Literal["gap", "zero"] = option(
        "gap", help="what a series records when its labels are missing from an answer: a gap, or zero"
    )
    series: int = option(1000, ge=1, le=100_000, help="most numbers that an answer may hold")
    timeout: Duration = option(10 * 10**9, ge=10**6, help="how long a query, and a connection, may take")
    password: SecretStr | None = option(None, help="the password; best a $variable")
    password_file: str | None = option(None, help="file whose first line is the password")
    defaults_file: str | None = option(None, help="option file of MariaDB or MySQL, as ~/.my.cnf")
    ca: str | None = option(None, help="file with the CA certificates to verify the server by; TLS is then required")

    def check(self) -> None:
        """Refuse an address that is none or holds a password, and several ways to give one."""
        if not self.query.strip():
            raise ValueError("`query` is empty; expected one like SELECT count(*) AS jobs FROM jobs")
        if (self.url is None) == (self.target is None):
            raise ValueError("one database is asked; expected `url` or `target`")
        if self.password is not None and self.password_file is not None:
            raise ValueError("there is a password and a password_file; expected one of the two")
        secret = self.password.get_secret_value() if self.password is not None else None
        login = Login(secret, self.password_file, self.defaults_file, self.ca)
        if self.url is None and login.given:
            raise ValueError("`target` is given with a login; expected `target` alone: it has its own credentials")
        self._database: Database | None = None
        self._watched: Target | None = None
        if self.url is not None:
            check_url(self.url, login)
            self._database = Database(self.url, login, self.timeout)
        self._shape = Shape(tuple(self.labels), self.metric, self.series)
        self._seen: dict[tuple[str, str], Sample] = {}

    def open(self) -> None:
        """Load what speaks to the database. Raises PluginError when that is not installed."""
        if self._database is not None:
            self._database.open()

    def sample(self) -> Iterator[Sample]:
        """Ask once. Raises PluginError, TargetError."""
        columns, rows = self._reached().ask(self.query, self.series)
        found = {(each.metric, each.labels): each for each in samples_of(columns, rows, self._shape, self.units)}
        if self.absent == "zero":
            gone = {key: Sample(each.metric, 0.0, each.unit, each.labels) for key, each in self._seen.items()}
            found = {**gone, **found}
            self._seen = dict(found)
        return iter(found.values())

    def close(self) -> None:
        """Close the connection."""
        if self._database is not None:
            self._database.close()

    def _reached(self) -> Database:
        """Return the database, another one after the watched target has become another."""
        if self.url is None and (target := self.watched()) is not self._watched:
            self.close()
            self._watched, self._database = target, database_of(target, self.timeout)
        if self._database is None:
            raise PluginError("there is no database", "`url` or `target`")
        return self._database
