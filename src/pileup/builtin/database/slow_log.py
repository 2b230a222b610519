"""MariaDB's and MySQL's log of slow queries: its entries, read as the file grows, and statements without literals.

Format: https://mariadb.com/kb/en/slow-query-log-overview/. An entry is a few lines that begin with `#`, maybe `use …;`
and `SET …;`, and the statement. The entry says in whole seconds when the statement began.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pileup.plugin.logs import AT_ONCE, Log, Parser

SECOND = 10**9
LONGEST = 64 << 10
"""Characters of a statement that are looked at."""
LONGEST_KIND = 300
"""Characters of a statement without literals."""
FIELD = re.compile(r"(Thread_id|Schema|Query_time|Lock_time|Rows_sent|Rows_examined|Rows_affected|Bytes_sent): ?(\S*)")
USER = re.compile(r"# User@Host: (\S*?)\[")
STAMP = re.compile(r"SET timestamp=(\d+)(?:\.(\d+))?;", re.IGNORECASE)
SKIPPED = re.compile(r"(use [^;]*|SET (timestamp|last_insert_id|insert_id)\b[^;]*);", re.IGNORECASE)
STARTED = re.compile(r"\S+, Version: .* started with:$")
"""What a server writes when it opens the log; two more lines follow."""
TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|--[ \t][^\n]*|--$|\#[^\n]*)
    |(?P<name>`(?:[^`]|``)*`|[A-Za-z_$\u0080-\uffff][\w$]*(?!['\w]))
    |(?P<literal>[nNxXbB]?'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|0[xX][0-9A-Fa-f]+\b|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<space>\s+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
LIST = re.compile(r"\? ?(?:, ?\? ?)+")
GROUPS = re.compile(r"(\((?:\?|\?, …)\))(?: ?, ?\((?:\?|\?, …)\))+")


@dataclass(frozen=True, slots=True)
class SlowQuery:
    """One entry. Times in ns (`begin` since the epoch, to a second); `kind` is the statement without literals."""

    kind: str
    begin: int
    took: int
    locked: int
    examined: int
    sent: int
    size: int
    """Bytes sent."""
    schema: str
    user: str


class Lines:
    """Puts lines together to entries; anything else is skipped."""

    def __init__(self) -> None:
        self._head: dict[str, str] = {}
        self._statement: list[str] = []
        self._size = 0
        """Characters in it."""

    def entries(self, lines: Iterable[str]) -> Iterator[SlowQuery]:
        """Yield the entries that whole lines complete. One that goes on is kept for the next call."""
        for line in lines:
            if STARTED.match(line) or (self._statement and line.startswith(("# Time:", "# User@Host:"))):
                yield from self._end()
            self._take(line)
        if self._statement and self._statement[-1].endswith(";"):
            yield from self._end()

    def _take(self, line: str) -> None:
        head, statement = self._head, self._statement
        if line.startswith("# ") and not statement:
            head |= dict(FIELD.findall(line))
            if user := USER.match(line):
                head["user"] = user[1]
        elif (stamp := STAMP.fullmatch(line.strip())) and not statement:
            head["begin"] = stamp[1] + (stamp[2] or "").ljust(9, "0")[:9]
        elif statement or ("Query_time" in head and not SKIPPED.fullmatch(line.strip())):
            if self._size > LONGEST:
                del statement[-1]  # the last line alone says where it ends
            statement.append(line)
            self._size += len(line)

    def _end(self) -> Iterator[SlowQuery]:
        """Yield the entry that ends here, if it is one, and begin again."""
        head, statement = self._head, self._statement
        self._head, self._statement, self._size = {}, [], 0
        kind = kind_of("\n".join(statement)[:LONGEST])
        if not kind or "begin" not in head:
            return
        try:
            yield SlowQuery(
                kind,
                int(head["begin"]),
                _nanoseconds(head["Query_time"]),
                _nanoseconds(head.get("Lock_time", "0")),
                int(head.get("Rows_examined", 0)),
                int(head.get("Rows_sent", 0)),
                int(head.get("Bytes_sent", 0)),
                head.get("Schema", ""),
                head.get("user", ""),
            )
        except (ValueError, KeyError):
            return


def in_lines() -> Parser[SlowQuery]:
    """Return a parser of the log of MariaDB and MySQL."""
    return Lines().entries


class SlowLog:
    """The log of a server, as it grows. The file may be replaced, or begin again, at any time.

    Queries that ended before `since` (ns since the epoch) are left out, to the second that the log has; of a long log
    only the last 4 MiB are looked at for younger ones.
    """

    def __init__(self, path: Path, since: int, parser: Callable[[], Parser[SlowQuery]] = in_lines) -> None:
        self._log = Log(path, parser, back=AT_ONCE, what="the log of slow queries")
        self._since = since - SECOND

    def entries(self) -> Iterator[SlowQuery]:
        """Yield the entries that were added since. Raises PluginError when the file cannot be read."""
        return (each for each in self._log.entries() if each.begin + each.took >= self._since)

    def close(self) -> None:
        """Let go of the file."""
        self._log.close()


def _nanoseconds(text: str) -> int:
    return round(float(text) * SECOND)


def kind_of(statement: str) -> str:
    """Return a statement without its literals, comments and line breaks: alike for all that differ in values alone.

    Lists of literals become `(?, …)`, so that their length says nothing apart.
    """
    words = []
    for found in TOKEN.finditer(statement):
        if found["literal"]:
            words.append("?")
        elif found["space"] or found["comment"]:
            words.append(" ")
        else:
            words.append(found[0])
    text = " ".join("".join(words).split()).removesuffix(";").strip()
    text = LIST.sub("?, …", text.replace("( ", "(").replace(" )", ")"))
    text = GROUPS.sub(r"\1, …", text)
    return text if len(text) <= LONGEST_KIND else text[: LONGEST_KIND - 1] + "…"
