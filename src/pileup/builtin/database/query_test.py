"""Statements of SQL, timed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator

from pileup.builtin.database.answers import expectation, mismatch, numbers
from pileup.builtin.database.parameters import DrawContext, Parameter
from pileup.builtin.database.session import Reply, Session
from pileup.builtin.database.sql_text import Statement, parse, split
from pileup.builtin.monitors.labels import checkable_name
from pileup.plugin import FIELDS, Count, Failed, Op, Test, option
from pileup.plugin.units import counted

Wanted = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, (int, float)) else value)]
CONNECT = "connect"
COMMIT = "commit"


class SqlQuery(Test):
    """Run one or several SQL statements. Every client has its own connection.

    `statement` is one statement, `statements` are several, one after another; `script` is a file of statements
    separated by semicolons, for instance to make and fill tables. Each statement is a timed operation with the name of
    its verb (`select`, `insert`, …), and its whole answer is fetched. Each is committed separately, or all together
    with `transaction` (then `commit` is timed too, and a failure is rolled back).

    `:name` in a statement is a parameter; `parameters` gives its values, drawn for each iteration:

        - name: update
          use: sql.query
          target: db
          options:
            statement: UPDATE extra_attribute SET value = :value WHERE jobId = :job
            parameters: {job: {uniform: [1, 50000]}, value: {unique: /sandbox/}}
          load: {clients: 5, for: 1 min}

    | values | |
    |---|---|
    | `5`, `text`, `{fixed: 5}` | always this |
    | `{uniform: [1, 50000]}` | whole numbers, both ends too; `[0.5, 9]` any number in between |
    | `{normal: [100, 15]}` | mean, standard deviation |
    | `{choice: [done, failed]}` | one of these |
    | `{sequence: 50001}` | this number, then the next, over all clients of the case |
    | `{unique: job-}` | a text with this beginning, unique for every iteration of this and any other run |

    `rows` and `expect` check the answer of the last statement. The numbers in its first row are samples with the names
    of their columns, so that criteria can use them: `last(failed.jobs) == 0` for `SELECT count(*) AS jobs FROM …` in a
    test `failed`. A column with the name of a field that every test has (`bytes`) becomes `bytes_`. To require equal
    answers of several tests, list them in `equivalent` of the suite.

    An error of the database fails the iteration, with its message. The iteration is refused if the database resolves a
    conflict (a deadlock, a lock wait timeout), has no connection left or denies access. If the connection is lost, or
    the database ends a statement after `timeout`, it is ambiguous if it writes, else failed. The next iteration makes a
    lost connection again, as the operation `connect`.
    """

    name = "sql.query"
    needs = "database"

    statement: str | None = option(None, help="one statement of SQL")
    statements: list[str] = option([], help="several, one after another")
    script: str | None = option(None, help="file with statements, relative to the suite")
    transaction: bool = option(False, help="do them in one transaction")
    parameters: dict[str, Parameter] = option({}, help="the values of each parameter `:name`, see above")
    rows: Count | None = option(None, help="rows that the last one must return, or change")
    expect_: dict[str, Wanted] = option(
        {}, help="column of the first row: what it must be, e.g. `{jobs: 0}`, or `>= 100` with one of < <= > >= !="
    )
    samples: bool = option(True, help="keep the numbers of the first row as samples")
    ordered: bool = option(False, help="for `equivalent`: answers are equal only in the same order")

    def check(self) -> None:
        """Refuse none or several ways to say what is done, parameters without values, values without parameters."""
        given = [word for word in ("statement", "statements", "script") if getattr(self, word)]
        if len(given) != 1:
            told = f"{' and '.join(given)} are given" if given else "nothing says what is done"
            raise ValueError(f"{told}; expected one of statement, statements, script")
        self._expected = {column: expectation(text) for column, text in self.expect_.items()}
        if self.script is None:
            self._check_names(self._parsed(self.statements or [self.statement or ""]))

    def setup(self) -> None:
        """Make the connection; a database that does not answer yet is asked again by the first iteration."""
        self._todo = self._parsed(self._texts())
        self._check_names(self._todo)
        self._writes = any(each.writes for each in self._todo)
        self._session: Session = self.target.session(self.context.timeout)
        try:
            self._session.connect()
        except Failed:
            self._session.close()

    def run(self, op: Op) -> None:
        """Do the statements once."""
        if not self._session.connected:
            with op(CONNECT) as connecting:
                connecting.calls = 1
                self._session.connect()
        values = self._values(op.number)
        reply = self._together(op, values) if self.transaction else self._each(op, values)
        self._judge(reply)

    def teardown(self) -> None:
        """Close the connection."""
        self._session.close()

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """A statement is an operation; of a script it is not known how many there are."""
        if self.script is not None:
            return None, 0
        number = len(self.statements) or 1
        return iterations * (number + (2 if self.transaction else 1)), 0

    def _texts(self) -> Sequence[str]:
        if self.script is None:
            return self.statements or [self.statement or ""]
        path = self.context.folder / self.script
        try:
            return list(split(path.read_text()))
        except OSError as problem:
            raise Failed(f"script {path} cannot be read: {problem.strerror}", "a file with SQL") from None

    def _parsed(self, texts: Sequence[str]) -> list[Statement]:
        found = []
        for text in texts:
            try:
                found.append(parse(text))
            except ValueError as problem:
                raise ValueError(f"{text.strip()[:60]!r} has {problem}") from None
        return found

    def _check_names(self, statements: Sequence[Statement]) -> None:
        used: set[str] = set().union(*(each.names for each in statements))
        if missing := sorted(used - set(self.parameters)):
            raise ValueError(f"parameter :{missing[0]} has no values; expected {missing[0]} under `parameters`")
        if unused := sorted(set(self.parameters) - used):
            known = ", ".join(f":{name}" for name in sorted(used)) or "none"
            raise ValueError(f"no statement has :{unused[0]}; expected the parameters that there are, {known}")

    def _values(self, number: int) -> dict[str, object]:
        """Draw values that depend on the seed, the test and the number of the iteration alone."""
        if not self.parameters:
            return {}
        source = random.Random(f"{self.context.seed} {self.context.name} {number}")
        moment = DrawContext(source, number, self.stamp)
        return {name: values.draw(moment) for name, values in self.parameters.items()}

    def _each(self, op: Op, values: dict[str, object]) -> Reply:
        written = False
        for statement in self._todo:
            written = written or statement.writes
            with op(statement.verb) as act:
                act.calls = 1
                reply = self._session.execute(statement, {name: values[name] for name in statement.names}, written)
        return reply

    def _together(self, op: Op, values: dict[str, object]) -> Reply:
        """Do them in one transaction: until it is committed nothing has happened, whatever becomes of a statement."""
        try:
            self._session.begin(self._writes)
            for statement in self._todo:
                with op(statement.verb) as act:
                    act.calls = 1
                    reply = self._session.execute(statement, {name: values[name] for name in statement.names}, False)
            with op(COMMIT) as act:
                act.calls = 1
                self._session.commit(self._writes)
        except BaseException:
            self._session.rollback()
            raise
        return reply

    def _judge(self, reply: Reply) -> None:
        if self.samples and reply.rows:
            for column, value in numbers(reply.columns, reply.rows[0]):
                metric = checkable_name(column)
                self.report(f"{metric}_" if metric in FIELDS else metric, value)
        if reply.is_query:
            self.answer((tuple(row) for row in reply.rows), self.ordered)
        if self.rows is not None and reply.count != self.rows:
            did = "answered" if reply.is_query else "changed"
            raise Failed(f"{counted(reply.count, 'row')} {'was' if reply.count == 1 else 'were'} {did}", f"{self.rows}")
        if told := mismatch(reply.columns, reply.rows, self._expected):
            raise Failed(*told)
