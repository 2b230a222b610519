"""The /proc of a host without pileup, over one ssh connection: strict parsing of what its shell prints."""

from __future__ import annotations

import re
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from pileup.model.errors import TargetError
from pileup.plugin.proc import Machine, Stats, Texts
from pileup.run.monitoring.shell import Shell

AGAIN = 10.0
"""Seconds before a host that was lost is tried again."""
AT_ONCE = 500
"""Processes that one request is about."""
MOST_TOLD = 20
"""Losses and returns of a host that are reported."""
ROW = re.compile(rb"(\d{1,10}) \((?s:.{0,64}?)\) [A-Za-z] ((?:-?\d{1,20} ){20,60}-?\d{1,20})\n")
"""A line of /proc/PID/stat. A name may hold blanks, brackets and line ends; it is too short to hold a whole line."""
HIDDEN = re.compile(rb"hidden (\d{1,10})\n")
DEVICE = re.compile(r"/sys/(?:class/)?(net|block)/([^\s/]{1,64})/device")
BORN = 18
"""Place of the time of birth among the numbers of a row."""
AT_PAGESZ, AT_CLKTCK = 6, 17


class FarProc:
    """The /proc of `[user@]host[:port]`. A connection that was lost is made again when something is asked, in its time.

    `tell` gets each loss and each return.
    """

    def __init__(self, host: str, ssh: str | None, tell: Callable[[str], None] = lambda text: None) -> None:
        self.host = host
        self.name = ""
        """The name that the host reports."""
        self.ticks, self.page = 100, 4096
        self._ssh = ssh
        self._tell = tell
        self._told = 0
        self._lock = threading.Lock()
        self._shell: Shell | None = None
        self._lost, self._next = "", 0.0
        self._pid = 0
        self._closed = False

    @property
    def own(self) -> frozenset[int]:
        """The shell that reads there."""
        return frozenset({self._pid})

    def open(self) -> None:
        """Reach the host. Raises TargetError."""
        with self._lock:
            self._reach()

    def close(self) -> None:
        """End the connection; nothing stays at the host."""
        with self._lock:
            self._closed = True
            if self._shell is not None:
                self._shell.close()
            self._shell = None

    def texts(self, names: Iterable[str]) -> Texts:
        """Return files, all by one request. One that is empty there is taken for one that cannot be read."""
        with self._lock:
            moment, found = self._texts(tuple(names))
        return Texts(moment, {name: text for name, text in found.items() if text})

    def machine(self) -> Machine:
        """Count processes, and list devices."""
        with self._lock:
            _, text, _ = self._ask("machine")
            count, *lines = text.decode(errors="replace").split("\n")
            if not re.fullmatch(r"[0-9]{1,7}", count):
                raise self._wrong(text, "the number of its processes")
            found = [DEVICE.fullmatch(line) for line in lines if line]
        return Machine(int(count), frozenset(f"{each[1]}/{each[2]}" for each in found if each))

    def queues(self) -> None:
        """Nothing: its files say it."""

    def stats(self, pids: Iterable[int] | None = None) -> Stats:
        """Return lines of processes, without the program that reads them there."""
        asked = ["[0-9]*/stat"] if pids is None else [" ".join(f"{pid}/stat" for pid in part) for part in _parts(pids)]
        moment, boot, lines, hidden = 0.0, 0, dict[int, bytes](), set[int]()
        with self._lock:
            for names in asked or [""]:
                then, text, _ = self._ask("stats", names)
                rows, unseen = self._rows(text)
                reader = next(iter(rows.values()), None)  # the first is the program that reads
                if reader is None:
                    raise self._wrong(text, "lines of /proc/PID/stat")
                born = int(reader.rpartition(b")")[2].split()[1 + BORN])
                moment, boot = moment or then, boot or born
                lines |= {pid: line for pid, line in rows.items() if self._is_other(pid, line)}
                hidden |= unseen
        return Stats(moment, boot, lines, frozenset(hidden))

    def command_lines(self, pids: Iterable[int]) -> dict[int, bytes | None]:
        """Return words of processes; those that have ended have none."""
        found: dict[int, bytes | None] = {}
        with self._lock:
            for part in _parts(pids):
                _, texts = self._texts(tuple(f"{pid}/cmdline" for pid in part))
                found |= {pid: texts[f"{pid}/cmdline"] for pid in part}
        return found

    def open_files(self, pids: Iterable[int]) -> dict[int, int | None]:
        """Count descriptors."""
        found: dict[int, int | None] = {}
        with self._lock:
            for part in _parts(pids):
                _, text, _ = self._ask("files", " ".join(map(str, part)))
                for line in text.splitlines():
                    row = re.fullmatch(rb"(\d{1,10}) (-|\d{1,10})", line)
                    if row is None or int(row[1]) not in part:
                        raise self._wrong(line, "a process and how many files it has open")
                    found[int(row[1])] = None if row[2] == b"-" else int(row[2])
        return found

    def _is_other(self, pid: int, line: bytes) -> bool:
        return pid != self._pid and int(line.rpartition(b")")[2].split()[1]) != self._pid

    def _rows(self, text: bytes) -> tuple[dict[int, bytes], set[int]]:
        """Return lines by process, and those that may not be read. Raises TargetError for text that is neither."""
        rows, hidden, at = dict[int, bytes](), set[int](), 0
        while at < len(text):
            if row := ROW.match(text, at):
                rows[int(row[1])] = row[0].rstrip(b"\n")
                at = row.end()
            elif unseen := HIDDEN.match(text, at):
                hidden.add(int(unseen[1]))
                at = unseen.end()
            else:
                raise self._wrong(text[at:], "lines of /proc/PID/stat")
        return rows, hidden

    def _texts(self, names: tuple[str, ...]) -> tuple[float, dict[str, bytes]]:
        """Return files, each followed by the environment of the program that reads them, which has a secret word."""
        if not names:
            return time.monotonic(), {}
        moment, text, mark = self._ask("texts", " ".join(f"{name} self/environ" for name in names))
        *parts, rest = re.split(rb"A=%b\0PATH=[^\0]*\0Z=%b\0" % (mark.encode(), mark.encode()), text)
        if len(parts) != len(names) or rest:
            raise self._wrong(text, f"{len(names)} files, each with /proc/self/environ behind")
        return moment, dict(zip(names, parts, strict=True))

    def _ask(self, what: str, names: str = "") -> tuple[float, bytes, str]:
        """Return moment, answer and the word of the request. Raises TargetError when the host is lost."""
        if self._shell is None:
            self._reach()
        return self._request(what, names)

    def _request(self, what: str, names: str) -> tuple[float, bytes, str]:
        if self._shell is None:
            raise TargetError(self._lost)
        try:
            moment, self._pid, answer, mark = self._shell.ask(what, names)
        except TargetError as problem:
            self._lose(str(problem))
            raise
        return moment, answer, mark

    def _reach(self) -> None:
        """Connect, unless that was tried just now. Raises TargetError."""
        if self._closed or time.monotonic() < self._next:
            raise TargetError(self._lost or f"host {self.host}: the connection was ended")
        back = bool(self.name)
        self._next = time.monotonic() + AGAIN
        try:
            self._shell = Shell(self.host, self._ssh)
            _, found = self._texts(("self/auxv", "sys/kernel/hostname"))
        except TargetError as problem:
            self._lost = str(problem)
            raise
        self.page, self.ticks = self._units(found["self/auxv"])
        self.name = found["sys/kernel/hostname"].decode(errors="replace").strip()[:200] or self.host
        if back:
            self._say(f"host {self.host} is back")

    def _lose(self, reason: str) -> None:
        if self._shell is not None:
            self._shell.close()
        self._shell, self._lost = None, reason
        if self.name:
            self._say(reason)

    def _say(self, text: str) -> None:
        self._told += 1
        if self._told <= MOST_TOLD:
            self._tell(text)

    def _units(self, vector: bytes) -> tuple[int, int]:
        """Return bytes of a page and ticks per second, which the kernel reports every program as pairs of words."""
        for form in ("<QQ", ">QQ", "<II", ">II"):
            size = struct.calcsize(form)
            found = dict(struct.iter_unpack(form, vector[: len(vector) // size * size]))
            page, ticks = found.get(AT_PAGESZ, 0), found.get(AT_CLKTCK, 0)
            if page in {1 << bits for bits in range(12, 23)} and 1 <= ticks <= 10_000:
                return page, ticks
        raise self._wrong(vector, "the size of a page in /proc/self/auxv")

    def _wrong(self, text: bytes, expected: str) -> TargetError:
        """Close the connection, since further answers cannot be trusted."""
        problem = TargetError(f"host {self.host} answers {text[:60]!r}", expected, "is it Linux, with /proc mounted?")
        self._lose(str(problem))
        return problem


def _parts(pids: Iterable[int]) -> Iterator[list[int]]:
    found = list(pids)
    for begin in range(0, len(found), AT_ONCE):
        yield found[begin : begin + AT_ONCE]
