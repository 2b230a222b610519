"""A place in another process, here or at another host: the messages to it and from it."""

from __future__ import annotations

import itertools
import os
import pickle
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pileup._core._native import now
from pileup.fleet.asking import Answer, Answerer, Answering, pack_answers, unpack_asks, unpack_clients
from pileup.fleet.connection import ANSWER_WITHIN, Connection
from pileup.fleet.inflight_file import InflightReader
from pileup.fleet.launch import Start
from pileup.fleet.loss import Loss
from pileup.fleet.order import Order, Work
from pileup.fleet.place import Claims, Reports, most_clients
from pileup.fleet.python.client import Reported, Sink
from pileup.fleet.wire import Message, WireError, unpack_claims, unpack_ending, unpack_frames
from pileup.model import self_metrics
from pileup.model.ending import FINISHED, Ending, EndingKind
from pileup.model.errors import RecordError, TargetError
from pileup.model.manifest import PlaceEntry
from pileup.model.record import Frame, Sample, SampleRow
from pileup.record import RunFolder
from pileup.record.output import STREAMS
from pileup.record.tally import total

STOP_WITHIN = 10.0
"""Seconds after which a place is lost if it does not end a load that it must end at once."""
TABLE_AHEAD, TABLE_ROW = 256 << 20, 4 << 10
"""Bytes of rows that may come before the frames that report on them, and of a row with all its texts at most."""
MONITOR = "place"
"""Name of the samples of clock offsets."""


@dataclass(slots=True)
class LoadUpdates:
    """What came from a place about one load, kept until it is asked for."""

    frames: list[Frame] = field(default_factory=list)
    reported: Reports = field(default_factory=list)
    claimed: Claims = field(default_factory=list)
    prepared: str | None = None
    """Why it cannot begin, empty when it can; None until that is known."""
    begun: str | None = None
    over: bool = False
    ending: Ending = FINISHED


