"""Conditions of a server and a load, and pileup pressed under them by its command line."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pileup.model.results import CaseResult, RunResults
from pileup.record import RunFolder
from pileup.stats import results
from tests import warm
from tests.support import pileup
from tests.truth.started import Server, busy, started

LONGEST = 120
"""Seconds that a run may take."""
WITNESSES = 2


@dataclass(frozen=True)
class Condition:
    """A server, and a load on it. Times in s."""

    name: str
    server: tuple[str, ...]
    """The script of servers/, and its arguments."""
    load: Mapping[str, Any]
    """`rate` or `clients`, `think`, ...; `for`, `ramp`, `warm_up` are those below."""
    length: float = 3
    ramp: float = 0
    warm_up: float = 0
    timeout: float = 0
    """0: that of pileup."""
    options: Mapping[str, Any] = field(default_factory=lambda: {"path": "x"})
    words: Mapping[str, Any] = field(default_factory=dict)
    """Further words of the test."""
    target: Mapping[str, Any] = field(default_factory=dict)
    """Further words of its target."""

    @property
    def rate(self) -> float | None:
        """What an open load offers, /s."""
        given = self.load.get("rate")
        return float(given) if given else None

    @property
    def test(self) -> dict[str, Any]:
        """Return the test of a suite."""
        load = dict(self.load)
        if "rate" in load:
            load["rate"] = f"{load['rate']} /s"
        if not {"times", "find", "hold"} & set(load):
            load["for"] = seconds(self.length)
        load |= {word: seconds(value) for word in ("ramp", "warm_up") if (value := getattr(self, word))}
        made: dict[str, Any] = {"name": self.name, "use": "http.request", "target": self.name}
        made["options"] = dict(self.options)
        if self.timeout:
            made["timeout"] = seconds(self.timeout)
        return {**made, "load": load, **self.words}


def seconds(value: float) -> str:
    """Return a time as suites write it."""
    return f"{round(value * 1000)} ms"


@dataclass
class Pressed:
    """A run that has ended."""

    conditions: Mapping[str, Condition]
    servers: Mapping[str, Server]
    exit_code: int
    folder: Path
    output: str
    witnesses: tuple[Server, ...]
    """Who say how late others on this machine came."""
    stopped: tuple[int, int] = (0, 0)
    """When pileup was stopped, and went on, if that was done; ns."""

    @cached_property
    def results(self) -> RunResults:
        """What statistics say."""
        assert (self.folder / "run.json").exists(), (self.folder / "stderr").read_text()
        return results(RunFolder.open(self.folder))

    @cached_property
    def exported(self) -> dict[str, Any]:
        """The export for programs."""
        return dict(json.loads((self.folder / "results.json").read_text()))

    def late(self, begin: int, end: int) -> int:
        """Return by how much a witness came late at most in a time, ns: so late may pileup have seen an answer."""
        lines = (line for witness in self.witnesses for line in witness.lines("late"))
        return max(
            (line["by"] for line in lines if begin < line["time"] and line["time"] - line["by"] < end), default=0
        )

    def case(self, name: str) -> CaseResult:
        """Return the results of a case."""
        return next(case for case in self.results.cases if case.name == name)

    def criterion(self, number: str) -> Any:
        """Return a criterion, judged."""
        return next(each for each in self.results.criteria if each.id == number)


Beside = Callable[["subprocess.Popen[str]", Mapping[str, Server]], "tuple[int, int] | None"]
"""Something that is done to a run while it goes on."""


Words = Callable[[Mapping[str, Server]], Mapping[str, Any]]
"""Words of a suite that need to know its servers."""


def nothing_more(_: Mapping[str, Server]) -> Mapping[str, Any]:
    """Return no further words."""
    return {}


def press(
    folder: Path,
    conditions: Iterable[Condition],
    more: Words = nothing_more,
    beside: Beside | None = None,
) -> Pressed:
    """Run one suite of these conditions, one after another; `more` are its further words."""
    folder.mkdir(parents=True, exist_ok=True)
    by_name = {condition.name: condition for condition in conditions}
    with contextlib.ExitStack() as stack:
        servers = {
            name: stack.enter_context(started(condition.server[0], folder / f"{name}.log", *condition.server[1:]))
            for name, condition in by_name.items()
        }
        witnesses = tuple(
            stack.enter_context(started("witness", folder / f"witness{number}.log")) for number in range(WITNESSES)
        )
        suite = {
            "pileup": 1,
            "title": "truth",
            "seed": 7,
            "targets": {
                name: {"kind": "http", "url": server.url, **by_name[name].target} for name, server in servers.items()
            },
            "tests": [condition.test for condition in by_name.values()],
        }
        for word, value in more(servers).items():
            suite[word] = {**suite[word], **value} if isinstance(suite.get(word), dict) else value
        code, output, stopped = run(folder, suite, servers, beside)
        for name, condition in by_name.items():
            if condition.server[0] == "fifo":
                servers[name].idle()
    printed = [line for line in output.splitlines() if line.strip()]
    return Pressed(by_name, servers, code, folder / printed[-1] if printed else folder, output, witnesses, stopped)


def run(
    folder: Path, suite: Mapping[str, Any], servers: Mapping[str, Server], beside: Beside | None
) -> tuple[int, str, tuple[int, int]]:
    """Run a suite, and return exit code, what was printed, and what `beside` returned."""
    (folder / "suite.yaml").write_text(json.dumps(suite, indent=1))
    if beside is None:
        ended = pileup("run", "suite.yaml", "--quiet", cwd=folder, timeout=LONGEST, drawn=True)
        (folder / "stderr").write_text(ended.stderr)
        return ended.returncode, ended.stdout, (0, 0)
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet"]
    environment = {**os.environ, "PILEUP_RUNS": str(folder / "runs")}
    error = (folder / "stderr").open("w")
    with (
        error,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=error, text=True
        ) as process,
    ):
        limit = threading.Timer(LONGEST, process.kill)
        limit.start()
        done = beside(process, servers)
        output, _ = process.communicate()
        limit.cancel()
    return process.returncode, output, done or (0, 0)


def at_once(presses: Mapping[str, Callable[[], Pressed]], most: int = 6) -> dict[str, Pressed]:
    """Run several suites at the same time, so many at most: their loads wait, they do not compute."""
    warm.shared()  # before there are threads that would each make one
    with ThreadPoolExecutor(most) as pool:
        waiting = {name: pool.submit(each) for name, each in presses.items()}
        return {name: each.result() for name, each in waiting.items()}


def stopped_for(length: float, after: int, server: str) -> Beside:
    """Stop pileup for so long (s), once this server has got so many requests."""

    def stop(process: "subprocess.Popen[str]", servers: Mapping[str, Server]) -> tuple[int, int] | None:
        if not arrived(process, servers[server], after):
            return None
        process.send_signal(signal.SIGSTOP)
        begin = time.time_ns()
        time.sleep(length)
        process.send_signal(signal.SIGCONT)
        return begin, time.time_ns()

    return stop


def beside_loops(loops: int, length: float, server: str) -> Beside:
    """Keep the machine busy for so long, from the first request of this server on."""

    def burn(process: "subprocess.Popen[str]", servers: Mapping[str, Server]) -> None:
        if arrived(process, servers[server], 1):
            with busy(loops, length):
                time.sleep(length)

    return burn


def arrived(process: "subprocess.Popen[str]", server: Server, count: int) -> bool:
    """Wait until a server has got so many requests; False: the run ended before."""
    while process.poll() is None:
        if len(server.lines("arrived")) >= count:
            return True
        time.sleep(0.05)
    return False
