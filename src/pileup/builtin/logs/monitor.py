"""The monitor `log`: operations of a server out of its log."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import Literal

from pileup.builtin.logs.files import LogFiles
from pileup.builtin.logs.presets import FORMATS
from pileup.builtin.logs.reader import TIMES, Columns, Layout, Reader
from pileup.builtin.logs.times import Times
from pileup.plugin import Duration, Monitor, PluginError, Sample, option
from pileup.plugin.options import declared
from pileup.plugin.units import format_time

SECOND = 10**9
SUSPECT = 60 * SECOND
"""Lines that have just been written and say times so far from now have another zone, or a clock that is off."""


class LogMonitor(Monitor):
    r"""Record what a server did, from its log.

        monitors:
          - {use: log, name: web, file: /var/log/nginx/access.log, format: nginx, watches: se}
        criteria:
          - {id: C1, says: The server answers at once, check: "p99(web.GET) < 10 ms"}

    Each operation becomes one of the record, with side `server`. A log without a format of its own is described by a
    regular expression of Python with named fields, which is searched in each line:

        - use: log
          file: [/var/log/app/*.log]
          pattern: '^(?P<time>\S+ \S+) (?P<operation>\w+) (?P<key>\S+) took (?P<took>[0-9.]+)'
          time: "%Y-%m-%d %H:%M:%S.%f"
          unit: ms

    | field | what |
    |---|---|
    | `time` | when the line was written: at the end of the operation, or `stamp: begin` |
    | `begin` `end` `first_byte` | times |
    | `took` | how long it took, in `unit` |
    | `operation` | what was done, one of few words |
    | `key` | the object; `prefix` is left out |
    | `statement` | in place of it, SQL: the operation is the statement without literals |
    | `id` | the header `X-Pileup-Id`, which joins it with the client's operation |
    | `client` | number of the client, from its login name |
    | `status` `error` | an operation fails if the status matches `failed`, or there is an error |
    | `bytes` `calls` | how much it moved, how much work it was |

    An operation needs a time and `took`, or begin and end. Other fields are for `labels` and `join`. With `begins` and
    `ends` in place of `pattern` an operation has two lines, joined by the fields in `join`.

    Rotated files (`NAME.1`, `NAME-20261125`), also compressed ones, and truncated ones are read so that each line
    counts once; an event says so if lines may be missing. `target` names a target that pileup launched: `file` is then
    relative to its folder. With `host: ssh://…` files are read on that host.

    | metric | unit | what |
    |---|---|---|
    | `lines` | | lines since the sample before |
    | `operations` | | operations that they completed |
    | `other` | | lines that no pattern found |
    | `unreadable` | | lines whose times or numbers cannot be read |
    | `unpaired` | | lines without the other one of the two |
    | `open` | | operations that have begun and not ended |
    """

    name = "log"
    records = True

    file: str | list[str] = option([], help="paths of logs; * and ? stand for any characters, ** for any folders")
    target: str | None = option(None, help="name of a launched target that the paths are below")
    format: Literal["", "nginx", "apache", "practice", "xrootd", "dcache-billing", "dcache-access", "postgresql"] = (
        option("", help="a ready format; other options change it")
    )
    pattern: str = option("", help="regular expression with named fields for operations of a line each")
    begins: str = option("", help="the same for the first of two lines")
    ends: str = option("", help="the same for the second of two lines")
    join: list[str] = option(["join"], help="fields that are equal in the two lines of an operation")
    time: str | dict[str, str] = option("iso", help="s, ms, us, ns, iso, a format of strptime, or one for each field")
    zone: str = option("local", help="time zone of times that name none: local, UTC, or one like Europe/Zurich")
    stamp: Literal["begin", "end"] = option("end", help="what the field `time` of a single line says")
    unit: Literal["s", "ms", "us", "ns"] = option("s", help="unit of `took`")
    clock: Duration = option(0, help="how far the clock of the log is ahead; ids find what is left")
    continued: str = option("", help="regular expression of lines that belong to the line before")
    operation: str = option("operation", help="name of operations where there is no such field")
    prefix: str = option("", help="left out at the beginning of keys")
    failed: str = option("", help="regular expression of the statuses of operations that failed")
    labels: list[str] = option([], help="fields that become labels, which figures are broken down by")
    whole: bool = option(False, help="read what is in the files already, compressed ones too")

    def check(self) -> None:
        """Refuse what is no pattern, and patterns that lack a field."""
        self._files: LogFiles | None = None
        self._take_format()
        self._paths = [self.file] if isinstance(self.file, str) else list(self.file)
        if not self._paths:
            raise ValueError("no file is named; expected `file`, e.g. /var/log/nginx/access.log")
        self._layout = _layout(self)
        self._readers: dict[str, Reader] = {}
        self._counted = dict.fromkeys(("other", "unreadable", "unpaired"), 0)
        self._looks = 0

    def _take_format(self) -> None:
        """Set the options that the format has, where the suite says nothing."""
        known = declared(type(self))
        for name, value in FORMATS[self.format].options.items() if self.format else ():
            if getattr(self, name) == known[name][1].default:
                setattr(self, name, value)

    def open(self) -> None:
        """Begin at the end that the logs have now. Raises PluginError, TargetError if nobody knows where they are."""
        self._files = LogFiles(self._places(), self._say, whole=self.whole)

    def _places(self) -> list[str]:
        if self.target is None:
            return [str(Path(path).expanduser()) for path in self._paths]
        folder = self.watched().folder
        if folder is None:
            told = f"target {self.target} was not launched by pileup"
            raise PluginError(f"{told}: it has no folder here", "a `file` with its whole path, without `target`")
        return [f"{escape(str(folder))}/{path}" for path in self._paths]

    def sample(self) -> Iterator[Sample]:
        """Read what was added. Raises PluginError when there is no file."""
        if self._files is None:
            return
        lines = operations = 0
        newest = 0
        quiet = set(self._readers)
        for part in self._files.look():
            reader = self._readers.setdefault(part.family, Reader(self._layout))
            quiet.discard(part.family)
            found = reader.read(part.lines)
            lines += len(part.lines)
            operations += len(found)
            newest = max(newest, max(found.numbers["end"], default=0))
            self._record(found)
        for family in quiet:
            self._record(found := self._readers[family].read(()))
            operations += len(found)
        self._suspect(newest)
        yield Sample("lines", lines)
        yield Sample("operations", operations)
        for name, before in self._counted.items():
            now = sum(getattr(reader, name) for reader in self._readers.values())
            self._counted[name] = now
            yield Sample(name, now - before)
        yield Sample("open", sum(reader.open for reader in self._readers.values()))

    def _record(self, found: Columns) -> None:
        if found:
            self.record_many(found.names, found.keys, error=found.errors, labels=found.labels, **found.numbers)

    def _suspect(self, newest: int) -> None:
        """Say once that the last line has a time far from now: a wrong zone, or a clock that is off."""
        self._looks += 1
        off = newest - time.time_ns()
        if newest and abs(off) > SUSPECT and not (self.whole and self._looks == 1):
            side = "ahead of" if off > 0 else "behind"
            hint = "is its clock right, and `zone`? Operations with ids find how far, and all times are corrected"
            self._say_once(f"the last line says a time {format_time(abs(off))} {side} this clock: {hint}")

    def _say_once(self, text: str) -> None:
        if not getattr(self, "_suspected", False):
            self._suspected = True
            self._say(text)

    def _say(self, text: str) -> None:
        self.note(text)

    def close(self) -> None:
        """Let go of the logs."""
        if self._files is not None:
            self._files.close()
            shortened = self._files.shortened
            if shortened:
                self._say(f"{shortened} lines were longer than 1 MiB, and were cut there")


def _layout(wanted: LogMonitor) -> Layout:
    """Return how lines are read. Raises ValueError."""
    single, begins, ends = wanted.pattern, wanted.begins, wanted.ends
    if problem := _unclear(wanted):
        raise ValueError(problem)
    named = {"pattern": single} if single else {"begins": begins, "ends": ends}
    layout = Layout(
        patterns=tuple(_compiled(name, text) for name, text in named.items()),
        join=tuple(wanted.join),
        times=_times(wanted.time, wanted.zone),
        stamp=wanted.stamp,
        unit=wanted.unit,
        clock=wanted.clock,
        operation=wanted.operation,
        prefix=wanted.prefix,
        failed=_compiled("failed", wanted.failed) if wanted.failed else None,
        labels=tuple(wanted.labels),
        continued=_compiled("continued", wanted.continued) if wanted.continued else None,
    )
    if problem := layout.problem():
        raise ValueError(f"{problem}; expected named fields as in '(?P<time>\\S+) took (?P<took>[0-9.]+)'")
    return layout


def _unclear(wanted: LogMonitor) -> str:
    """Return why it is not clear what lines an operation has; empty if it is."""
    given = [name for name in ("pattern", "begins", "ends") if getattr(wanted, name)]
    if given in (["pattern"], ["begins", "ends"]):
        return ""
    if not given:
        return "nothing says what an operation is; expected `format`, `pattern`, or `begins` and `ends`"
    there = " and ".join(f"`{name}`" for name in given)
    if wanted.format and "pattern" in FORMATS[wanted.format].options:
        hint = "leave out `format`, and give both" if len(given) < 3 else "leave out `format`"
        return (
            f"there are {there}, of which `format: {wanted.format}` gives `pattern`: its operations have one line; "
            f"expected `pattern` alone, or `begins` and `ends` without it: {hint}"
        )
    only = "there is only" if len(given) == 1 else "there are"
    return f"{only} {there}; expected `pattern` alone, or `begins` and `ends`: add or remove the other"


def _times(told: str | dict[str, str], zone: str) -> dict[str, Times]:
    """Return how the times of each field are read. Raises ValueError."""
    by_field = told if isinstance(told, dict) else {"time": told}
    strange = [name for name in by_field if name not in TIMES]
    if strange:
        raise ValueError(f"`time` has {strange[0]!r}; expected fields out of {', '.join(TIMES)}")
    default = by_field.get("time", "iso")
    return {name: Times(by_field.get(name, default), zone) for name in TIMES}


def _compiled(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"`{name}` is no regular expression: {problem}; expected one of Python's `re`") from None
