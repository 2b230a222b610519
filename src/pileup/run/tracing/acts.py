"""What is traced: each act makes sessions one after another, and says when each began and ended."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pileup._core._native import now
from pileup.fleet import Fleet, Order, Work
from pileup.fleet.place import LocalPlace
from pileup.model.errors import TargetError
from pileup.model.loads.load import Load
from pileup.model.own_waits import BESIDE_RELAY
from pileup.model.program import Keys, Program, Step
from pileup.model.record import Outcome
from pileup.model.units import format_time
from pileup.model.verbs import Verb
from pileup.plugin import Context, Op, Target, Test
from pileup.record.operations import ROW
from pileup.record.tables import ROWS, TableReader
from pileup.run.places.calibration import NullOutput

OPERATIONS = ("list", "stat", "read", "get", "connect")
"""What the engine can be asked to do once, changing nothing."""
PATIENCE = 2 * 10**9
"""What a session may take beyond its timeout, ns."""


@dataclass(frozen=True, slots=True)
class Span:
    """One session as its client saw it. Ns since the epoch."""

    begin: int
    end: int
    error: str = ""
    beside: int = 0
    """Redirects that led past the relay."""


Act = Callable[[str, int], list[Span]]
"""Makes sessions through the relay at an address, so many."""


class _Nobody(Test):
    """A test for orders that need one: the engine does the steps."""

    def run(self, op: Op) -> None:
        """Do nothing."""


def operation(make: Callable[[str], Target], name: str, path: str, timeout: int) -> Act:
    """Return the act that does one operation of the engine in each session.

    `make` returns the target whose clients connect to a relay's address. Raises TargetError where the engine has no
    client for it.
    """
    keys = Keys.fixed(path)
    step = Step(name, "request", keys, method="GET") if name == "get" else Step(name, cast(Verb, name), keys)

    def act(via: str, times: int) -> list[Span]:
        client = make(via).client()
        if client is None:
            raise TargetError("the engine has no client for this kind of target", "a url over http, https or root")
        work = Work(lambda number: _Nobody(None, Context(client=number)), Program((step,)), client)
        with tempfile.TemporaryDirectory(prefix="pileup-trace-") as folder:
            table = Path(folder) / "operations.table"
            _press(work, table, times, timeout)
            return list(_spans(table))

    return act


def _press(work: Work, table: Path, times: int, timeout: int) -> None:
    fleet = Fleet([LocalPlace(0, table)])
    try:
        load = Load.model_validate({"times": times, "clients": 1})
        pressing = fleet.press(Order(0, "trace", load, timeout, seed=1), work, NullOutput())
        if not pressing.wait((times * timeout + PATIENCE) / 1e9):
            pressing.stop(at_once=True)
            pressing.wait(PATIENCE / 1e9)
        pressing.close()
    finally:
        fleet.close()


def _spans(table: Path) -> Iterator[Span]:
    """Yield what the rows of a table say: sessions in the order of their begin."""
    reader = TableReader(table, ROW)
    texts: dict[int, str] = {}
    rows = []
    for block in reader.blocks():
        if block.kind == ROWS:
            rows += list(reader.rows(block))
        else:
            texts.update((number, text.decode("utf-8", "replace")) for number, text in reader.strings(block))
    beside = [row for row in rows if texts.get(int(row["operation"])) == BESIDE_RELAY]
    for row in sorted((row for row in rows if not row["parent"]), key=lambda row: int(row["start"])):
        begin, end = int(row["start"]), int(row["end"])
        passed = row["outcome"] == Outcome.PASSED
        error = "" if passed else texts.get(int(row["error"]), "") or Outcome(int(row["outcome"])).name.lower()
        yield Span(begin, end, error, sum(begin <= int(each["start"]) <= end for each in beside))


def command(words: Sequence[str], timeout: int) -> Act:
    """Return the act that runs a command for each session: {address}, {host} and {port} are those of the relay."""

    def act(via: str, times: int) -> list[Span]:
        host, _, port = via.rpartition(":")
        filled = [word.replace("{address}", via).replace("{host}", host).replace("{port}", port) for word in words]
        return [_run(filled, timeout) for _ in range(times)]

    return act


def _run(words: list[str], timeout: int) -> Span:
    begin = now()
    try:
        done = subprocess.run(words, capture_output=True, timeout=timeout / 1e9, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Span(begin, now(), f"no end within {format_time(timeout)}")
    except OSError as problem:
        told = f"{words[0]} cannot be started: {problem.strerror}"
        raise TargetError(told, "a command that runs here", f"as it was given: {shlex.join(words)}") from problem
    end = now()
    if done.returncode == 0:
        return Span(begin, end)
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return Span(begin, end, f"{words[0]} ended with code {done.returncode}{f': {said[-1]}' if said else ''}")
