"""Watches an XRootD server by what it counts itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.figures import Statistics, read_statistics
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Duration, Monitor, PluginError, Sample, Target, TargetError, option
from pileup.plugin.credentials import Credentials

NOW = {
    "connections": "link.num",
    "threads": "sched.threads",
    "idle_threads": "sched.idle",
    "queue": "sched.inq",
}
"""What there is at the moment, by its way in the statistics."""
COUNTED = {
    "accepted": "link.tot",
    "logins": "xrootd.lgn.num",
    "opens": "xrootd.ops.open",
    "reads": "xrootd.ops.rd",
    "vector_reads": "xrootd.ops.rv",
    "pieces": "xrootd.ops.rs",
    "writes": "xrootd.ops.wr",
    "other": "xrootd.ops.misc",
    "errors": "xrootd.err",
}
"""What is counted since the server's start."""
SERVER = "xrootd"
"""How XRootD calls itself over HTTP, in any case."""
MOVED = {"in": "link.in", "out": "link.out"}
"""The same, bytes."""


class XrootdMonitor(Monitor):
    """Connections, operations, bytes, threads and CPU of an XRootD server, as it counts them itself.

    It asks the server (`query stats`) over its own session, which is included in the figures: one connection, and one
    operation `other` per sample. `target` names a target of the suite, of kind `xrootd`, or `webdav` if XRootD answers
    on the same port (only servers that identify as XRootD are asked); or `url` and `ca` name a server.

        monitors:
          - {use: xrootd, target: se, every: 1 s}

    | metric | unit | what |
    |---|---|---|
    | `connections` | | open connections |
    | `threads` `idle_threads` | | threads of the scheduler, and how many of them are idle |
    | `queue` | | jobs that wait for a thread |
    | `cpu` | % | CPU time since the sample before, 100 % being one core |
    | `accepted` `logins` | | connections accepted and sessions logged in, since the first sample |
    | `opens` `reads` `vector_reads` `writes` `other` `errors` | | operations since the first sample |
    | `pieces` | | pieces that vector reads asked for, since the first sample |
    | `in` `out` | B | bytes on its connections since the first sample, with headers and TLS |
    | `open_rate` `read_rate` … | /s | growth of each of these per second since the sample before |
    | `in_rate` `out_rate` | B/s | the same for the bytes |

    The server counts reads, writes and bytes of a connection when it is closed, or when it makes its own report
    (`xrd.report`): each second on a server that pileup launched, else as configured by the site. It counts everything
    else at once. HTTP is served by the same code: a GET is an open and reads. After a restart of the server the counts
    continue from the last values.
    """

    name = "xrootd"

    target: str | None = option(None, help="name of the target of the suite whose server it is")
    url: str | None = option(None, help="another server, e.g. root://se01.site.org:1094")
    ca: str | None = option(None, help="file or folder with the CA certificates of that server, for roots://")
    token_file: str | None = option(None, help="file with a bearer token for that server")
    timeout: Duration = option(10 * 10**9, gt=0, help="how long an answer may take")

    def check(self) -> None:
        """Refuse no server, and two of them."""
        if (self.target is None) == (self.url is None):
            raise ValueError("one server is watched; expected `target` or `url`")
        if self.target is not None and (self.ca or self.token_file):
            raise ValueError("`ca` and `token_file` belong to `url`; expected the credentials of the target")
        self._watched: Target | None = None
        self._server: XrootdTarget | None = None
        self._before: Statistics | None = None
        self._moment = 0.0
        self._sums = dict.fromkeys([*COUNTED, *MOVED], 0)

    def open(self) -> None:
        """Look whether a server that the suite reaches over HTTP is XRootD: no other is asked. Raises PluginError."""
        if self.url is not None:
            return
        with suppress(TargetError):  # it may answer later
            watched = self.watched()
            called = watched.probe() if isinstance(watched, WebDavTarget) else SERVER
            if not called.lower().startswith(SERVER):
                told = f"{watched.url} is not XRootD: it calls itself {called.partition(',')[0]}"
                hint = "`url: root://…` in place of `target` names one"
                raise PluginError(told, f"a server that calls itself {SERVER}", hint)

    def sample(self) -> Iterator[Sample]:
        """Ask once. Raises PluginError, TargetError, Failed, Refused, Ambiguous."""
        found = read_statistics(self._reached().statistics())
        moment = time.monotonic()
        before, passed = self._before, moment - self._moment
        self._before, self._moment = found, moment
        for name, way in NOW.items():
            if way in found.figures:
                yield Sample(name, found.figures[way])
        yield from self._grown(before, found, passed)

    def close(self) -> None:
        """End the session."""
        if self._server is not None:
            self._server.sessions.close()

    def _grown(self, before: Statistics | None, found: Statistics, passed: float) -> Iterator[Sample]:
        last = before.figures if before and before.server == found.server else {}
        for name, way in {**COUNTED, **MOVED}.items():
            if way not in found.figures:
                continue
            growth = found.figures[way] - last.get(way, 0) if before else 0
            self._sums[name] += growth
            unit = "B" if name in MOVED else ""
            yield Sample(name, self._sums[name], unit)
            if before and passed > 0:
                yield Sample(f"{_one(name)}_rate", growth / passed, f"{unit}/s")
        if last and passed > 0:
            yield Sample("cpu", 100 * (_cpu(found.figures) - _cpu(last)) / passed, "%")

    def _reached(self) -> XrootdTarget:
        """Return the server as a target, another one after the watched target has become another."""
        if self.url is not None:
            if self._server is None:
                credentials = Credentials(ca=self.ca, token_file=self.token_file)
                self._server = XrootdTarget(self.url, credentials, patience=self.timeout)
            return self._server
        watched = self.watched()
        if self._server is None or watched is not self._watched:
            self.close()
            self._watched, self._server = watched, _beside(watched, self.timeout)
        return self._server


def _beside(target: Target, patience: int) -> XrootdTarget:
    """Return the server of a target, with the root of its name space as the url. Raises PluginError."""
    if isinstance(target, XrootdTarget):
        return XrootdTarget(target.url, target.credentials, patience=patience)
    if not isinstance(target, WebDavTarget):
        raise PluginError(
            f"a target of kind {target.kind} is not an XRootD server", "a target of kind xrootd or webdav"
        )
    where = target.location
    host = f"[{where.host}]" if ":" in where.host else where.host
    given = target.credentials
    credentials = Credentials(ca=given.ca, token=given.token, token_file=given.token_file)
    return XrootdTarget(
        f"root{'s' * (where.scheme == 'https')}://{host}:{where.port}//", credentials, patience=patience
    )


def _one(name: str) -> str:
    """Return the name of one of them."""
    return name if name in ("in", "out", "accepted", "other") else name.removesuffix("s")


def _cpu(figures: dict[str, int]) -> float:
    """Return the CPU time of the server, seconds."""
    seconds = figures.get("proc.usr.s", 0) + figures.get("proc.sys.s", 0)
    return seconds + (figures.get("proc.usr.u", 0) + figures.get("proc.sys.u", 0)) / 1e6
