"""The process of ROOT: reads orders as lines of JSON, answers each with a line. Needs Python and ROOT, nothing else.

An order names what to do: `prepare`, `open`, `query`, `events`, `close`. An answer has what was asked for and `usage`,
counted since the start, or `problem`: what happened, what was expected, what to do next. What ROOT and functions of
users print goes to stderr.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Required, TypedDict

SOURCE = Path(__file__).with_name("reading.cxx")
LIBRARIES = ("libROOTDataFrame", "libROOTNTuple", "libTreePlayer", "libNetxNG")
PR_SET_PDEATHSIG = 1
REMOTE = ("TNetXNGFile", "TDavixFile", "TCurlFile", "TWebFile")
"""Classes of ROOT that read over a network."""


class Order(TypedDict, total=False):
    """What to do, and with what."""

    do: Required[str]
    url: str
    name: str
    """The url as users know it."""
    tree: str
    ntuple: bool
    cache: int
    columns: list[tuple[str, bool, float]]
    """Name, whether it is a counter, its middle."""
    histograms: list[tuple[str, bool, int, float, float]]
    """Column, whether it is a counter, bins, low, high."""
    function: str
    folder: str
    begin: int
    end: int
    traced: bool
    """Whether each read is answered, with `query`."""


class Histogram(TypedDict):
    """A histogram of the user."""

    name: str
    edges: list[list[float]]
    uniform: list[bool]
    counts: list[float]
    """As ROOT has them: with underflow and overflow, the first axis runs fastest."""


class Used(TypedDict, total=False):
    """What was used since the start: bytes, requests, seconds."""

    cpu: Required[float]
    bytes: int
    calls: int
    vectors: int
    unzip: float


class Answer(TypedDict, total=False):
    """What came of it."""

    usage: Used
    reads: list[tuple[int, int, int]]
    """Begin and end, ns since the epoch, and bytes of each read since the last answer, if they are traced."""
    missing: str
    problem: tuple[str, str, str]
    version: str
    features: list[str]
    entries: int
    events: int
    values: list[int]
    above: list[int]
    counts: list[list[float]]
    histograms: dict[str, Histogram]


class Problem(Exception):
    """What happened, what was expected, what to do next."""

    def __init__(self, what: str, expected: str, hint: str = "") -> None:
        super().__init__(what, expected, hint)


class Worker:
    """Carries out orders."""

    def __init__(self) -> None:
        self.root: Any = None
        self._file: Any = None
        self._query: Any = None
        self._names: list[str] = []
        self._function: Callable[[Any], Any] | None = None
        self._named = ""

    def prepare(self, order: Order) -> Answer:
        """Import ROOT, compile the C++ part; once."""
        import ROOT  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415

        if self.root is None:
            ROOT.gROOT.SetBatch(True)
            ROOT.gSystem.ResetSignals()  # a crash ends this process at once, and is not looked into by a debugger
            for library in LIBRARIES:  # what is compiled is linked to what is loaded
                ROOT.gSystem.Load(library)
            if not ROOT.gInterpreter.Declare(SOURCE.read_text()):
                told = f"ROOT {ROOT.gROOT.GetVersion()} does not compile what pileup reads with"
                raise Problem(told, "ROOT 6.36 or later")
            ROOT.pileup.prepare(str(SOURCE))
            self.root = ROOT
        return {"version": str(ROOT.gROOT.GetVersion()), "features": str(ROOT.gROOT.GetConfigFeatures()).split()}

    def open(self, order: Order) -> Answer:
        """Open a file. A url that ROOT answers from a file of this machine is a problem."""
        url = order["url"]
        try:
            self._file = self.root.pileup.File(url, order["tree"], order["ntuple"], order["cache"])
        except self.root.std.exception as problem:
            raise Problem(f"{order['name']} cannot be opened: {_plain(problem)}", "a ROOT file") from None
        if "://" in url and (path := self._local(Path(url.partition("?")[0]).name)):
            told = f"ROOT reads the local file {path} in the place of {order['name']}"
            raise Problem(told, "it to read over the network", "export the files under another path, or run elsewhere")
        return {"entries": int(self._file.entries)}

    def _local(self, name: str) -> str:
        """Return the path of an open file of this machine that has this name."""
        kind = str(self._file.kind())
        for number in Path("/proc/self/fd").iterdir():
            try:
                path = str(number.readlink())
            except OSError:
                continue
            if path.rpartition("/")[2] == name:
                return path
        return name if kind and kind not in REMOTE else ""

    def query(self, order: Order) -> Answer:
        """Take what to do with the packets that follow: columns and histograms, or a function of the user."""
        self._named = order["function"]
        self._function = load_function(self._named, Path(order["folder"])) if self._named else None
        self._query = self.root.pileup.Query()
        self.root.pileup.trace().on = order["traced"]
        for name, counter, middle in order["columns"]:
            self._query.column(name, counter, middle)
        for name, counter, bins, low, high in order["histograms"]:
            self._query.histogram(name, counter, bins, low, high)
        return {}

    def events(self, order: Order) -> Answer:
        """Run an event loop over a range of events."""
        events = self._file.events(order["begin"], order["end"])
        if self._function is None:
            found = self._query
            answer: Answer = {
                "events": int(found.run(events)),
                "values": [int(each) for each in found.values],
                "above": [int(each) for each in found.above],
                "counts": [[float(one) for one in each] for each in found.counts],
            }
        else:
            number, histograms = self._call(events)
            answer = {"events": number, "histograms": histograms}
        self._file.count()
        return answer

    def _call(self, events: Any) -> tuple[int, dict[str, Histogram]]:
        number = events.Count()
        try:
            returned = self._function(events) if self._function else None
            named = returned if isinstance(returned, Mapping) else {"": returned}
            found = {str(name): self._histogram(each) for name, each in named.items()}
        except Problem:
            raise
        except Exception as problem:
            told = f"{self._named} raised {type(problem).__name__}: {_plain(problem)}{_line(problem, self._function)}"
            raise Problem(told, "it to return histograms", "correct the function") from None
        return int(number.GetValue()), {name or each["name"]: each for name, each in found.items()}

    def _histogram(self, result: Any) -> Histogram:
        histogram = result.GetValue() if hasattr(result, "GetValue") else result
        if not isinstance(histogram, self.root.TH1):
            told = f"{self._named} returned {type(histogram).__name__}"
            expected = "a histogram of ROOT (TH1, TH2, TH3), booked or filled, or a mapping of names to some"
            raise Problem(told, expected, "correct the function")
        axes = [histogram.GetXaxis(), histogram.GetYaxis(), histogram.GetZaxis()][: histogram.GetDimension()]
        edges = [[float(axis.GetBinLowEdge(number)) for number in range(1, axis.GetNbins() + 2)] for axis in axes]
        uniform = [axis.GetXbins().GetSize() == 0 for axis in axes]
        counts = [float(histogram.GetBinContent(number)) for number in range(histogram.GetNcells())]
        return {"name": str(histogram.GetName()) or "histogram", "edges": edges, "uniform": uniform, "counts": counts}

    def close(self, order: Order) -> Answer:
        """Close the file."""
        self._file = None
        return {}

    def reads(self) -> list[tuple[int, int, int]]:
        """Return the reads since the last call, if they are traced."""
        if self.root is None or not (trace := self.root.pileup.trace()).on:
            return []
        found = [(int(each.begin), int(each.end), int(each.bytes)) for each in trace.reads]
        trace.reads.clear()
        return found

    def usage(self) -> Used:
        """Return what has been used since the start: bytes, requests, seconds."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        found: Used = {"cpu": used.ru_utime + used.ru_stime}
        if self.root is not None:
            counters = self.root.pileup.read_so_far()
            found["bytes"], found["calls"] = counters.bytes, counters.calls
            found["vectors"], found["unzip"] = counters.vectors, counters.unzip
        return found


