"""How long a case is expected to take: what its load says, and what its operations take on a system that is well.

`longest` of a case is its cap, with every time-out that may pass. This is the time to plan with.
"""

from __future__ import annotations

from math import ceil

from pileup.model.law import Law
from pileup.model.loads.load import Load
from pileup.model.loads.starts import Starts

OPERATION = 10 * 10**6
"""What one operation is expected to take, ns, where the load has no duration."""
BANDWIDTH = 100 * 10**6
"""At which bytes are expected to move, bytes per second, all clients together."""


def expected(  # noqa: PLR0917  # each is one of what a case is made of
    load: Load, delay: Law | None, replay: Starts | None, operations: int | None, size: int | None, patience: int
) -> int:
    """Return the time that a case is expected to take, ns.

    A load with a duration takes that. One with a number of iterations takes what these take: 10 ms for an operation,
    100 MB/s for bytes, the pauses between them, and never more than their time-outs, `patience` each. A search takes
    half of its trials. `operations` and `size` (bytes) are those of all iterations; None where nobody knows.
    """
    return (delay.mean if delay else 0) + _pressed(load, replay, operations, size, patience)


def _pressed(load: Load, replay: Starts | None, operations: int | None, size: int | None, patience: int) -> int:
    if replay is not None:
        return min(end for end in (replay.last, load.lasting) if end is not None)
    lasting, shortest = load.lasting, load.shape.shortest
    if load.find is not None:
        return ((lasting or 0) + (shortest or 0)) // 2
    if shortest is not None or load.open:
        return shortest or lasting or 0
    number = load.iterations or 1
    turns = ceil(number / min(load.clients or 1, number))
    pauses = turns * (load.think.mean if load.think else 0)
    acts = max(1, (operations or number) // number) * OPERATION
    taken = turns * min(acts, patience) + pauses + (size or 0) * 10**9 // BANDWIDTH
    return min(taken, load.longest(patience))
