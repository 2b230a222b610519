"""Queries on a practice cluster, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pileup.plugin import Failed, Op, Test, option

if TYPE_CHECKING:
    from pileup.builtin.analysis.cluster import Read


class AnalysisCluster(Test):
    """Run queries on a practice cluster: which worker gets which packet, how long that takes, and the tail of it.

    One iteration is one query of all workers over all files. Their packets are handed out by the machine that does it
    for `analysis.query` with `together: true`, by pileup's packetizer (`rule: packetizer`), or as packetizers did
    before they adapted to workers (`rule: fixed`): packets of one size, own files first, and who is late is waited for.
    Query 0 of two tests stalls the same workers at the same times.

    | operation | what it is |
    |---|---|
    | `query` | from the first packet to the end |
    | `packet` | a worker reads a packet: labels `kind` of its node, and `file`, `own` or `other` |
    | `file` | from the first packet of a file to the last one |
    | `tail` | from when a worker first found no packet that nobody had until the end; its key is the packet that came \
last, `worker` who read it, `why` is one of `late`, `afar`, `last` |

    | number | unit | what |
    |---|---|---|
    | `query_seconds` | s | the whole query |
    | `tail_share` | % | of the query, its tail |
    | `idle_share` | % | of the time of all workers, that without a packet |
    | `packets_again` | | packets given to several workers |
    | `active` | | workers with a packet, against time |
    """

    name = "analysis.cluster"
    needs = "cluster"
    names_nodes: ClassVar[bool] = False

    rule: Literal["packetizer", "fixed"] = option("packetizer", help="how packets are handed out")

    async def run(self, op: Op) -> None:
        """Run one query."""
        from pileup.builtin.analysis.cluster import SimulatedCluster  # noqa: PLC0415  it imports asyncio
        from pileup.builtin.analysis.rules import FixedPackets, packetizer  # noqa: PLC0415  the same
        from pileup.builtin.analysis.together import record_query  # noqa: PLC0415  the same

        if not isinstance(self.target, SimulatedCluster):
            raise Failed(f"target of kind {self.target.kind}", "a practice-cluster, in virtual time", "pileup simulate")
        rule = packetizer if self.rule == "packetizer" else FixedPackets
        over = await self.target.query(rule, op.number, _Recorder(self, op))
        record_query(self, op, over.record, None)
        self.report("idle_share", 100 * over.idle, "%")

    @property
    def way(self) -> str:
        """Which query it is, in a word."""
        return self.rule

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Nothing is done to a real system."""
        del iterations
        return 0, 0


class _Recorder:
    """Records what happens in a query."""

    def __init__(self, test: AnalysisCluster, op: Op) -> None:
        self._test, self._op = test, op

    def read(self, packet: Read) -> None:
        """Record a packet."""
        labels = {"kind": packet.kind, "file": "own" if packet.own else "other"}
        key = f"{packet.file} {packet.begin}-{packet.end}"
        self._op.record("packet", key, start=packet.start, end=packet.stop, bytes=packet.bytes, labels=labels)

    def active(self, workers: int) -> None:
        """Record how many workers have a packet."""
        self._test.report("active", workers)
