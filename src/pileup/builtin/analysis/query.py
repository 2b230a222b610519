"""Query a data set, and hold the histograms against its truth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property
from socket import gethostname
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from pileup.builtin.analysis.data_set import NAME, DataFile, DataSet, Missing, check_file, load
from pileup.builtin.analysis.engines import Engine, Histograms, Reader, Usage, Wanted
from pileup.builtin.analysis.histograms import Truth, added, difference, empty, masked
from pileup.builtin.analysis.models import MODELS, Model
from pileup.builtin.analysis.packages import require
from pileup.builtin.analysis.writing import expected_of
from pileup.builtin.storage.files import FolderPath, place_of
from pileup.plugin import Coordinator, Failed, Fraction, Op, Operation, Size, Test, option

require("uproot", "awkward", "hist")


class AnalysisQuery(Test):
    """Read a data set of `analysis.generate`, fill histograms, and compare them with the truth.

    One iteration is one query over all files of the set: an operation `open` for each file, and a `packet` for each
    part that is read at once, with the bytes and the reads that it took. Every bin of every histogram must be that of
    the truth; if one differs the iteration fails and names it.

    | query | reads |
    |---|---|
    | `noproc` | no events: only opens the files |
    | `procopt` | about 20 % of each event |
    | `proc` | everything |

    `branches: 2 %` reads that part of the columns instead, evenly spread; `events: 100` only the first 100 events of
    each file, whose truth is drawn again from the seed.

    | engine | reads with | a packet is | `function: ./mine.py:masses` gets |
    |---|---|---|---|
    | `uproot` | uproot, in pileup's process | a cluster | a record of awkward arrays with the columns of the query |
    | `rdataframe` | ROOT's RDataFrame, a process for each client | a file | a data frame with all columns |

    The function is called for each packet, and returns a histogram (`hist.Hist`, or one of ROOT) or a mapping of names
    to some. Those with the name of a histogram of the truth are compared with it. `cache: 30 MB` is the size of ROOT's
    TTreeCache; ROOT's default is an automatic one. `python` names another Python whose ROOT is used.

    Each iteration reports numbers, which checks select as `TEST.cpu_efficiency`:

    | number | unit | what |
    |---|---|---|
    | `events` | | events read |
    | `read` | B | received from the file or the server |
    | `asked` | B | what uproot needed of that; gaps between are read, too |
    | `reads`, `vector_reads` | | reads, and how many of them ask for several pieces at once |
    | `decompression` | s | of a TTree in ROOT |
    | `cpu`, `wall` | s | CPU time: of ROOT's process, with uproot of the process of pileup, all its clients together |
    | `cpu_efficiency` | % | `cpu` by `wall` |
    | `query_seconds` | s | the whole query, of all its workers where they run it together |
    | `start` | s | importing ROOT and compiling, before the first query |

    `together: true` has all clients of the load run one query: each asks for packets, wherever it is, and the sum of
    their histograms is compared with the truth; docs/analysis.md describes its operations. `load: {clients: 4, times:
    8}` are two queries of four workers. `trace: workers` has an operation `read` for each read of a file, with its
    bytes and calls, which `open` and `packet` do not have then.

    The data set is checked before the first query: every file must be there with its size and sha256. Reading all
    of a file puts it into the page cache; `check_files: size` does without. The target says by which way files are
    read: a disk, root:// or https. Needs `pip install 'pileup[analysis]'`, for ROOT `pip install 'pileup[root]'`.
    """

    name = "analysis.query"
    needs = "files"
    names_nodes: ClassVar[bool] = True

    query: Literal["noproc", "proc", "procopt"] = option("procopt", help="what is read")
    engine: Literal["uproot", "rdataframe"] = option("uproot", help="what reads")
    folder: FolderPath = option("", help="folder of the data set, as `analysis.generate` has it")
    branches: Fraction | None = option(None, gt=0, le=1, help="part of the columns to read instead, e.g. `2 %`")
    events: int | None = option(None, ge=1, help="events of each file to read; all, if it is not given")
    function: str = option("", help="function to call with the events of each packet: ./file.py:function")
    cache: Size | None = option(
        None, ge=0, help="size of ROOT's TTreeCache; 0 B: none. For the engine rdataframe and files with a TTree"
    )
    python: str = option("", help="Python that imports ROOT, for the engine rdataframe; default: pileup's own")
    check_files: Literal["content", "size"] = option("content", help="what is checked before the first query")
    trace: Literal["master", "workers"] = option("master", help="workers: each read of a file is an operation, too")
    together: bool = option(False, help="all clients of the load run one query together, and share its packets")

    def check(self) -> None:
        """Refuse options that contradict each other; load the function."""
        if self.query == "noproc" and (self.branches or self.events or self.function):
            raise ValueError("noproc reads no events; expected it without branches, events and function")
        if self.engine != "rdataframe" and (self.cache is not None or self.python):
            raise ValueError(f"{self.engine} has no TTreeCache and no Python of its own; expected `engine: rdataframe`")
        load = self.context.load
        shared = load is None or (not load.open and load.number is not None and not load.number % (load.most or 1))
        if self.together and not shared:
            told = "`together` with a load of another kind, or of `times` that the clients cannot share"
            raise ValueError(f"{told}; expected a multiple of the clients, e.g. {{clients: 4, times: 8}}: two queries")
        if self.function:
            from pileup.builtin.analysis.functions import function_file, load_function  # noqa: PLC0415  as in packages

            # what is for ROOT may import it: that is for its own process
            find = load_function if self.engine == "uproot" else function_file
            find(self.function, self.context.folder)

    def coordinator(self) -> Coordinator | None:
        """Return what hands out the packets of a query that all clients run together."""
        if not self.together:
            return None
        from pileup.builtin.analysis.hand_out import HandOut, Task  # noqa: PLC0415  as in `setup`

        self._read_description()
        edges = [self._engine_class.edges(file, self.events or file.events) for file in self._set.files]
        task = Task(self._set.files, edges, self.function, self._different, self._set.without_truth())
        return HandOut(task, self._clients)

    def setup(self) -> None:
        """Read the description of the data set, check its files, start the engine."""
        from pileup.builtin.analysis import together  # noqa: PLC0415  `pileup list` loads every plug-in
        from pileup.builtin.analysis.ways import way_of  # noqa: PLC0415  the same

        if self.together:
            self._folder = place_of(self.folder, self.context.own)
            self._set: DataSet = together.enter(self)
        else:
            self._read_description()
        self._ntuple = self._set.recipe.storage == "rntuple"
        if self._ntuple and self.cache is not None:
            raise Failed("`cache` is given, and the data set is an RNTuple", "a TTree: only that has a TTreeCache")
        if self.together:
            self._missing = together.missing_of(self._set, self.context.client, self._clients, self._is_there)
        else:
            for file in self._set.files:
                check_file(self.target, self._folder, file, self.check_files == "content")
        self._way = way_of(self.target, self._folder)
        self._engine = self._make()

    def _read_description(self) -> None:
        self._folder = place_of(self.folder, self.context.own)
        self._set = load(self.target, f"{self._folder}/{NAME}".lstrip("/"))

    def _is_there(self, file: DataFile, content: bool) -> bool:
        """Whether a file is there; another host may have it on a disk of its own."""
        try:
            check_file(self.target, self._folder, file, content and self.check_files == "content")
        except Missing:
            if file.place == gethostname() or urlsplit(self.target.url).scheme not in {"", "file"}:
                raise
            return False
        return True

    @property
    def _engine_class(self) -> type[Engine]:
        if self.engine == "uproot":
            from pileup.builtin.analysis.uproot_engine import UprootEngine  # noqa: PLC0415  the same

            return UprootEngine
        from pileup.builtin.analysis.rdataframe import RDataFrameEngine  # noqa: PLC0415  the same

        return RDataFrameEngine

    def _make(self) -> Engine:
        patience = self.context.timeout / 1e9
        traced = self.trace == "workers"
        wanted = Wanted(self._model, self._columns, self.function, self.context.folder, patience, traced)
        self._start: float | None = None
        if self.engine == "uproot":
            from pileup.builtin.analysis.uproot_engine import UprootEngine  # noqa: PLC0415  the same

            return UprootEngine(wanted)
        from pileup.builtin.analysis.rdataframe import RDataFrameEngine  # noqa: PLC0415  the same
        from pileup.builtin.analysis.root.process import RootProcess  # noqa: PLC0415  the same

        made = RDataFrameEngine(wanted, self._way, RootProcess(self.python, self._way.environment()), self.cache)
        try:
            made.start()
        except BaseException:
            made.close()
            raise
        self._start = made.started_in
        return made

    def teardown(self) -> None:
        """End the engine."""
        self._engine.close()

    def run(self, op: Op) -> None:
        """Query all files once, or do this client's part of it."""
        begun, before = time.perf_counter(), self._engine.usage
        try:
            events = self._part(op) if self.together else self._whole(op)
        finally:
            self._tell(self._engine.usage - before, time.perf_counter() - begun)
        self.report("events", events)

    def _part(self, op: Op) -> int:
        from pileup.builtin.analysis.together import Part  # noqa: PLC0415  as in `setup`

        return Part(self, op, self._set, self._missing).run()

    def _whole(self, op: Op) -> int:
        found, begin = self.no_histograms(), time.perf_counter()
        events = sum(self._query(op, file, found) for file in self._set.files)
        took = time.perf_counter() - begin
        self.report("query_seconds", took, "s", query=self.way, workers=0, places=0, files=len(self._set.files))
        if different := self._different(found):
            raise Failed(*different)
        return events

    @property
    def way(self) -> str:
        """Which query it is, in a word."""
        return "own" if self.function else self.query

    def no_histograms(self) -> Histograms:
        """Return the histograms of no events."""
        return {} if self.function else empty(self._model, self._columns)

    def _different(self, found: Histograms) -> tuple[str, str, str] | None:
        """Return how histograms differ from the truth: what, expected, next; None if they do not."""
        # of a function, those that it shares with the truth
        expected = {name: each for name, each in self._expected.items() if name in found or not self.function}
        if different := difference(expected, found):
            what, wanted, hint = different
            return what, f"{wanted}, as the truth of the data set says", hint
        return None

    def _query(self, op: Op, file: DataFile, found: Histograms) -> int:
        with ExitStack() as stack:
            reader = self.open_file(op, file, stack)
            packets = self._engine.packets(file, self.events or file.events)
            return sum(self.read_packet(op, reader, file, packet, found) for packet in packets)

    def open_file(self, op: Op, file: DataFile, stack: ExitStack) -> Reader:
        """Open a file as the operation `open`, until the stack is closed."""
        with op("open", file.name) as opening:
            before = self._engine.usage
            reader = stack.enter_context(self._engine.opened(self._way, file, self._ntuple))
            self._moved(op, opening, file, before)
        return reader

    def read_packet(
        self, op: Op, reader: Reader, file: DataFile, packet: tuple[int, int], found: Histograms, **labels: str
    ) -> int:
        """Read a packet as the operation `packet` and fill histograms; return its events."""
        with op("packet", f"{file.name} {packet[0]}-{packet[1]}", labels=labels or None) as reading:
            if not self._columns:
                return packet[1] - packet[0]
            before = self._engine.usage
            number = reader.fill(*packet, found)
            self._moved(op, reading, file, before, labels)
        return number

    def _moved(
        self, op: Op, doing: Operation, file: DataFile, before: Usage, labels: Mapping[str, str] | None = None
    ) -> None:
        """Note bytes and calls: with the operation, or with each of its reads if these are traced."""
        if self.trace == "workers":
            for read in self._engine.reads():
                op.record(
                    "read",
                    file.name,
                    start=read.start,
                    end=read.end,
                    bytes=read.bytes,
                    calls=read.calls,
                    labels=labels or None,
                )
            return
        used = self._engine.usage - before
        doing.bytes, doing.calls = used.read, used.calls

    def _tell(self, used: Usage, wall: float) -> None:
        """Report what a query has used."""
        if self._start is not None:
            self.report("start", self._start, "s")
            self._start = None
        if used.asked is not None:
            self.report("asked", used.asked, "B")
        self.report("read", used.read, "B")
        self.report("reads", used.calls)
        self.report("vector_reads", used.vectors)
        if used.decompression is not None and not self._ntuple:
            self.report("decompression", used.decompression, "s")
        self.report("cpu", used.cpu, "s")
        self.report("wall", wall, "s")
        if wall > 0:
            self.report("cpu_efficiency", 100 * used.cpu / wall, "%")

    @property
    def _clients(self) -> int:
        return (self.context.load.most if self.context.load else None) or 1

    @property
    def _model(self) -> Model:
        return MODELS[self._set.recipe.model]

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns to read, in the order of the model."""
        all_ = tuple(self._model.columns)
        if self.query == "noproc":
            return ()
        if self.branches is not None:
            number = max(1, round(len(all_) * self.branches))
            return tuple(all_[place * len(all_) // number] for place in range(number))
        return all_ if self.query == "proc" else self._model.optimised

    @cached_property
    def _expected(self) -> dict[str, Truth]:
        """The histograms that the query must find."""
        if self.events is None:
            expected = masked(self._set.truth, self._model, self._columns)
        else:
            recipe, columns, events = self._set.recipe, self._columns, self.events
            expected = added([expected_of(recipe, file.number, columns, events) for file in self._set.files])
        return expected
