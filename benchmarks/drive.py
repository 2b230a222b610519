"""One load of pileup's engine with its full record, in a process of its own; prints what it measured as JSON.

    python benchmarks/drive.py '{"load": {...}, "client": {...}, "step": {...}, "every": 0.25}'

`load` as in docs/engine.md over the defaults below; `step` as in model/program.py, or `python`: a test of samples.py.
Rows, histograms and frames are made as in any run; the record lies in a scratch folder. Witnesses on the cores that
`watched` lists say which frames the machine left alone (witness.py), for operations that take up to `lasting` ns.
`relay` names a relay in between, by its control socket, and its path: how late it was by itself while the load was
measured is printed, too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import samples
from witness import Lateness, watching

from pileup._core._native import Histogram, Press, Recorder
from pileup.fleet.order import Order, Work
from pileup.fleet.place import LocalPlace
from pileup.model.loads.load import Load
from pileup.model.program import Content, Keys, Program, Step
from pileup.model.record import Phase
from pileup.run.places.calibration import NullOutput
from pileup.run.relays import control

LOAD: dict[str, Any] = {
    **dict.fromkeys(("clients", "rate", "for", "think", "times", "phase", "errors_in_a_row", "operations")),
    **dict.fromkeys(("target", "place", "shard", "start", "ramp", "warm_up"), 0),
    **dict.fromkeys(("case", "shards", "seed", "workers"), 1),
    "name": "bench",
    "kind": "closed",
    "arrivals": "constant",
    "pacing": "normal",
    "timeout": 10**10,
}
MEMORY = "VmRSS:"


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(MEMORY))


class Tally:
    """What the frames of a load add up to, of the phase that counts."""

    def __init__(self) -> None:
        self.passed = self.failed = self.measured = self.missed = self.all = 0
        self.late, self.quiet, self.service, self.quiet_service = (Histogram() for _ in range(4))
        self.windows: list[tuple[int, int, bytes, list[bytes]]] = []
        """Begin, end (ns since the epoch), scheduling delays and service times of each frame that counts."""
        self.undisturbed = 0
        self.relay: dict[str, int] = {}
        """How late a relay was by itself, ns; empty without one."""
        self._since = time.time_ns()
        self.marks: list[tuple[float, float, int]] = []

    def add(self, frame: dict[str, Any]) -> None:
        """Add what happened since the last one."""
        measured, services = 0, []
        for row in frame["rows"]:
            bad = row["failed"] + row["refused"] + row["ambiguous"] + row["unfinished"]
            if row["iteration"]:
                self.all += row["passed"] + bad
            if row["iteration"] and row["phase"] == Phase.MEASURE:
                measured += row["passed"]
                self.failed += bad
                self.service.merge(row["service"])
                services.append(row["service"])
        self.passed += measured
        self.missed += frame["missed"]
        now = time.time_ns()
        if measured:
            self.windows.append((self._since, now, frame["late"], services))
            self.late.merge(frame["late"])
        self._since = now
        self.marks.append((time.monotonic(), time.process_time(), self.passed))

    def watched(self, told: Lateness, lasting: int) -> None:
        """Take in when the machine was late by itself; other windows show the scheduling delay of the generator.

        What ends in a window has begun up to `lasting` ns before.
        """
        for begin, end, late, services in self.windows:
            if not any(due < end and due + delay > begin - lasting for due, delay in told):
                self.undisturbed += 1
                self.quiet.merge(late)
                for each in services:
                    self.quiet_service.merge(each)

    def window(self) -> dict[str, float]:
        """Return CPU time per iteration from the second frame with measured ones to the last but one with news."""
        news = [mark for before, mark in zip(self.marks, self.marks[1:], strict=False) if mark[2] > before[2]]
        if len(news) < 4:
            return {}
        (begin, cpu_begin, count_begin), (end, cpu_end, count_end) = news[1], news[-2]
        return {
            "count": count_end - count_begin,
            "seconds": end - begin,
            "cpu": cpu_end - cpu_begin,
            "us": (cpu_end - cpu_begin) / (count_end - count_begin) * 1e6,
        }


def lateness(relay: dict[str, Any]) -> dict[str, int]:
    """Return how late a relay was since it was last asked."""
    return dict(control.ask(Path(relay["control"]), relay["path"])["late"])


def press_native(order: dict[str, Any], path: Path) -> tuple[Tally, int, int]:
    """Press a program; return its tally, and the memory before and with all clients."""
    recorder = Recorder(str(path), 0)
    before = most = resident()
    press = Press(recorder, json.dumps(LOAD | order["load"]))
    plain = dict(order["step"])
    names = plain.pop("keys", {}).get("names", ())
    keys = Keys(names=tuple(names))
    if "content" in plain:
        plain["content"] = Content(**plain["content"])
    program = Program((replace(Step("step", "noop", keys), **plain),))
    tally = Tally()
    press.native(json.dumps(order["client"]), json.dumps(program.to_native()))
    over, relay = False, order.get("relay")
    while not over:
        over = press.wait(order["every"])
        begun = bool(tally.windows)
        tally.add(press.frame())
        if relay and (over or (tally.windows and not begun)):
            tally.relay = lateness(relay)
        most = max(most, resident())
    recorder.close()
    return tally, before, most


def press_python(order: dict[str, Any], path: Path) -> Tally:
    """Press a Python test through the executor that any run takes for it."""
    place = LocalPlace(0, path)
    kind = samples.KINDS[order["python"]]
    load = Load.model_validate(order["load"])
    work = Work(lambda _client: kind(), coroutine=order["python"] == "async")
    part = place.prepare(Order(1, "bench", load, 10**10, 1), work, NullOutput())
    part.begin(0)
    tally = Tally()
    over = False
    while not over:
        over = part.wait(order["every"])
        tally.add(asdict(part.frame()))
    part.close()
    place.close()
    return tally


def main() -> None:
    """Press what is asked for, and print."""
    order = json.loads(sys.argv[1])
    cpu = time.process_time()
    with tempfile.TemporaryDirectory(prefix="pileup-bench-") as name:
        signal.signal(signal.SIGTERM, lambda *_: _leave(name))
        path = Path(name) / "operations.table"
        with watching(order.get("watched", [])) as told:
            if "python" in order:
                tally, before, most = press_python(order, path), 0, 0
            else:
                tally, before, most = press_native(order, path)
        if "watched" in order:
            tally.watched(told, order.get("lasting", 0))
        size = path.stat().st_size
    found = {
        "passed": tally.passed, "failed": tally.failed, "missed": tally.missed, "all": tally.all, "record_bytes": size,
        "memory_before": before, "memory": most, "window": tally.window(), "late_p50": tally.late.quantile(0.5),
        "late_p99": tally.late.quantile(0.99), "quiet_p99": tally.quiet.quantile(0.99), "windows": len(tally.windows),
        "undisturbed": tally.undisturbed, "pid": os.getpid(), "service_mean": tally.service.mean,
        "service_p50": tally.service.quantile(0.5), "service_p99": tally.service.quantile(0.99),
        "quiet_service_p50": tally.quiet_service.quantile(0.5), "quiet_service_p99": tally.quiet_service.quantile(0.99),
        "cpu": time.process_time() - cpu, "relay": tally.relay,
    }  # fmt: skip
    print(json.dumps(found))


def _leave(scratch: str) -> None:
    """End at once, as whoever measures does with a load that would run on; leave nothing behind."""
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
