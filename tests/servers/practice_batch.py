"""A practice batch system in this process, with its journal."""

import contextlib
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pileup._core._native import PracticeBatch
from pileup.builtin.practice.batch import PracticeBatchTarget
from pileup.model.practice import BatchSettings

EVENTS = ("submitted", "acknowledged", "started", "ended", "purged", "lost")


@dataclass
class TrueJob:
    """What a journal reports on one job, times in ns, 0 where something never came."""

    name: str
    id: str
    duration: int
    times: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EVENTS, 0))
    state: str = ""


def truth(journal: Path) -> list[TrueJob]:
    """Read all jobs of a journal, in the order of submission; an id that is given again is another job."""
    jobs: list[TrueJob] = []
    now: dict[str, TrueJob] = {}
    with journal.open(newline="") as lines:
        for line in csv.DictReader(lines):
            if line["event"] == "submitted":
                now[line["id"]] = TrueJob(line["name"], line["id"], int(line["value"]))
                jobs.append(now[line["id"]])
            if line["event"] in EVENTS:
                now[line["id"]].times[line["event"]] = int(line["time"])
            if line["event"] == "ended":
                now[line["id"]].state = line["value"]
    return jobs


def refusals(journal: Path) -> list[str]:
    """Read the names of the jobs that were refused."""
    with journal.open(newline="") as lines:
        return [line["name"] for line in csv.DictReader(lines) if line["event"] == "refused"]


class RunningBatch:
    """The server, a target to reach it, and its journal (complete after the stop)."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.journal = folder / "jobs.csv"
        native = BatchSettings.model_validate({"jobs": str(self.journal), **settings}).to_native()
        self.server = PracticeBatch(json.dumps(native))
        self.target = PracticeBatchTarget(f"http://127.0.0.1:{self.server.port}/", patience=2 * 10**9)

    def stop(self) -> None:
        """Close this thread's connection and end it in order."""
        self.target.connections.close()
        self.server.stop()


@contextlib.contextmanager
def practice_batch(folder: Path, **settings: Any) -> Iterator[RunningBatch]:
    """Yield a batch system with these settings (of a suite's `launch`)."""
    running = RunningBatch(folder, **settings)
    try:
        yield running
    finally:
        running.stop()
