"""An analysis cluster as a kind of target, in virtual time alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from pydantic import Field, model_validator

from pileup.plugin import Count, Duration, Fraction, Launcher, Part, Size, Target, VirtualTime
from pileup.plugin.units import counted


class NodeKind(Part):
    """Nodes of one generation."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,32}$", description="what they are called in the record")
    share: Count = Field(1, ge=1, le=10**6, description="how many of them there are, in proportion to the other kinds")
    event: Duration = Field(gt=0, description="CPU time of an event")


RCF = (
    NodeKind(name="slow", share=18, event=10_700_000),
    NodeKind(name="middle", share=99, event=6_250_000),
    NodeKind(name="fast", share=75, event=5_000_000),
)
"""The RCF cluster of the PROOF benchmark (2004): 1.4, 2.4 and 3 GHz, and 15 ms of an event at 1 GHz."""


class ClusterSettings(Part):
    """Settings of the practice cluster: a worker at each node, and a file for each.

    A worker reads the events of a packet one after another, each with one read, and works on it. A node answers the
    reads of other nodes one at a time, so that each takes longer by as many as read there. Switches only say which
    nodes are near.
    """

    workers: Count = Field(192, ge=1, le=100_000, description="nodes with a worker")
    kinds: tuple[NodeKind, ...] = Field(
        (),
        description="generations of nodes, e.g. [{name: old, share: 1, event: 10 ms}, {name: new, share: 3, event: "
        "5 ms}]; default: slow, middle and fast ones as of the RCF cluster in the PROOF benchmark",
    )
    switch: Count = Field(24, ge=1, le=100_000, description="nodes at a switch")
    local: Duration = Field(200_000, description="read of an event from the own disk")
    remote: Duration = Field(1_500_000, description="read of an event from another node, for each that reads there")
    events: Count = Field(2000, ge=1, le=10**8, description="events of a file")
    cluster: Count = Field(20, ge=1, le=10**8, description="events of a cluster: packets consist of whole ones")
    event_size: Size = Field(50_000, description="bytes of an event")
    stalling: Fraction = Field(0.0, le=1, description="share of the workers that do nothing for a time, once a query")
    stall: Duration = Field(60 * 10**9, description="for how long")
    stall_within: Duration = Field(12 * 10**9, description="when that begins: at random within this time of a query")
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")

    @property
    def generations(self) -> tuple[NodeKind, ...]:
        """The kinds of nodes there are."""
        return self.kinds or RCF

    @model_validator(mode="after")
    def _whole(self) -> Self:
        names = [kind.name for kind in self.kinds]
        if double := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"{counted(names.count(double), 'kind')} of nodes are called {double!r}; expected one")
        if self.cluster > self.events:
            raise ValueError(
                f"a cluster of {self.cluster} events in a file of {self.events}; expected at most as many as the file"
            )
        return self


class PracticeClusterTarget(Target):
    """Analysis cluster of known truth: a practice machine in virtual time, for `pileup simulate`.

    `launch: {workers: 1000, stalling: 1 %}` is a cluster of a thousand nodes of three generations, each with a worker
    and a file, of which 1 % of the workers stall for a minute. The test `analysis.cluster` runs queries on it, whose
    packets are handed out by what hands out those of `analysis.query`.
    """

    kind = "practice-cluster"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "cluster"})
    launch_settings = ClusterSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return None: it is there in virtual time alone. Raises ValueError for a wrong setting."""
        del folder
        ClusterSettings.model_validate(settings)
        return None

    def simulated(self, settings: Mapping[str, object], time: VirtualTime) -> Target:
        """Return the cluster as a machine in virtual time. Raises ValueError for a wrong setting."""
        from pileup.builtin.analysis.cluster import SimulatedCluster  # noqa: PLC0415  it imports asyncio

        return SimulatedCluster(ClusterSettings.model_validate(settings), time)
