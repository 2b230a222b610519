"""Worker nodes with a real stager each over one practice tape library, launched as a suite's are."""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pileup.builtin.stager.site import Site, site_of
from pileup.builtin.stager.target import XrootdTapeTarget
from pileup.builtin.stager.transfers import LibraryEvent, Transfer, event_of, transfer_of
from pileup.plugin import Failed
from pileup.plugin.tape import Stage, Step
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.support import require_program

QUICK: dict[str, Any] = {
    "nodes": 2,
    "max_transfers": 2,
    "drives": 1,
    "cartridges": 20,
    "mount": "5 s",
    "dismount": "5 s",
    "seek": "2 s",
    "speed": "1 MB/s",
    "size": "3 MB",
    "speed_up": 100,
}
"""A file takes 50 ms of real time, and 100 ms more on another cartridge."""


@dataclass
class Fate:
    """What became of a request."""

    steps: list[Step] = field(default_factory=list)
    problem: str = ""
    ended: int = 0
    """When it was over here, ns since the epoch."""

    def at(self, stage: Stage) -> int:
        """When it came to a stage first."""
        return next(step.time for step in self.steps if step.stage is stage)


@dataclass(frozen=True)
class Stagers:
    """Running nodes."""

    supervisor: Supervisor
    target: XrootdTapeTarget

    @property
    def site(self) -> Site:
        return site_of(self.supervisor.url(NAME))

    def process(self, name: str) -> str:
        """The name of a process for the supervisor."""
        return f"{NAME}.{name}"

    async def recall(self, node: int, path: str) -> Fate:
        """Ask for a file."""
        fate = Fate()
        try:
            async for step in self.target.recall(node, path, self.site.size):
                fate.steps.append(step)
        except Failed as failure:
            fate.problem = failure.what
        fate.ended = time.time_ns()
        return fate

    def recall_all(self, *asked: tuple[int, str]) -> list[Fate]:
        """Ask for files (node, path) at once, and wait for all of them."""

        async def main() -> list[Fate]:
            return list(await asyncio.wait_for(asyncio.gather(*(self.recall(*each) for each in asked)), 60))

        return asyncio.run(main())

    def transfers(self) -> list[Transfer]:
        """The log of the copy commands."""
        return [found for line in self.site.transfers.read_text().splitlines() if (found := transfer_of(line))]

    def events(self) -> list[LibraryEvent]:
        """The events of the library."""
        return [found for line in self.site.events.read_text().splitlines() if (found := event_of(line))]


@contextlib.contextmanager
def stagers(folder: Path, **settings: Any) -> Iterator[Stagers]:
    """Yield nodes with these settings (those of `QUICK` unless they say otherwise)."""
    require_program("frm_xfrd", "apt-get install xrootd-server")
    launcher = XrootdTapeTarget.launcher({**QUICK, **settings}, folder)
    assert launcher is not None
    with supervised(launcher, folder / "servers") as supervisor:
        yield Stagers(supervisor, XrootdTapeTarget(supervisor.url(NAME)))
