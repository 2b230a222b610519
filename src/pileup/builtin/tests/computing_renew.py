"""Renew credentials that were handed over."""

from __future__ import annotations

from pileup.builtin.tests.computing import DELEGATION, Problems, delegation_of
from pileup.model.errors import VerdictException
from pileup.plugin import Duration, Op, Test, option


class ComputingRenew(Test):
    """Renew every delegation that this run has made at its place, one after the other, each an operation `renew`.

    These are the shared ones of `computing.submit` and those of `computing.delegate`: what is a detached operation
    `delegation`. "Renewal every 12 h" is
    `{name: renew, use: computing.renew, target: ce, with: [submit], load: {every: 12 h}}`. One that cannot be renewed
    fails the iteration once all the others were tried, and is tried again in the next. The sample `renewed` is how many
    were.
    """

    name = "computing.renew"
    needs = "batch"

    lifetime: Duration = option("24 h", gt=0, help="how long they last from then on")

    def run(self, op: Op) -> None:
        """Renew them all."""
        problems = Problems()
        keys = self.ledger.keys(DELEGATION)
        for key in keys:
            try:
                self._renew(op, key)
            except VerdictException as problem:
                problems.add(problem)
        self.report("renewed", len(keys) - problems.count)
        problems.tell()

    def _renew(self, op: Op, key: str) -> None:
        with op("renew", key) as renew:
            renew.calls = 1
            self.target.renew(delegation_of(key), self.lifetime)
