"""Two runs compared, with everything that their page shows."""

from dataclasses import replace

from pileup.model.contrast import RunComparison
from pileup.stats.compare.runs import compare_runs
from tests.unit.builtin.reports import pieces, synthetic


def compared() -> RunComparison:
    """A run whose copies took longer, one that is alike, and what differs beside."""
    base = replace(synthetic.simple(), folder="/runs/monday")
    others = [
        replace(base, folder="/runs/tuesday", run=synthetic.run_info("Copy stress", seed=7), cases=(slower(),)),
        replace(base, folder="/runs/wednesday"),
    ]
    return compare_runs([base], [[other] for other in others], 0.05)


def slower():
    """The case `copy`, slower by a third."""
    return pieces.sustained(3, "copy", 1.0, 20, median=2.7e7, rate=120.0)
