"""Query a data set, and hold the histograms against its truth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pileup.builtin.analysis.data_set import NAME, DataFile, DataSet, Missing, check_file, load
from pileup.builtin.analysis.hand_out import HandOut, Wanted
from pileup.builtin.analysis.histograms import Truth, added, difference, empty, fill, masked
from pileup.builtin.analysis.models import MODELS, Model
from pileup.builtin.analysis.packages import require
from pileup.builtin.analysis.reading import Opened, lack_of, opened, packets, url_of
from pileup.builtin.analysis.together import Part, enter, missing_of, node_here
from pileup.builtin.analysis.writing import expected_of
from pileup.builtin.storage.files import FolderPath, place_of
from pileup.plugin import Coordinator, Failed, Fraction, Op, Test, option

if TYPE_CHECKING:
    from hist import Hist

    from pileup.builtin.analysis.functions import Function

require("uproot", "awkward", "hist")


class AnalysisQuery(Test):
    """Read a data set of `analysis.generate` with uproot, fill histograms, and compare them with the truth.

    One iteration is one query over all files of the set: an operation `open` for each file, and a `packet` for each
    cluster of events, with the bytes and requests that uproot asked for. Every bin of every histogram must be that of
    the truth; if one differs the iteration fails and names it.

    | query | reads |
    |---|---|
    | `noproc` | no events: only opens the files |
    | `procopt` | about 20 % of each event |
    | `proc` | everything |

    `branches: 2 %` reads that part of the columns instead, evenly spread; `events: 100` only the first 100 events of
    each file, whose truth is drawn again from the seed. `function: ./mine.py:masses` calls your own function with the
    events of each packet, a record of awkward arrays with the columns of the query; it returns a `hist.Hist`, or a
    mapping of names to some. Those with the name of a histogram of the truth are compared with it.

    `together: true` has all clients of the load run one query: each asks for packets, wherever it is, and the sum of
    their histograms is compared with the truth; docs/analysis.md describes its operations. `load: {clients: 4, times:
    8}` are two queries of four workers.

    The data set is checked before the first query: every file must be there with its size and sha256. Reading all
    of a file puts it into the page cache; `check_files: size` does without. The target says by which way files are
    read: a disk, root:// or https. Needs `pip install 'pileup[analysis]'`.
    """

    name = "analysis.query"
    needs = "files"

    query: Literal["noproc", "proc", "procopt"] = option("procopt", help="what is read")
    folder: FolderPath = option("", help="folder of the data set, as `analysis.generate` has it")
    branches: Fraction | None = option(None, gt=0, le=1, help="part of the columns to read instead, e.g. `2 %`")
    events: int | None = option(None, ge=1, help="events of each file to read; all, if it is not given")
    function: str = option("", help="function to call with the events of each packet: ./file.py:function")
    check_files: Literal["content", "size"] = option("content", help="what is checked before the first query")
    together: bool = option(False, help="all clients of the load run one query together, and share its packets")

    def check(self) -> None:
        """Refuse options that contradict each other; load the function."""
        if self.query == "noproc" and (self.branches or self.events or self.function):
            raise ValueError("noproc reads no events; expected it without branches, events and function")
        load = self.context.load
        if self.together and load is not None and load.kind != "once":
            whole = load.clients and load.times and load.times % load.clients == 0
            if not whole:
                told = "`together` with a load of another kind, or of `times` that the clients cannot share"
                raise ValueError(
                    f"{told}; expected a multiple of the clients, e.g. {{clients: 4, times: 8}}: two queries"
                )
        self._function: Function | None = None
        if self.function:
            from pileup.builtin.analysis.functions import load_function  # noqa: PLC0415  who lists plug-ins needs none

            self._function = load_function(self.function, self.context.folder)

    def lacks(self) -> str:
        """Report what of the target uproot does not use."""
        return lack_of(self.target)

    def coordinator(self) -> Coordinator | None:
        """Return what hands out the packets of a query that all clients run together."""
        if not self.together:
            return None
        self._read_description()
        most = self.events or self._set.recipe.events
        edges = [[*(edge for edge in file.clusters if edge < most), min(most, file.events)] for file in self._set.files]
        return HandOut(Wanted(self._set, edges, self.function, self._different), self._clients)

    def setup(self) -> None:
        """Read the description of the data set, and check its files."""
        if self.together:
            self._folder = place_of(self.folder, self.context.own)
            self._set: DataSet = enter(self)
            self._missing = missing_of(self._set, self.context.client, self._clients, self._is_there)
            return
        self._read_description()
        for file in self._set.files:
            check_file(self.target, self._folder, file, self.check_files == "content")

    def _read_description(self) -> None:
        self._folder = place_of(self.folder, self.context.own)
        self._set = load(self.target, f"{self._folder}/{NAME}".lstrip("/"))

    def _is_there(self, file: DataFile, content: bool) -> bool:
        """Whether a file is there; another host may have it on a disk of its own."""
        try:
            check_file(self.target, self._folder, file, content and self.check_files == "content")
        except Missing:
            if file.place == node_here() or urlsplit(self.target.url).scheme not in {"", "file"}:
                raise
            return False
        return True

    def run(self, op: Op) -> None:
        """Query all files once, or do this client's part of it."""
        if self.together:
            self.report("events", Part(self, op, self._set, self._missing).run())
            return
        found, events, begin = self.no_histograms(), 0, time.perf_counter()
        for file in self._set.files:
            events += self._query(op, file, found)
        took = time.perf_counter() - begin
        self.report("query_seconds", took, "s", query=self.way, workers=0, places=0, files=len(self._set.files))
        self.report("events", events)
        if different := self._different(found):
            raise Failed(*different)

    @property
    def way(self) -> str:
        """Which query it is, in a word."""
        return "own" if self.function else self.query

    def no_histograms(self) -> dict[str, Hist[Any]]:
        """Return the histograms of no events."""
        return {} if self._function else empty(self._model, self._columns)

    def _different(self, found: dict[str, Hist[Any]]) -> tuple[str, str, str] | None:
        """Return how histograms differ from the truth: what, expected, next; None if they do not."""
        # of a function, those that it shares with the truth
        expected = {name: each for name, each in self._expected.items() if name in found or not self._function}
        if different := difference(expected, found):
            what, wanted, hint = different
            return what, f"{wanted}, as the truth of the data set says", hint
        return None

    def _query(self, op: Op, file: DataFile, found: dict[str, Hist[Any]]) -> int:
        with ExitStack() as stack:
            it = self.open_file(op, file, stack)
            return sum(self.read_packet(op, it, file, packet, found) for packet in self._packets(file))

    def open_file(self, op: Op, file: DataFile, stack: ExitStack) -> Opened:
        """Open a file as the operation `open`, until the stack is closed."""
        with op("open", file.name) as opening:
            it = stack.enter_context(opened(url_of(self.target, self._folder, file.name), file))
            opening.bytes, opening.calls = it.asked
        return it

    def _packets(self, file: DataFile) -> Iterator[tuple[int, int]]:
        if self._columns:
            yield from packets(file.clusters, self.events or file.events)

    def read_packet(
        self, op: Op, it: Opened, file: DataFile, packet: tuple[int, int], found: dict[str, Hist[Any]], **labels: str
    ) -> int:
        """Read a packet as the operation `packet` and fill histograms; return its events."""
        import awkward  # noqa: PLC0415  `pileup list` loads every plug-in

        with op("packet", f"{file.name} {packet[0]}-{packet[1]}", labels=labels or None) as reading:
            if not self._columns:
                return packet[1] - packet[0]
            before = it.asked
            events = it.read(self._columns, *packet)
            reading.bytes, reading.calls = (now - then for now, then in zip(it.asked, before, strict=True))
            if self._function is not None:
                from pileup.builtin.analysis.functions import add, returned  # noqa: PLC0415  the same

                add(found, returned(self._function(events), self.function), self.function)
            else:
                fill(self._model, found, self._columns, lambda column: awkward.to_numpy(awkward.ravel(events[column])))
        return len(events)

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
