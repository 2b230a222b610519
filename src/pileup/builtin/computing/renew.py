"""Renew delegated credentials."""

from __future__ import annotations

from pileup.builtin.computing.jobs import Problems, handed_over, key_of
from pileup.plugin import Duration, Op, Test, VerdictException, option
from pileup.plugin.batch import Delegation


class ComputingRenew(Test):
    """Renew every delegation that this run has made at its place, one after the other, each an operation `renew`.

    These are the shared ones of `computing.submit`, and those of `computing.delegate`. "Renewal every 12 h" is `{name:
    renew, use: computing.renew, target: ce, with: [submit], load: {every: 12 h}}`. If one cannot be renewed, the others
    are still tried, the iteration fails, and the next iteration tries it again. The sample `renewed` is the number of
    renewed delegations.
    """

    name = "computing.renew"
    needs = "batch"

    lifetime: Duration = option("24 h", gt=0, help="how long they are valid from then on")

    def run(self, op: Op) -> None:
        """Renew them all."""
        problems = Problems()
        handed = list(handed_over(self.target).values())
        for delegation in handed:
            try:
                self._renew(op, delegation)
            except VerdictException as problem:
                problems.add(problem)
        self.report("renewed", len(handed) - problems.count)
        problems.tell()

    def _renew(self, op: Op, delegation: Delegation) -> None:
        with op("renew", key_of(delegation)) as renew:
            renew.calls = 1
            handed_over(self.target)[delegation.id] = self.target.renew(delegation, self.lifetime)
