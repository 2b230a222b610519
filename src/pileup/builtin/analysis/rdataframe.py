"""The engine `rdataframe`: ROOT's RDataFrame in a process of its own, one for each client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pileup.builtin.analysis.data_set import TREE, DataFile
from pileup.builtin.analysis.engines import Engine, Histograms, Read, Reader, Usage, Wanted
from pileup.builtin.analysis.functions import add
from pileup.builtin.analysis.histograms import ABOVE, VALUES
from pileup.builtin.analysis.root.process import RootProcess
from pileup.builtin.analysis.root.worker import Answer, Histogram, Order
from pileup.builtin.analysis.ways import Way
from pileup.plugin import Failed, PluginError

START = 120.0
"""Seconds that importing ROOT and compiling may take."""
NETWORKED = {"http": ("curl", "davix"), "https": ("curl", "davix"), "root": ("xrootd",), "roots": ("xrootd",)}
"""Scheme -> features of ROOT, one of which it needs."""


class RDataFrameEngine(Engine):
    """Runs an event loop of RDataFrame for each packet."""

    def __init__(self, wanted: Wanted, way: Way, root: RootProcess, cache: int | None = None) -> None:
        super().__init__(wanted)
        self._cache = -1 if cache is None else cache
        self._root = root
        self._usage = Usage()
        self._reads: list[Read] = []
        self._before = Usage()
        """Of processes that have ended."""
        self.version = ""
        self.started_in = 0.0
        """Seconds that importing ROOT and compiling took."""
        self._way = way

    def close(self) -> None:
        """End the process."""
        self._root.close()

    @property
    def usage(self) -> Usage:
        """What was used so far: CPU time of the process of ROOT."""
        return self._usage

    def reads(self) -> list[Read]:
        """Return the reads since the last call."""
        found, self._reads = self._reads, []
        return found

    def start(self) -> None:
        """Start the process. Raises PluginError where there is no ROOT, or one that cannot read by this way."""
        begun, wanted = time.monotonic(), self.wanted
        answer = self._ask(Order(do="prepare"), START)
        self.version, self.started_in = answer["version"], time.monotonic() - begun
        needed = NETWORKED.get(self._way.scheme, ())
        if needed and not set(needed) & set(answer["features"]):
            without = " and ".join(needed)
            told = f"ROOT {self.version} here reads no {self._way.scheme}://: it is built without {without}"
            raise PluginError(told, "a ROOT that is built with one of them", "`engine: uproot`, or another `python`")
        model, columns = wanted.model, wanted.columns
        counters = {each.counter for each in model.collections}
        self._specs = [spec for spec in model.specs if spec.column in columns]
        self._numbers = [number for number, column in enumerate(model.columns) if column in columns]
        order = Order(do="query", function=wanted.function, folder=str(wanted.folder), traced=wanted.traced)
        order["columns"] = [(name, name in counters, mid) for name, mid in model.columns.items() if name in columns]
        order["histograms"] = [(s.column, s.column in counters, s.bins, s.low, s.high) for s in self._specs]
        self._ask(order, wanted.timeout)

    @contextmanager
    def opened(self, way: Way, file: DataFile, ntuple: bool) -> Iterator[Reader]:
        """Open a file. Raises Failed when it has no events, or another number of them, or is read from here."""
        if not self._root.runs:
            self.start()
        shown, url = way.name_of(file.name), way.url_of(file.name)
        token = way.token.get()
        try:
            order = Order(do="open", url=url, name=shown, tree=TREE, ntuple=ntuple, cache=self._cache)
            answer = self._ask(order, self.wanted.timeout)
        except Failed as problem:
            if token and token in str(problem):
                what, expected = problem.what.replace(token, "(the token)"), problem.expected
                raise Failed(what, expected, problem.hint) from None
            raise
        if answer["entries"] != file.events:
            told = f"{shown} has {answer['entries']} events"
            raise Failed(told, f"{file.events}, as the data set says", "generate it again")
        try:
            yield _Frame(self)
        finally:
            if self._root.runs:
                with suppress(Failed, TimeoutError):
                    self._ask(Order(do="close"), self.wanted.timeout)

    @staticmethod
    def edges(file: DataFile, events: int) -> list[int]:
        """Return those of the whole file, as far as `events`: RDataFrame goes through it in one event loop."""
        return [0, min(file.events, events)]

    def take(self, begin: int, end: int, into: Histograms) -> int:
        """Run an event loop and add what it has filled."""
        answer = self._ask(Order(do="events", begin=begin, end=end), self.wanted.timeout)
        if self.wanted.function:
            add(into, _histograms(answer["histograms"]), self.wanted.function)
            return int(answer["events"])
        for name, found in ((VALUES, answer["values"]), (ABOVE, answer["above"])):
            into[name].view()[self._numbers] += found
        for spec, counts in zip(self._specs, answer["counts"], strict=True):
            into[spec.name].view(flow=True)[...] += [int(each) for each in counts]
        return int(answer["events"])

    def _ask(self, order: Order, seconds: float) -> Answer:
        if not self._root.runs:
            self._before = self._usage
        answer = self._root.ask(order, seconds)
        self._reads += (Read(*each) for each in answer.get("reads", ()))
        used, before = answer["usage"], self._before
        self._usage = Usage(
            None,
            before.read + used.get("bytes", 0),
            before.calls + used.get("calls", 0),
            before.vectors + used.get("vectors", 0),
            (before.decompression or 0.0) + used.get("unzip", 0.0),
            before.cpu + used["cpu"],
        )
        return answer


class _Frame(Reader):
    """A file that ROOT has open."""

    def __init__(self, engine: RDataFrameEngine) -> None:
        self._engine = engine

    def fill(self, begin: int, end: int, into: Histograms) -> int:
        """Run an event loop over events."""
        return self._engine.take(begin, end, into)


def _histograms(found: dict[str, Histogram]) -> Histograms:
    """Return histograms of ROOT as those of hist."""
    import hist  # noqa: PLC0415  `pileup list` loads every plug-in
    import numpy  # noqa: PLC0415

    made: Histograms = {}
    for name, each in found.items():
        axes = [
            hist.axis.Regular(len(edges) - 1, edges[0], edges[-1]) if uniform else hist.axis.Variable(edges)
            for edges, uniform in zip(each["edges"], each["uniform"], strict=True)
        ]
        made[name] = hist.Hist(*axes, storage=hist.storage.Double())
        shape = [len(axis) + 2 for axis in reversed(axes)]
        made[name].view(flow=True)[...] = numpy.array(each["counts"]).reshape(shape).T
    return made
