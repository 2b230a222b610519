"""Watches stagers and their tape library: by the queues of frm_xfrd, the log of copy commands, the library's events."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.builtin.stager.site import Site
from pileup.builtin.stager.target import XrootdTapeTarget
from pileup.plugin import Monitor, Outcome, PluginError, Sample, TargetError, option
from pileup.plugin.logs import Log

if TYPE_CHECKING:
    from pileup.builtin.stager.transfers import LibraryEvent, Transfer

RECORD = 4096
"""Bytes of a request in a queue file of frm_xfrd."""
PLACE = struct.Struct("=i")
THIS = 4072
"""Where a request says its own place in the file; 0: it is free (XrdFrcRequest.hh, `This`)."""
FREE, COMING, READING, DOWN = range(4)
"""What a drive does."""
STATES = {"assigned": COMING, "begun": READING, "drive down": DOWN, "drive up": FREE}
ENDS = frozenset({"delivered", "unreadable", "cancelled", "requeued"})
"""Events after which a drive has nothing to do with a file any more."""
BROKEN = "frm_xfrd ended, and began it again"


class Watched:
    """What is known of the nodes and the library of one launch, from its begin."""

    def __init__(self, site: Site) -> None:
        from pileup.builtin.stager.transfers import (  # noqa: PLC0415  who lists plug-ins needs none
            event_log,
            transfer_log,
        )

        self.site = site
        self.nodes = [f"n{number}" for number in range(len(site.nodes))]
        self.running: dict[str, Transfer] = {}
        """Path -> what its copy command has noted first."""
        self.drives: dict[str, int] = {}
        self.reads: dict[str, list[LibraryEvent]] = {}
        """Path -> since when a drive has it, and since when it is read."""
        self.queued: set[str] = set()
        """Paths that wait in the library for a drive."""
        self._transfers: Log[Transfer] = transfer_log(site.transfers, back=site.transfers.stat().st_size)
        self._events: Log[LibraryEvent] = event_log(site.events, back=site.events.stat().st_size)

    def transfers(self) -> Iterator[tuple[Transfer, Transfer]]:
        """Read on; yield begin and end of each copy command that has ended since."""
        for each in self._transfers.entries():
            begin = self.running.pop(each.path, None)
            if begin is not None:
                yield begin, each
            if each.event == "started":
                self.running[each.path] = each

    def events(self) -> Iterator[tuple[LibraryEvent, LibraryEvent, LibraryEvent]]:
        """Read on; yield of each file that was delivered when a drive took it, began to read it, and had done so."""
        for each in self._events.entries():
            if each.event == "queued" or (each.event == "requeued" and each.path):
                self.queued.add(each.path)
            elif each.path:
                self.queued.discard(each.path)
            if each.event in {"assigned", "begun"}:
                self.reads.setdefault(each.path, []).append(each)
            if each.drive and each.event in STATES:
                self.drives[each.drive] = STATES[each.event]
            if each.event in ENDS:
                if each.drive and self.drives.get(each.drive) != DOWN:
                    self.drives[each.drive] = FREE
                steps = self.reads.pop(each.path, [])
                if each.event == "delivered" and len(steps) == 2:
                    yield steps[0], steps[1], each

    def asked(self, node: str) -> int:
        """Return how many requests the queue files of a node's frm_xfrd hold, those that are copied among them."""
        folder = self.site.transfers.parent / node / "a/admin/pileup/frm/Queues"
        return sum(requests_in(path) for path in folder.glob("pstgQ.?"))

    def close(self) -> None:
        """Let go of the logs."""
        self._transfers.close()
        self._events.close()


def requests_in(path: Path) -> int:
    """Return how many requests a queue file of frm_xfrd holds."""
    content = path.read_bytes()
    places = range(RECORD, len(content) - RECORD + 1, RECORD)
    return sum(PLACE.unpack_from(content, place + THIS)[0] == place for place in places)


class XrootdTapeMonitor(Monitor):
    """Queues, copy commands and drives of the kind `xrootd-tape`, as stagers and library know them themselves.

        monitors: [{use: xrootd-tape, target: tape, every: 1 s}]
        criteria:
          - {id: C1, says: No stager has a long queue, check: "max(tape.queue[node=n0]) < 100"}

    | metric | unit | what |
    |---|---|---|
    | `queue[node=n0]` … | | requests that wait in the frm_xfrd of a node |
    | `transfers[node=n0]` … | | its copy commands that run: requests handed to the library |
    | `library[of=queued]` `coming` `reading` | | requests in the library: without a drive; mounted or wound to; read |
    | `drive[drive=d0]` … | | what a drive does: 0 nothing, 1 waits for a cartridge or winds, 2 reads, 3 is down |

    Queues are read from the files in which frm_xfrd keeps them. What the logs say is also in the record as operations
    of the server (`side` is server), to be compared with what clients saw: `copy` is a copy command, from its start to
    its end (label `node`; the first byte is when the library began to read, the error is why it failed); `read` is a
    file in the library, from when a drive took it until it was delivered (label `drive`; the first byte is the begin of
    its transfer).
    """

    name = "xrootd-tape"
    records = True

    target: str = option(help="name of a target of the suite, of kind xrootd-tape")

    def check(self) -> None:
        """Begin with nothing known."""
        self._found: Watched | None = None

    def sample(self) -> Iterator[Sample]:
        """Read on. Raises PluginError, TargetError."""
        found = self._reached()
        try:
            self._record(found)
            asked = {node: found.asked(node) for node in found.nodes}
        except OSError as problem:
            raise PluginError(f"the queues cannot be read: {problem}", "nodes that run") from problem
        running = Counter(each.node for each in found.running.values())
        for node in found.nodes:
            yield Sample("queue", max(0, asked[node] - running[node]), labels=f"node={node}")
            yield Sample("transfers", running[node], labels=f"node={node}")
        doing = Counter(found.drives.values())
        in_library = {"queued": len(found.queued), "coming": doing[COMING], "reading": doing[READING]}
        for of, number in in_library.items():
            yield Sample("library", number, labels=f"of={of}")
        for drive, state in sorted(found.drives.items()):
            yield Sample("drive", state, labels=f"drive={drive}")

    def close(self) -> None:
        """Let go of the logs."""
        if self._found is not None:
            self._found.close()

    def _record(self, found: Watched) -> None:
        size = found.site.size
        for begin, end in found.transfers():
            problem = BROKEN if end.event == "started" else end.problem
            self.record(
                "copy",
                begin.path,
                start=begin.time,
                end=end.time,
                first_byte=0 if problem else min(begin.time + end.queue_wait, end.time),
                bytes=0 if problem else size,
                outcome=Outcome.FAILED if problem else Outcome.PASSED,
                error=problem,
                labels={"node": begin.node},
            )
        for taken, begun, done in found.events():
            self.record(
                "read",
                taken.path,
                start=taken.time,
                end=done.time,
                first_byte=begun.time,
                bytes=size,
                labels={"drive": done.drive},
            )

    def _reached(self) -> Watched:
        """Return what is watched, another site after a start with other settings. Raises PluginError, TargetError."""
        try:
            target = self.watched()
        except TargetError:
            if self._found is None:
                raise
            return self._found  # the logs are read to their end
        if not isinstance(target, XrootdTapeTarget):
            raise PluginError(f"target {self.target} is of kind {target.kind}", "one of kind xrootd-tape")
        if self._found is None or self._found.site != target.site:
            self.close()
            self._found = Watched(target.site)
        return self._found
