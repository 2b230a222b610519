"""The run folder: the only code that knows which file holds what."""

from __future__ import annotations

import json
import os
import re
import reprlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pileup.model.errors import DamagedRecord, NotARun, RecordError
from pileup.model.event import CLOCK
from pileup.model.journal import EventEntry, JournalEntry
from pileup.model.manifest import Manifest
from pileup.model.record import Claimed, ClaimRow, FindingRow, Frame, SampleRow
from pileup.model.timed import OperationBatch
from pileup.record import (
    artefacts,
    audit,
    convert,
    files,
    frames,
    kept,
    manifest,
    older,
    operations,
    origin,
    samples,
    served,
    sums,
)
from pileup.record.joining import in_words
from pileup.record.journal import Lines
from pileup.record.operations import Operations
from pileup.record.output import STREAMS, Output, folder_name, read_bounded, stream_path
from pileup.record.parts import Parts
from pileup.record.report_names import EXPECTED, SUBFOLDERS, wrong
from pileup.record.settling import Spans, spans
from pileup.record.tables import Rows, TableReader, TableWriter
from pileup.record.tail import LazyFrames, Position
from pileup.record.typed_json import read_known

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHOWN_OUTPUT = 256 << 10
"""Bytes of each output file that reports get."""


class RunFolder:
    """One run on the disk. Writing and reading may go on at once, from several threads and processes.

    Data comes with its times, except events and the journal: `clock` gives theirs (ns since the epoch).
    """

    def __init__(self, path: Path, clock: Callable[[], int] = time.time_ns) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._frames: dict[int, TableWriter] = {}
        self._samples: TableWriter | None = None
        self._audit: dict[str, TableWriter] = {}
        self._served: TableWriter | None = None
        self._served_rows = 0
        self._journal = Lines(path / "journal.jsonl", synced=True, clock=clock)
        self._events = Lines(path / "events" / "events.jsonl", synced=False, clock=clock)
        self._nonce = ""
        self._manifest: tuple[tuple[int, int, int], Manifest] | None = None

    @classmethod
    def create(
        cls, base: Path, title: str, started_ns: int, clock: Callable[[], int] = time.time_ns, nonce: str = ""
    ) -> RunFolder:
        """Make the folder `base/2026-11-21T10-15-03Z-title`, numbered when there is one of that name.

        `nonce`: 32 hexadecimal digits, by which its temporary folders are known; default: random ones. Raises
        RecordError when it cannot be made.
        """
        moment = datetime.fromtimestamp(started_ns / 1e9, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:60].strip("-") or "run"
        try:
            base.mkdir(parents=True, exist_ok=True)
            path = _first_free(base, f"{moment}-{slug}")
            for name in SUBFOLDERS:
                (path / name).mkdir(mode=0o755)
            files.sync(path)
            files.sync(base)
        except OSError as problem:
            raise RecordError(
                f"cannot make a run folder in {base}: {problem.strerror}", "a folder you may write to", "--out DIR"
            ) from problem
        made = cls(path.resolve(), clock)
        made._nonce = nonce or secrets.token_hex(16)
        return made

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """Open the folder of a run that goes on, has ended or has crashed.

        Raises RecordError when it is not one, or has links, pipes or devices in place of files: it may be anybody's.
        """
        folder = cls(Path(path).resolve())
        if not folder.path.is_dir():
            raise NotARun(f"there is no folder {path}", "a run folder", "`pileup run` prints its name last")
        if not os.path.lexists(folder.path / "run.json"):
            raise NotARun(f"{folder.path} is not a run folder (no run.json)", "a run folder")
        files.check(folder.path)
        folder.manifest()
        return folder

    def manifest(self) -> Manifest:
        """Return what run.json holds. Raises NotARun when it is not there, DamagedRecord when not ours."""
        path = self.path / "run.json"
        try:
            version = self.manifest_version()
            if self._manifest is not None and self._manifest[0] == version:
                return self._manifest[1]
            info = json.loads(files.read(path))
        except FileNotFoundError:
            raise NotARun(f"{self.path} is not a run folder (no run.json)", "a run folder") from None
        except RecursionError:
            raise DamagedRecord(
                f"{path} cannot be read: it is nested too deeply", "run.json as pileup writes it"
            ) from None
        except (OSError, ValueError) as problem:
            raise DamagedRecord(f"{path} cannot be read: {problem}", "run.json as pileup writes it") from problem
        found = manifest.from_json(info, path)
        self._manifest = (version, found)  # several ask for it, and a large one takes long to read
        return found

    def manifest_version(self) -> tuple[int, int, int]:
        """Return what is another one whenever run.json was replaced. Raises OSError when it is not there."""
        found = (self.path / "run.json").lstat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    @property
    def nonce(self) -> str:
        """Identifies the run in names of temporary folders and in the registry; empty in old records."""
        if not self._nonce:
            self._nonce = self.manifest().nonce
        return self._nonce

    @property
    def origin(self) -> str:
        """Identifies the run in tables and the journal; empty in old records."""
        return origin.of_run(self.nonce)

    def server_log(self, target: str, process: str) -> Path | None:
        """Return where the output of a process of a launched server goes; None for names that are none."""
        if "/" in target + process or not target or not process:
            return None
        return self.path / files.SERVERS / f"{target}.logs" / f"{process}.log"

    def save(self, run: Manifest) -> None:
        """Replace run.json at once: readers see the old one or the new one, never a part. Raises RecordError."""
        text = manifest.text_of(replace(run, nonce=self.nonce))
        self._replace(self.path / "run.json", text.encode(errors="replace"))

    def journal(self, what: str, state: str, **fields: Any) -> int:
        """Note an intent or that it is done; on the disk before this returns. Return the number of the entry.

        Raises RecordError when the disk refuses.
        """
        return _appended(self._journal, {"what": what, "state": state, **fields})

    def journal_entries(self) -> Iterator[JournalEntry]:
        """Yield the entries of the journal."""
        return map(partial(read_known, JournalEntry), self._journal.read())

    def event(self, kind: str, text: str, **fields: Any) -> None:
        """Note something that happened to the run. Raises RecordError when the disk refuses."""
        _appended(self._events, {"kind": kind, "text": text, **fields})

    def events(self) -> Iterator[EventEntry]:
        """Yield what happened: number, time (ns since the epoch), kind, text and more."""
        found = (replace(read_known(EventEntry, words), words=words) for words in self._events.read())
        return map(older.event, found)

    def operations_path(self, place: int) -> Path:
        """Return the file that the recorder of a place begins."""
        return self.path / "operations" / f"{place}.table"

    def lost_path(self, place: int) -> Path:
        """Return the file for what was under way at a place that is lost."""
        return self.path / "operations" / f"{place}-lost.table"

    def next_place(self) -> int:
        """Return the number for the first place of a session: none of an earlier one has it or a larger one."""
        used = [place.number for place in self.manifest().places]
        return max([self._parts("operations").next(), self._parts("frames").next(), *(number + 1 for number in used)])

    def operations(self) -> Operations:
        """Return the operations for questions, converted or not."""
        return Operations(self._parts("operations"), self._parts("served"), self.manifest(), self._spans)

    def append_frame(self, frame: Frame) -> None:
        """Append a frame to the table of its place."""
        with self._lock:
            writer = self._frames.get(frame.place)
            if writer is None:
                path = self.path / "frames" / f"{frame.place}.table"
                writer = self._frames[frame.place] = TableWriter(
                    path, "frames", frames.COLUMNS, frame.place, self.origin
                )
        rows, texts = frames.to_rows(frame)
        writer.append(rows, texts, frames.STRINGS)

    def frames(self, case: int | None = None) -> Iterator[Frame]:
        """Yield the frames of a case, or of all: place by place, each in the order of time.

        Those of attempts that were broken off, and made again, are left out.
        """
        void = set(self.manifest().void)
        for path in self._tables("frames"):
            for frame, _ in frames.read(TableReader(path, frames.OLDEST)):
                if case in (None, frame.case) and (frame.case, frame.place) not in void:
                    yield frame

    def tail_frames(self, position: Position | None) -> tuple[Sequence[Frame], Position]:
        """Return the frames since a position (None: since the beginning) and the position of the end.

        The frames are read when they are looked at: with None this is a cheap way to ask for the position alone.
        """
        known = position or {}
        end: Position = {}
        for path in self._tables("frames"):
            begin = known.get(path.name, 0)
            writer = next((each for each in self._frames.values() if each.path == path), None)
            end[path.name] = writer.length if writer else TableReader(path).end_of_rows(begin)
        return LazyFrames(self.path / "frames", dict(known), dict(end)), end

    def append_samples(self, rows: Sequence[SampleRow]) -> None:
        """Append samples of monitors."""
        if not rows:
            return
        with self._lock:
            if self._samples is None:
                self._samples = TableWriter(self._parts("samples").table(), "samples", samples.COLUMNS, run=self.origin)
        table, texts = samples.to_rows(rows)
        self._samples.append(table, texts, samples.STRINGS)

    def samples(self, connection: DuckDBPyConnection | None = None) -> Iterator[SampleRow]:
        """Yield all samples; `connection`: one that is there already."""
        parts = self._parts("samples")
        for parquet in parts.parquets():
            with operations.readable(parquet), operations.opened(connection) as asked:
                yield from samples.read_parquet(asked, operations.quoted(parquet))
        for path in parts.tables():
            yield from (row for row, _ in samples.read(TableReader(path, samples.NEEDED)))

    def tail_samples(self, position: Position | None) -> tuple[list[SampleRow], Position]:
        """Return the samples since a position (None: since the beginning) and the position of the end."""
        end: Position = dict(position or {})
        rows: list[SampleRow] = []
        for path in self._tables("samples"):
            for row, behind in samples.read(TableReader(path, samples.NEEDED), end.get(path.name, 0)):
                rows.append(row)
                end[path.name] = behind
        return rows, end

    def end_of_samples(self) -> Position:
        """Return the position behind all samples so far, for `tail_samples`."""
        with self._lock:
            writer = self._samples
            known = {writer.path: writer.length} if writer else {}
        return {path.name: known.get(path) or TableReader(path).end_of_rows() for path in self._tables("samples")}

    def append_recorded(self, batch: OperationBatch, source: served.Source, place: int) -> None:
        """Append operations that a monitor recorded, in a session whose first place is `place`."""
        with self._lock:
            if self._served is None:
                folder = self.path / "served"
                folder.mkdir(exist_ok=True)  # records of earlier releases have none
                self._served = TableWriter(self._parts("served").table(), "served", served.ROW, place, self.origin)
            before = self._served_rows
            self._served_rows += len(batch)
        self._served.append(*served.to_rows(batch, source, place, before), served.STRINGS)

    def append_claims(self, claims: Sequence[ClaimRow]) -> None:
        """Append submissions that clients claim."""
        if claims:
            self._append_audit(audit.CLAIMS, *audit.claims_to_rows(claims))

    def claims(self, newest_first: bool = False, mine: bool = False) -> Iterator[ClaimRow]:
        """Yield what clients claim to have submitted; `mine`: only what was appended through this object."""
        with self._lock:
            writer = self._audit.get(audit.CLAIMS)
        here = [writer.path] if writer else []
        return audit.read_claims(here if mine else audit.paths(self.path / "audit", audit.CLAIMS), newest_first)

    def append_findings(self, findings: Sequence[FindingRow]) -> None:
        """Append what an audit found."""
        if findings:
            self._append_audit(audit.FINDINGS, *audit.findings_to_rows(findings))

    def findings(self) -> Iterator[FindingRow]:
        """Yield what audits found, in the order in which they did."""
        return audit.read_findings(audit.paths(self.path / "audit", audit.FINDINGS))

    def _append_audit(self, table: str, rows: Rows, texts: list[bytes]) -> None:
        columns, strings = audit.COLUMNS[table]
        with self._lock:
            if table not in self._audit:
                folder = self.path / "audit"
                folder.mkdir(exist_ok=True)  # records of earlier releases have none
                self._audit[table] = TableWriter(audit.next_path(folder, table), table, columns, run=self.origin)
            writer = self._audit[table]
        writer.append(rows, texts, strings)

    def output(self, case_name: str, claim: Callable[[Sequence[Claimed]], None] = lambda claims: None) -> Output:
        """Return where the output of a case goes; `claim` brings what its tests claim into the record."""

        def tell(text: str) -> None:
            with suppress(RecordError):  # a full disk is noticed where it ends the run
                self.event("test", f"{case_name}: {text}")

        return Output(self.path / "output" / folder_name(case_name), tell, claim)

    def output_paths(self, case_name: str) -> dict[str, str]:
        """Return stream -> path inside the run folder, empty when the case printed nothing there."""
        folder = self.path / "output" / folder_name(case_name)
        paths = {stream: stream_path(folder, stream) for stream in STREAMS}
        return {stream: str(path.relative_to(self.path)) if path.exists() else "" for stream, path in paths.items()}

    def artefacts(self, case_name: str) -> tuple[str, ...]:
        """Return the paths inside the run folder of the files that the tests of a case have left."""
        found = artefacts.found(self.path, folder_name(case_name))
        return tuple(str(path.relative_to(self.path)) for path in found)

    def artefact(self, path: str) -> str:
        """Return the text of one of these files; "" if it cannot be read."""
        with suppress(OSError, ValueError):
            return files.read(self.path / path).decode("utf-8", "replace")
        return ""

    def outputs(self, limit: int = SHOWN_OUTPUT) -> dict[str, str]:
        """Return path inside the run folder -> text for every output file; large ones without their middle."""
        found = sorted((self.path / "output").glob("*/*.txt"))
        return {str(path.relative_to(self.path)): read_bounded(path, limit) for path in found}

    def convert(self) -> None:
        """Turn the raw tables of operations and samples into Parquet; their writers must have ended."""
        with self._lock:
            for writer in (self._samples, self._served):
                if writer is not None:
                    writer.close()
            self._samples = self._served = None
        run = self.manifest()
        convert.convert_operations(self._parts("operations"), run)
        for clock in convert.convert_served(self._parts("served"), self._parts("operations"), run, self._spans):
            fields = {"monitor": clock.monitor, "ahead": clock.ahead, "error": clock.error}
            self.event(CLOCK, in_words(clock), **fields)
        convert.convert_samples(self._parts("samples"), run)
        sums.add_all(self.path, artefacts.found(self.path))

    def check_tables(self, connection: DuckDBPyConnection | None = None) -> None:
        """Raise DamagedRecord when a table of another run is here; `connection`: one that is there already."""
        origin.check(self.path, self.nonce, connection)

    def dependence(self) -> object | None:
        """Return what is kept of how values depend on their neighbours; None where it is of other tables than these."""
        return kept.read(self.path, self.manifest())

    def keep_dependence(self, found: object) -> None:
        """Keep that for the tables as they are now. Raises RecordError when the disk refuses."""
        try:
            kept.write(self.path, self.manifest(), found)
        except OSError as problem:
            told = f"{self.path / kept.NAME} cannot be written: {problem.strerror}"
            raise RecordError(told, "room on the disk") from problem

    def write_report(self, name: str, data: bytes) -> None:
        """Write a report into the folder, in the place of an older one. Raises RecordError, also for a wrong name."""
        if problem := wrong(name):
            raise RecordError(f"{reprlib.repr(name)} {problem}", EXPECTED)
        self._replace(self.path / name, data)

    def close(self) -> None:
        """End all writing."""
        with self._lock:
            single = [each for each in (self._samples, self._served) if each is not None]
            for writer in (*self._frames.values(), *single, *self._audit.values()):
                writer.close()
            self._frames, self._samples, self._served, self._audit = {}, None, None, {}

    def _spans(self) -> Spans:
        return spans(self.manifest(), self.frames())

    def _parts(self, name: str) -> Parts:
        return Parts(self.path / name)

    def _tables(self, name: str) -> list[Path]:
        return sorted((self.path / name).glob("*.table"))

    def _replace(self, path: Path, data: bytes) -> None:
        try:
            files.replace(path, data)
        except OSError as problem:
            raise RecordError(f"{path} cannot be written: {problem.strerror}", "room on the disk") from problem


def _appended(lines: Lines, fields: Mapping[str, object]) -> int:
    try:
        return lines.append(fields)
    except OSError as problem:
        raise RecordError(f"{lines.path} cannot be written: {problem.strerror}", "room on the disk") from problem


def _first_free(base: Path, name: str) -> Path:
    for number in range(1, 10_000):
        path = base / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(mode=0o755)  # whatever the umask: what is written in a journal is acted upon
        except FileExistsError:
            continue
        return path
    raise FileExistsError(17, f"{name} and 9999 more exist already")
