"""The part of one client in a query that all clients of a load run together: it asks for packets and reads them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from socket import gethostname
from typing import ClassVar, Protocol

from pileup.builtin.analysis.carried import packed
from pileup.builtin.analysis.data_set import DataFile, DataSet
from pileup.builtin.analysis.engines import Histograms, Reader
from pileup.builtin.analysis.packages import versions
from pileup.plugin import Context, Failed, Op, Outcome, PileupError
from pileup.plugin.coordinator import Answered, Plain


class Tells(Protocol):
    """What records figures of a query: its test."""

    names_nodes: ClassVar[bool]
    """Whether times of files have a label with their node: not where there may be thousands."""

    @property
    def way(self) -> str:
        """Which query it is."""

    def report(self, metric: str, value: float, unit: str = "", **labels: str | int | float) -> None:
        """Record a number."""


class Reads(Tells, Protocol):
    """How a client reads, and what it does with its figures: the test of the query."""

    def ask(self, told: Plain, blob: bytes = b"") -> Answered:
        """Ask the coordinator."""

    @property
    def context(self) -> Context:
        """About the client."""

    def open_file(self, op: Op, file: DataFile, stack: ExitStack) -> Reader:
        """Open a file as the operation `open`."""

    def read_packet(
        self, op: Op, reader: Reader, file: DataFile, packet: tuple[int, int], found: Histograms, **labels: str
    ) -> int:
        """Read a packet as the operation `packet` and fill histograms; return its events."""

    def no_histograms(self) -> Histograms:
        """Return the histograms of no events."""


def enter(test: Reads) -> DataSet:
    """Return the data set as the coordinator knows it, without its truth. Raises Failed: other versions here."""
    answer = test.ask({"do": "enter", "versions": versions(), "node": gethostname()})
    if problem := answer.get("failed"):
        raise Failed(*problem)
    return DataSet.model_validate(answer["set"])


def missing_of(files: DataSet, client: int, clients: int, check: Callable[[DataFile, bool], bool]) -> list[int]:
    """Return the numbers of files that cannot be read here: files of other hosts, on disks of theirs.

    `check(file, content)` says whether a file is there, and raises Failed when it is not what it should be. If all
    files are here, clients share their contents; else each looks at all of its own host.
    """
    missing = [number for number, file in enumerate(files.files) if not check(file, False)]
    for number, file in enumerate(files.files):
        own = file.place == gethostname() if missing else number % clients == client
        if own and number not in missing:
            check(file, True)
    return missing


class Part:
    """What one client does for one query."""

    def __init__(self, test: Reads, op: Op, files: DataSet, missing: list[int]) -> None:
        self._test = test
        self._op = op
        self._files = files
        self._missing = missing
        self._worker = str(op.client)
        self._open: tuple[int, Reader, ExitStack] | None = None

    def run(self) -> int:
        """Read packets until the query is over; return how many events were read. Raises Failed: it went wrong."""
        told: Plain = {
            "do": "join",
            "node": gethostname(),
            "place": self._test.context.place,
            "missing": self._missing,
        }
        events, answer = 0, self._ask("join", told)
        try:
            while "over" not in answer:
                if "wait" in answer:
                    answer = self._ask("wait", {"do": "wait"})
                    continue
                number, begin, end = answer["packet"]
                seconds, result = self._read(number, (begin, end))
                events += end - begin
                answer = self._ask("ask", {"do": "next", "seconds": seconds}, result)
        except Exception as problem:
            self._fail(problem)
            raise
        finally:
            self._close()
        self._end(answer["over"])
        return events

    def _ask(self, name: str, told: Plain, blob: bytes = b"") -> Answered:
        with self._op(name, labels={"worker": self._worker}):
            answer = self._test.ask(told, blob)
        self._test.report("active", answer.get("active", 0))
        return answer

    def _read(self, number: int, packet: tuple[int, int]) -> tuple[float, bytes]:
        file, found = self._files.files[number], self._test.no_histograms()
        begin, cpu = time.perf_counter(), time.thread_time()
        reader = self._opened(number)
        events = self._test.read_packet(self._op, reader, file, packet, found, worker=self._worker, node=file.place)
        result = packed(found)
        seconds = time.perf_counter() - begin
        self._test.report("packet_events", events, "", worker=self._worker, node=file.place)
        self._test.report("packet_cpu", time.thread_time() - cpu, "s", worker=self._worker)
        return seconds, result

    def _opened(self, number: int) -> Reader:
        """Return a file, open since the last packet if that was of the same one."""
        if self._open is None or self._open[0] != number:
            self._close()
            stack = ExitStack()
            try:
                reader = self._test.open_file(self._op, self._files.files[number], stack)
            except BaseException:
                stack.close()
                raise
            self._open = number, reader, stack
        return self._open[1]

    def _close(self) -> None:
        if self._open is not None:
            self._open[2].close()
            self._open = None

    def _fail(self, problem: Exception) -> None:
        """Report to the coordinator why this client cannot go on, so that nobody waits for it."""
        told = [
            f"{type(problem).__name__}: {problem}",
            "a query that can be read",
            "look at that client",
        ]
        if isinstance(problem, PileupError):
            told = [problem.what, problem.expected, problem.hint]
        try:
            self._test.ask({"do": "fail", "told": told})
        except Failed:
            return  # there is nobody to report to

    def _end(self, over: Answered) -> None:
        failed = over.get("failed")
        if (record := over.get("record")) is not None:
            record_query(self._test, self._op, record, failed)
        if failed:
            raise Failed(*failed)


def record_query(test: Tells, op: Op, told: Answered, failed: list[str] | None) -> None:
    """Record what the coordinator knows of a query that is over."""
    begin, end = told["begin"], told["end"]
    took = {"query": test.way, "workers": told["workers"], "places": told["places"], "files": len(told["files"])}
    test.report("query_seconds", (end - begin) / 1e9, "s", **took)
    outcome = int(Outcome.FAILED if failed else Outcome.PASSED)
    op.record("query", start=begin, end=end, outcome=outcome, error=failed[0] if failed else "")
    for name, node, first, last in told["files"]:
        if last:
            op.record("file", name, start=first, end=last, labels={"node": node} if test.names_nodes else None)
    if tail := told.get("tail"):
        labels = {"worker": str(tail["worker"]), "why": tail["why"]}
        op.record("tail", tail["packet"], start=tail["begin"], end=end, labels=labels)
        test.report("tail_share", 100 * (end - tail["begin"]) / max(1, end - begin), "%")
        test.report("tail_seconds", (end - tail["begin"]) / 1e9, "s", packet=tail["packet"], **labels)
    test.report("packets_again", told["again"])
    test.report("packets_lost", told["lost"])
