"""The remote end of a fleet's wire: a process that runs what its parent requests and reports what happened.

It ends when its parent closes the wire, or vanishes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import psutil

from pileup._core import _native
from pileup._core._native import VERSION, now
from pileup.fleet.asking import WireAnswerer, unpack_answers
from pileup.fleet.cores import workers
from pileup.fleet.inflight_file import InflightWriter
from pileup.fleet.order import Order, Work
from pileup.fleet.place import LocalPart, LocalPlace
from pileup.fleet.self_watch import SelfWatch
from pileup.fleet.starts import Inbox
from pileup.fleet.wire import CHUNK, HELLO, PROTOCOL, Message, encode, pack_frames, receive
from pileup.model.errors import PileupError
from pileup.model.record import Claimed, Frame, Sample
from pileup.plugin import Test
from pileup.record.output import LARGEST_CASE, MOST_NOTED, STREAMS

BEAT = 10**9
"""Interval of frames, ns."""
FIRST = 250_000_000
"""Until the first frame from another host, ns: only frames say what is under way there, in case the host is lost."""
SILENCE = 30.0
"""Seconds without a ping, of which there is one a second, after which another host is taken for gone."""
SLICE = 200_000_000
"""Interval, ns, at which rows are brought into the table: what a test that ends its process takes with it."""

Send = Callable[..., None]
"""`send(kind, plain, blobs)`."""


class Builder(Protocol):
    """Makes, from the plan that a place got, what it is to press."""

    def test(self, case: int, shared: str) -> Callable[[int], Test]:
        """Return what makes the Python test of a case for a client; `shared` is what its `begin_run` returned, as text.

        Raises PileupError or ValueError.
        """

    def take(self, message: Message, send: Send) -> None:
        """Take a message that is not about loads."""

    def close(self) -> None:
        """End what it has begun."""


class Wire:
    """The two pipes to the parent."""

    def __init__(self, source: int, sink: int) -> None:
        self.silence: float | None = None
        """Seconds without a message after which the parent counts as gone; None: the pipe ends with it."""
        self._source = source
        self._sink = sink
        self._lock = threading.Lock()

    def read(self, count: int) -> bytes:
        """Return so many bytes, less at the end or when the parent is silent; never reads ahead."""
        parts, left = [], count
        while left and self._heard() and (part := os.read(self._source, min(left, CHUNK))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _heard(self) -> bool:
        return bool(select.select((self._source,), (), (), self.silence)[0])

    def send(self, kind: str, plain: Mapping[str, object] | None = None, blobs: Sequence[bytes] = ()) -> None:
        """Send a message. A parent that is gone is noticed by the reading side."""
        self.write(encode(kind, plain, blobs))

    def write(self, text: bytes) -> None:
        """Write all of it."""
        data = memoryview(text)
        with self._lock, contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._sink, data) :]


class Shipper:
    """Sends what is new in a table file to the parent, who has no such file system."""

    def __init__(self, path: Path, send: Send) -> None:
        self._file = path.open("rb")
        self._send = send

    def ship(self) -> None:
        """Send what came since the last call."""
        while data := self._file.read(CHUNK):
            self._send("table", {}, (data,))


class WireOutput:
    """The output of a case, sent to the parent; what is beyond the limit of a case is not."""

    def __init__(self, send: Send, part: int) -> None:
        self._send = send
        self._part = part
        self._sent = dict.fromkeys(STREAMS, 0)
        self._noted: set[str] = set()

    def append(self, stream: str, title: str, text: str) -> None:
        """Send one block."""
        if self._sent[stream] <= LARGEST_CASE:
            self._sent[stream] += len(text)
            self._send("output", {"part": self._part, "stream": stream, "title": title, "text": text})

    def note(self, text: str) -> None:
        """Send what went wrong, once."""
        if text not in self._noted and len(self._noted) < MOST_NOTED:
            self._noted.add(text)
            self._send("noted", {"part": self._part, "text": text})

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Send a piece of a file that a test has left."""
        self._send("artefact", {"part": self._part, "name": name, "first": first}, (piece,))

    def claim(self, claims: Sequence[Claimed]) -> None:
        """Send submissions at once."""
        self._send("claimed", {"part": self._part, "claims": [*claims]})