class RemotePart:
    """The part of one load in another process."""

    def __init__(self, place: RemotePlace, number: int, order: Order, output: Sink, shard: tuple[int, int]) -> None:
        self.order = order
        self.output = output
        self.answerer: Answerer | None = None
        self.news = LoadUpdates()
        self.number = number
        self.begun = 0
        """When it was to begin, ns since the epoch; 0 before."""
        self.lost = self.settled = self.abandoned = False
        self.shard = shard
        self.share = order.share(*shard)
        """How many iterations are its part, None when no number bounds the load."""
        self._place = place
        self._changed = place.changed

    def ready(self) -> None:
        """Wait until the place has made the test. Raises ValueError with what is wrong, TargetError when it is lost."""
        self._await("prepared")

    def begin(self, start: int) -> None:
        """Begin at a time (ns since the epoch; 0: now). Raises ValueError for what the engine refuses."""
        self.begun = start or now()
        self._place.send("begin", {"part": self.number, "start": start})
        self._await("begun")

    def _await(self, what: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: getattr(self.news, what) is not None or self._place.lost, ANSWER_WITHIN)
            problem = getattr(self.news, what)
        if problem is None and not self.news.over:
            told = self._place.lost or f"not {what} within {ANSWER_WITHIN:.0f} s"
            raise TargetError(f"place {self._place.number} ({self._place.name}): {told}", "a place that answers")
        if problem:
            raise ValueError(problem)

    @property
    def over(self) -> bool:
        """Whether nothing more starts and nothing is under way, or the place is lost."""
        return self.news.over

    @property
    def ending(self) -> Ending:
        """How it ended; as finished while it goes on."""
        return self.news.ending

    def wait(self, seconds: float) -> bool:
        """Block up to that long; True when it is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self.news.over, seconds)

    def stop(self, at_once: bool = False) -> None:
        """Start nothing more; `at_once` also gives up what is under way: a place that does not answer then is lost."""
        if self.news.over:
            return
        self._place.send("stop", {"part": self.number, "at_once": at_once})
        if at_once:
            watchdog = threading.Timer(STOP_WITHIN, self._give_up)
            watchdog.daemon = True
            watchdog.start()

    def _give_up(self) -> None:
        if not self.news.over:
            self._place.lose(f"it did not end its load within {STOP_WITHIN:.0f} s")

    def set_level(self, level: float, at: int) -> None:
        """Change the level of a steered load, of the whole of it, from a time on (ns since the epoch)."""
        self._place.send("level", {"part": self.number, "level": level, "at": at})

    def frames(self) -> list[Frame]:
        """Return the frames that came since the last call."""
        with self._changed:
            taken, self.news.frames = self.news.frames, []
        return taken

    def reported(self) -> Reports:
        """Return what Python tests reported since the last call."""
        with self._changed:
            taken, self.news.reported = self.news.reported, []
        return taken

    def claimed(self) -> Claims:
        """Return what Python tests claimed since the last call."""
        with self._changed:
            taken, self.news.claimed = self.news.claimed, []
        return taken

    def take_asks(self, message: Message) -> None:
        """Pass on what clients ask, or that they ask nothing more."""
        if self.answerer is None or self.news.over:
            return
        if message.kind == "asks":
            self.answerer.take(unpack_asks(message), self._answer)
        else:
            self.answerer.leave(unpack_clients(message))

    def _answer(self, answers: Sequence[Answer]) -> None:
        self._place.send("answers", pack_answers(self.number, answers))

    def left(self) -> None:
        """Say that its clients ask nothing more: it is over, or its place is lost."""
        if isinstance(self.answerer, Answering):
            self.answerer.leave_shard(*self.shard, lost=self.lost)

    def settle(self) -> None:
        """Count what was due at a lost place until now, and not begun, as missed; once the others are over."""
        if self.lost and not self.settled:
            self.settled = True
            self.news.frames += self._place.missed(self)

    def abandon(self) -> None:
        """Give it up, whether it has begun or not."""
        self.abandoned = True
        if self.begun and not self.news.over:
            self.stop(True)
        else:
            self.close()

    def close(self) -> None:
        """Forget the load."""
        self._place.forget(self.number)


class RemotePlace:
    """A place behind two pipes. `start` begins the process, `open` waits until it can press."""

    def __init__(self, number: int, start: Start, folder: RunFolder, environment: Mapping[str, str]) -> None:
        self.number = number
        self.name = start.name
        self.workers = 1
        """Threads that native tests are pressed from there, at most; known once it is open."""
        self.changed = threading.Condition()
        self.lost = ""
        """Why it is lost, empty while it is there."""
        self.start = start
        self._folder = folder
        self._numbers = itertools.count(1)
        self._parts: dict[int, RemotePart] = {}
        self._ledger: list[Frame] = []
        self._loss = Loss(folder, number)
        self._board: InflightReader | None = None
        self._table: BinaryIO | None = None
        self._written = self._told = 0
        """Bytes of the table, and operations of the frames, that came from another host."""
        self._environment = dict(environment)
        here = None if start.far else environment
        self._connection = Connection(start, here, self._take, self._gone)

    def open(self, content: Any) -> None:
        """Wait for it, give it the plan (`content`, pickled for it) and set its clock. Raises TargetError."""
        connection, far = self._connection, self.start.far
        connection.greet()
        if far and self._environment:
            changed = {name: value for name, value in self._environment.items() if os.environ.get(name) != value}
            connection.ask("environment", {"variables": changed}, "hello")
        path = self._folder.operations_path(self.number)
        if far:
            self._table = path.open("xb", buffering=0)
        told = {"number": self.number, "far": far, "table": str(path), "ship": far, "board": self._make_board()}
        told |= {"name": self.name, "workers": self.start.workers, "beside": self.start.beside}
        told |= {"position": self.start.position}
        opened = connection.ask("open", told, "opened", (pickle.dumps(content),))
        if self._board_path:
            Path(self._board_path).unlink(missing_ok=True)
        if problem := opened.text("problem"):
            connection.close()
            raise TargetError(f"place {self.name}: {problem}", "a place that can be opened")
        self.workers = opened["workers"]
        connection.synchronise()

    def _make_board(self) -> str:
        self._board_path = ""
        if not self.start.far:
            descriptor, self._board_path = tempfile.mkstemp(prefix="pileup-place-")
            self._board = InflightReader(descriptor)
        return self._board_path

    def entry(self) -> PlaceEntry:
        """Return what run.json says of the place; offset and error of the clock that it came with in ns."""
        offset, error = self._connection.offset.original(now())
        return PlaceEntry(self.number, self.name, self._connection.host, self.workers, offset, error)

    def sample(self) -> list[SampleRow]:
        """Return how far its clock is from ours now, after correction, and the bound of the error."""
        best = self._connection.offset.best(now())
        if best is None or self.lost:
            return []
        label = f"place={self.number}"
        numbers = {"clock_offset": best.offset, "clock_error": best.error_at(now())}
        return [
            SampleRow(now(), MONITOR, self._connection.host, Sample(name, value / 1e9, "s", label))
            for name, value in numbers.items()
        ]

    def beat(self) -> None:
        """Ask for the time, look whether it is there, and set its clock while nothing is under way."""
        if self.lost:
            return
        self._connection.ping()
        self._connection.watch()
        if not self._parts:
            self._connection.align()

    def margin(self) -> int:
        """Return how long before its start a load must be reported, ns: several ways there, and time to begin."""
        best = self._connection.offset.best(now())
        return 30_000_000 + 4 * (best.error if best else 0)

    def prepare(self, order: Order, work: Work, output: Sink, shard: tuple[int, int]) -> RemotePart:
        """Have the place make its part of a load: shard (number from 0, of how many)."""
        part = RemotePart(self, next(self._numbers), order, output, shard)
        part.answerer = work.answerer
        with self.changed:
            self._parts[part.number] = part
        plain = {"part": part.number, "shard": shard[0], "shards": shard[1]}
        if order.starts and self.start.far:
            self._send_starts(part, order.part(*shard, most_clients(work)))
        told = order, work.program, work.client, work.coroutine, work.answerer is not None
        self.send("prepare", plain, pickle.dumps(told))
        return part

    def _send_starts(self, part: RemotePart, share: tuple[int, int] | None) -> None:
        """Send the starts that another host is to replay: its share alone."""
        starts = part.order.starts
        for piece in starts.pieces(share) if starts and share else ():
            self.send("starts", {"part": part.number, "share": share}, piece)

    def send(self, kind: str, plain: Mapping[str, object], *blobs: bytes) -> None:
        """Send a message; ignored if the place is lost."""
        self._connection.send(kind, plain, blobs)

    def lose(self, reason: str) -> None:
        """Give the place up."""
        self._connection.lose(reason)

    def missed(self, part: RemotePart) -> list[Frame]:
        """Return a frame of what was due in a lost part of an open load, and not begun."""
        with self.changed:
            return self._loss.missed(part.order, part.begun, part.shard) if part.begun else []

    def forget(self, number: int) -> None:
        """Forget a load that is over."""
        with self.changed:
            part = self._parts.pop(number, None)
            if part is not None and not self._parts:
                self._loss.settle(part.order.case)

    def flush(self) -> None:
        """Bring every row so far into the record."""
        if not self.lost:
            try:
                self._connection.ask("flush", {}, "answer-flush")
            except TargetError:
                return  # it is lost, which is reported where it matters

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""
        with self.changed:
            taken, self._ledger = self._ledger, []
        return taken

    def close(self) -> None:
        """End the place in order; detached operations that are open are unfinished."""
        self._connection.close()
        self._loss.close()
        if self._board:
            self._board.close()
            self._board = None
        if self._table:
            self._table.close()

    def _take(self, message: Message) -> None:
        if message.kind == "table":
            self._write(message.blob())
            return
        if message.kind == "own":
            self._keep(message)
            return
        if message.kind in {"asks", "left"}:
            if (part := self._parts.get(message.number("part"))) is not None:
                part.take_asks(message)
            return
        with self.changed:
            if message.kind == "frames":
                self._take_frames(message)
            else:
                part = self._parts.get(message.number("part"))
                if part is not None:
                    self._tell(part, message)
            self.changed.notify_all()
        if message.kind == "over" and (part := self._parts.get(message.number("part"))) is not None:
            part.left()

    def _take_frames(self, message: Message) -> None:
        frames = unpack_frames(message["frames"], message.blobs, self.number)
        part = self._parts.get(message.number("part"))
        self._loss.take(frames)
        self._told += total(frames).ended
        if part is None:
            self._ledger += frames
        else:
            part.news.frames += frames

    def _tell(self, part: RemotePart, message: Message) -> None:
        news = part.news
        match message.kind:
            case "ready":
                news.prepared = message.text("problem")
            case "begun":
                news.begun = message.text("problem")
                news.over = bool(news.begun)
            case "reported":
                news.reported += [
                    Reported(int(time), str(metric), float(value), str(unit), str(labels), int(iteration))
                    for time, metric, value, unit, labels, iteration in message["numbers"]
                ]
            case "claimed":
                news.claimed += unpack_claims(message["claims"])
            case "output" if message["stream"] in STREAMS:
                part.output.append(message["stream"], message.text("title"), message.text("text"))
            case "artefact":
                part.output.keep(self.number, message.text("name"), message.blob(), bool(message["first"]))
            case "noted":
                part.output.note(message.text("text")[:1000])
            case "over":
                news.ending = unpack_ending(message)
                news.over = True
                if part.abandoned:
                    self._parts.pop(part.number, None)
            case _:
                raise WireError(f"a message is {message.kind!r}"[:100], "one that a place sends")

    def _keep(self, message: Message) -> None:
        """Bring what the place sampled of itself into the record."""
        try:
            rows = [
                SampleRow(
                    int(time),
                    self_metrics.MONITOR,
                    self._connection.host,
                    Sample(str(metric)[:100], float(value), str(unit)[:100], self_metrics.label(self.number)),
                )
                for time, metric, value, unit, _ in message["rows"]
            ]
        except (TypeError, ValueError) as problem:
            raise WireError(f"these are not samples: {problem}"[:200], "rows as pileup sends them") from problem
        with suppress(RecordError):  # a full disk is noticed where it ends the run
            self._folder.append_samples(rows)

    def _write(self, data: bytes) -> None:
        if self._table is None:
            raise WireError("a place of this host sends its table", "none")
        self._written += len(data)
        if self._written > TABLE_AHEAD + self._told * TABLE_ROW:
            raise WireError(f"a table of {self._written} bytes for {self._told} operations", "what they take")
        rest = memoryview(data)
        while rest:
            rest = rest[self._table.write(rest) or 0 :]

    def _gone(self, reason: str) -> None:
        """Count what was under way there as lost, and end its part of each load."""
        with self.changed:
            self.lost = reason
            told = f"place {self.number} ({self.name}) was lost: {reason}"
            with suppress(RecordError):  # a full disk is noticed where it ends the run
                self._folder.event("place", told, state="lost", place=self.number)
            underway = self._board.underway() if self._board else []
            for part in self._parts.values():
                if part.news.over:
                    continue
                if part.begun:
                    with suppress(RecordError):
                        part.news.frames += self._loss.of(part.order, part.begun, part.share, underway, told)
                began = self._loss.anything(part.order.case)
                part.lost = True
                part.news.ending = Ending(EndingKind.PLACE_LOST if began else EndingKind.SET_UP_FAILED, told)
                part.news.over = True
            self._ledger += self._loss.of_ledger(told)
            self.changed.notify_all()
            parts = list(self._parts.values())
        for part in parts:
            part.left()
