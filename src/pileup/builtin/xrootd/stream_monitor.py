"""The monitor `xrootd-stream`: operations of an XRootD server out of its detailed monitoring, over UDP."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pileup.plugin import Count, Monitor, PluginError, Sample, option

if TYPE_CHECKING:
    from pileup.builtin.xrootd.stream import Served

LARGEST = 65_536
"""Bytes of a packet."""
BUFFER = 8 << 20
"""Bytes that the kernel may keep between two samples, if its limit (net.core.rmem_max) allows."""
MOST = 100_000
"""Packets that are taken in one sample: the others wait for the next."""
CLIENT = re.compile(r"p(\d{1,9})")
"""The login name of a client with `user: "p{client}"`."""


class XrootdStreamMonitor(Monitor):
    """Record what an XRootD server did, from the packets of its detailed monitoring.

        targets: {se: {kind: xrootd, launch: {monitoring: 9930}}}
        monitors:
          - {use: xrootd-stream, name: server, port: 9930, watches: se}
        criteria:
          - {id: C1, says: The server read what was asked, check: "rate(server.read) > 50 /s"}

    Each file that was closed is an operation `file` of side `server`, from its open to its close, with the bytes that
    were read and written and the number of calls (stream `f`). Each open, read, vector read, write and close is an
    operation too: `open`, `read`, `readv`, `write`, `close` (stream `t`). `key` is the path, label `user` the login
    name.

    The streams say times in whole seconds. An operation lies somewhere between its start and its end: `window` is the
    longest such time of stream `t`, 1 s on a server that pileup launched. Stream `f` says the seconds in which packets
    were begun and sent. Use them for counts and bytes, not for times.

    A server elsewhere sends to this host with

        xrootd.monitor all flush 1s flush io 1s window 1s fstat 1s lfn ops xfr 10 dest files fstat io user HOST:9930

    and the monitor has `address: 0.0.0.0`. Anybody who reaches the port can send packets.

    | metric | unit | what |
    |---|---|---|
    | `packets` | | packets since the sample before |
    | `operations` | | operations that they completed |
    | `lost` | | packets that are missing by their sequence numbers, since the run began |
    | `malformed` | | packets that could not be read, or not to their ends, since the run began |
    | `unpaired` | | closes without an open, since the run began |
    | `window` | s | longest time between two marks of stream `t` so far |
    """

    name = "xrootd-stream"
    records = True
    resolution = 10**9

    address: str = option("127.0.0.1", help="address of this host that the server sends to")
    port: Count = option(9930, ge=0, le=65535, help="port that it sends to; 0: any free one")
    prefix: str = option("", help="left out at the beginning of paths, e.g. /data/")

    def check(self) -> None:
        """Prepare to decode."""
        from pileup.builtin.xrootd.stream import Decoder  # noqa: PLC0415  who lists plug-ins needs none

        self._socket: socket.socket | None = None
        self._decoder = Decoder()
        self._said = False

    def open(self) -> None:
        """Listen. Raises PluginError if the port is not free."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        found = socket.socket(family, socket.SOCK_DGRAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            found.bind((self.address, self.port))
        except OSError as problem:
            found.close()
            told = f"{self.address}:{self.port} cannot be listened on: {problem.strerror or problem}"
            raise PluginError(told, "an address of this host and a free UDP port", "choose another `port`") from None
        found.setblocking(False)
        self._socket = found

    @property
    def listens_on(self) -> int:
        """The port. Raises PluginError before `open`."""
        if self._socket is None:
            raise PluginError("the monitor does not listen yet", "`open` before")
        return int(self._socket.getsockname()[1])

    def sample(self) -> Iterator[Sample]:
        """Take the packets that have come."""
        packets = operations = 0
        for sender, packet in self._waiting():
            packets += 1
            for each in self._decoder.take(sender, packet):
                operations += 1
                self.record_served(each)
        if self._decoder.lost and not self._said:
            self._said = True
            self.note("packets of the monitoring stream were lost: what it counts is too low (metric `lost`)")
        yield Sample("packets", packets)
        yield Sample("operations", operations)
        yield Sample("lost", self._decoder.lost)
        yield Sample("malformed", self._decoder.malformed)
        yield Sample("unpaired", self._decoder.unpaired)
        yield Sample("window", self._decoder.widest / 1e9, "s")

    def record_served(self, served: Served) -> None:
        """Record what the server did."""
        client = CLIENT.fullmatch(served.user)
        self.record(
            served.name,
            served.path.removeprefix(self.prefix),
            start=served.start,
            end=served.end,
            bytes=served.bytes,
            calls=served.calls,
            labels={"user": served.user},
            client=int(client[1]) if client else -1,
        )

    def _waiting(self) -> Iterator[tuple[str, bytes]]:
        if self._socket is None:
            return
        for _ in range(MOST):
            try:
                packet, sender = self._socket.recvfrom(LARGEST)
            except (BlockingIOError, InterruptedError):
                return
            yield f"{sender[0]}:{sender[1]}", packet

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