class Server:
    """Serves one parent."""

    def __init__(self, wire: Wire, build: Callable[[Message, Any], Builder]) -> None:
        self._wire = wire
        self._send = wire.send
        self._build = build
        self._builder: Builder | None = None
        self._place: LocalPlace | None = None
        self._shipper: Shipper | None = None
        self._parts: dict[int, LocalPart] = {}
        self._inbox = Inbox(Path())
        self._telling = threading.Lock()
        self._closing = threading.Event()
        self._board: InflightWriter | None = None
        self._watch: SelfWatch | None = None

    def hello(self, again: bool = False) -> None:
        """Say who is here; `again` after the process has replaced itself."""
        if not again:
            self._wire.write(HELLO)
        self._send("hello", {"version": VERSION, "protocol": PROTOCOL, "host": socket.gethostname()})

    def serve(self, first: Message | None = None) -> None:
        """Take messages until the parent ends it or is gone."""
        message = first or receive(self._wire.read)
        while message is not None and message.kind != "close":
            self._take(message)
            message = receive(self._wire.read)
        if message is None:
            self._abandon()
        else:
            self._close()

    def _take(self, message: Message) -> None:
        match message.kind:
            case "ping":
                received = now()
                self._send("pong", {**message.fields, "received": received, "answered": now()})
            case "shift":
                _native.shift_clock(message["by"])
            case "open":
                self._open(message)
            case "starts":
                self._inbox.take(message)
            case "prepare":
                threading.Thread(target=self._prepare, args=(message,), daemon=True).start()
            case "begin":
                self._begin(message["part"], message["start"])
            case "stop" | "level" | "answers":
                self._change(self._parts[message["part"]], message)
            case "flush":
                self._tell(list)
                self._send("answer-flush", {})
            case _ if self._builder is not None:
                self._builder.take(message, self._send)

    def _change(self, part: LocalPart, message: Message) -> None:
        if message.kind == "answers":
            part.answer(unpack_answers(message))
        elif message.kind == "stop":
            part.stop(message["at_once"])
        else:
            part.set_level(message["level"], message["at"])

    def _open(self, message: Message) -> None:
        try:
            self._builder = self._build(message, pickle.loads(message.blob()))  # noqa: S301  the parent is who started us
            if message["table"]:
                path = Path(message["table"])
                self._inbox = Inbox(path.parent)
                count = workers(message["workers"], message["beside"])
                self._place = LocalPlace(message["number"], path, count)
                self._board = InflightWriter(message["board"]) if message["board"] else None
                self._place.board, self._place.name = self._board, message["name"]
                self._shipper = Shipper(path, self._send) if message["ship"] else None
                self._watch = SelfWatch(message["number"], self._keep)
                threading.Thread(target=self._beat_ledger, name="ledger", daemon=True).start()
        except (PileupError, OSError, ValueError) as problem:
            self._send("opened", {"problem": str(problem)})
            return
        if message["far"]:  # here the pipe ends with the parent; a network may just fall silent
            self._wire.silence = SILENCE
        self._send("opened", {"problem": "", "workers": self._place.workers if self._place else 1})

    def _prepare(self, message: Message) -> None:
        number = message["part"]
        order: Order
        try:
            order, program, client, coroutine, asks = pickle.loads(message.blob())  # noqa: S301  as above
            if self._place is None or self._builder is None:
                raise ValueError("this place was not opened for loads")
            make = self._builder.test(order.case, order.shared) if program is None else _no_test
            way = WireAnswerer(self._send, number) if asks else None
            work = Work(make, program, client, coroutine, answerer=way)
            shard = message["shard"], message["shards"]
            order = replace(order, starts=self._inbox.found(number, order.starts))
            self._parts[number] = self._place.prepare(order, work, WireOutput(self._send, number), shard)
        except Exception as problem:  # whatever the user's file does: it is reported, and the place goes on
            self._send("ready", {"part": number, "problem": str(problem) or type(problem).__name__})
            return
        self._send("ready", {"part": number, "problem": ""})

    def _begin(self, number: int, start: int) -> None:
        part = self._parts[number]
        try:
            part.begin(start)
        except ValueError as problem:
            self._send("begun", {"part": number, "problem": str(problem)})
            return
        self._send("begun", {"part": number, "problem": ""})
        threading.Thread(target=self._beat, args=(number, part, start or now()), daemon=True).start()

    def _beat(self, number: int, part: LocalPart, start: int) -> None:
        """Report on a load each second until it is over."""
        due, over = start + (BEAT if self._shipper is None else FIRST), False
        while not over:
            while not (over := part.wait(max(0, min(SLICE, due - now())) / 1e9)) and now() < due:
                self._flush()
            due = max(due + BEAT, now())
            self._tell(part.frames, number)
            self._report(number, part)
        part.close()
        self._inbox.forget(number)
        self._report(number, part)
        self._send("over", {"part": number, "ending": part.ending.kind, "why": part.ending.why})

    def _report(self, number: int, part: LocalPart) -> None:
        if reported := part.reported():
            self._send("reported", {"part": number, "numbers": reported})
        if claimed := part.claimed():
            self._send("claimed", {"part": number, "claims": claimed})

    def _beat_ledger(self) -> None:
        while not self._closing.wait(BEAT / 1e9):
            self._tell(self._ledger_frames)

    def _ledger_frames(self) -> list[Frame]:
        return self._place.ledger_frames() if self._place else []

    def _tell(self, frames: Callable[[], list[Frame]], part: int = -1) -> None:
        """Send frames after the rows that they count: what is in a frame is in the table, whatever happens."""
        with self._telling:
            taken = frames()
            if self._place is not None and (taken or part < 0):
                self._place.flush()
            if self._shipper:
                self._shipper.ship()
            if taken:
                plain, blobs = pack_frames(taken)
                self._send("frames", {"part": part, "frames": plain}, blobs)

    def _keep(self, moment: int, samples: list[Sample]) -> None:
        rows = [[moment, each.metric, each.value, each.unit, each.labels] for each in samples]
        self._send("own", {"rows": rows})

    def _flush(self) -> None:
        if self._place is not None:
            self._place.flush()

    def _close(self) -> None:
        """End in order: detached operations that are open are unfinished, all rows are brought home."""
        self._closing.set()
        if self._watch:
            self._watch.close()
        if self._builder:
            self._builder.close()
        if self._place is not None:
            for part in self._parts.values():
                if part.begun and not part.over:
                    part.stop(True)
                    part.wait(1)
            self._place.ledger.close()
            self._tell(self._ledger_frames)
            self._place.recorder.close()
            if self._shipper:
                self._shipper.ship()
        self._send("closed", {})

    def _abandon(self) -> None:
        """The parent is gone: bring the rows into the record, end what tests have started, and go."""
        for part in self._parts.values():
            if part.begun and not part.over:
                part.stop(True)
                part.wait(0.5)
        if self._place is not None:
            with contextlib.suppress(OSError):
                self._place.flush()
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()


def _no_test(client: int) -> Test:
    raise AssertionError(f"client {client} of a program asked for a Python test")
