"""The test that does nothing."""

from __future__ import annotations

from pileup.plugin import Duration, Program, Step, Test, option


class Noop(Test):
    """Do nothing, or wait for a time that is known.

    It shows the cost of pileup itself: no other test can have a better response time or rate on the same machine.
    """

    name = "noop"

    cost: Duration = option(0, help="how long an iteration takes; it waits without using CPU")

    def program(self) -> Program:
        """Return one step that takes `cost`."""
        return Program((Step("noop", "noop", cost_ns=self.cost),))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each, no bytes."""
        return iterations, 0
