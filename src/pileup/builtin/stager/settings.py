"""Settings of worker nodes that stage files from the practice tape library."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import Field

from pileup.model.practice import LibrarySettings
from pileup.plugin import Count, Duration, Size

OWN = frozenset({"nodes", "max_transfers", "patience"})
"""Words that are not for the library."""
FILES = 100_000_000
"""Files on tape, as many as the library can have: every request is for one that was never asked for."""


class StagerSettings(LibrarySettings):
    """Settings of worker nodes, each with XRootD and frm_xfrd, and of the practice tape library that they share.

    A stager hands the library at most `max_transfers` requests at a time (`frm.xfr.copymax`). All times are library
    time, which runs `speed_up` times faster than real time.
    """

    nodes: Count = Field(1, ge=1, le=500, description="worker nodes, each with an XRootD and a frm_xfrd")
    max_transfers: Count = Field(
        5, ge=1, le=300, description="copy commands that frm_xfrd runs at a time (copymax); other requests wait in it"
    )
    speed_up: float = Field(1.0, ge=0.001, le=1e6, description="library time runs so many times faster than real time")
    size: Size = Field(
        10**9, ge=1, description="of each file; it has holes on the disks of the nodes, and takes no room"
    )
    patience: Duration = Field(
        86_400 * 10**9, gt=0, description="how long a copy command waits for the library before it gives the file up"
    )
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")

    @property
    def patience_here(self) -> float:
        """Real seconds that a copy command waits."""
        return self.patience / 1e9 / self.speed_up

    def for_library(self, written: Iterable[tuple[str, object]]) -> str:
        """Return the settings of `pileup practice tape` among these, in JSON; as written: quantities keep their units.

        A copy command occupies a thread of the library as long as it waits.
        """
        room = self.nodes * self.max_transfers + 16
        mine = {word: value for word, value in written if word not in OWN}
        return json.dumps(mine | {"files": FILES, "threads": room, "queue": room})