def load_function(named: str, folder: Path) -> Callable[[Any], Any]:
    """Return what `./file.py:function` names. Raises Problem."""
    file_name, _, name = named.rpartition(":")
    path = (folder / file_name).resolve()
    spec = importlib.util.spec_from_file_location(f"pileup_function_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Problem(f"function {named!r}: {path.name} is no Python file", "./file.py:function")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        return getattr(module, name)  # type: ignore[no-any-return]
    except Exception as problem:
        told = f"function {named!r}: {path.name} cannot be imported: {type(problem).__name__}: {problem}"
        raise Problem(told, "a file that Python imports") from None


def _plain(problem: Any) -> str:
    """Return the message of an exception; that of one of C++ has its signature before it."""
    text = str(problem.what()) if hasattr(problem, "what") else str(problem)
    return " ".join(text.split("\n")[-1].split() if "=>\n" in text else text.split())[-400:]


def _line(problem: BaseException, function: Any) -> str:
    """Return the last line of the user's file that an exception came through."""
    file = function.__code__.co_filename if hasattr(function, "__code__") else ""
    lines = [each.lineno for each in traceback.extract_tb(problem.__traceback__) if each.filename == file]
    return f" ({Path(file).name}:{lines[-1]})" if lines else ""


def orders() -> Iterator[Order]:
    """Yield what is asked for."""
    for line in sys.stdin:
        yield json.loads(line)


def end_with_client() -> None:
    """Have the kernel end this process with the thread that has started it, however busy it is then."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Answer orders until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what is printed is no answer
    end_with_client()
    worker = Worker()
    for order in orders():
        try:
            answer: Answer = getattr(worker, order["do"])(order)
        except Problem as problem:
            answer = {"problem": problem.args}
        except ImportError as problem:
            answer = {"missing": str(problem)}
        except Exception as problem:
            answer = {"problem": (f"ROOT: {_plain(problem)}", "", "")}
        answer["usage"] = worker.usage()
        if reads := worker.reads():
            answer["reads"] = reads
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
