"""Results of a run whose system was broken on purpose."""

from dataclasses import replace

from pileup.model.figures import Figure, Interval
from pileup.model.results import FaultResult, RunResults
from tests.unit.builtin.reports import synthetic

SECOND = 10**9
NOTHING = Figure(0.0, "count", None, 2)


def fault(name: str, test: str, *, times: int = 2, never: int = 0, lost: float | None = 4.0) -> FaultResult:
    """What one fault did to one load; jobs were lost unless `lost` is None."""
    interval = Interval(2e9, 4e9, 0.95) if times > 1 else None
    return FaultResult(
        fault=name,
        says=f"kill of ce.slurmctld at 5 s of <{test}>",
        test=test,
        point="",
        times=times,
        never=never,
        recovery=Figure(3e9, "time", interval, times) if never < times else Figure(None, "time", None, 0),
        jobs_again=Figure(5e9, "time", interval, times),
        failed=Figure(7.5, "count", None, times),
        refused=NOTHING,
        ambiguous=Figure(1.0, "count", None, times),
        unfinished=NOTHING,
        lost=NOTHING,
        jobs_lost=Figure(lost, "count", None, times if lost is not None else 0),
        lost_share=Figure(None if lost is None else 0.04, "fraction", Interval(0.02, 0.08, 0.95), 200),
    )


def broken() -> RunResults:
    """A run with faults of which jobs were lost, nothing was, and one that never ended."""
    found = (fault("crash", "submit"), fault("2", "poll", times=1, lost=None), fault("crash", "read", times=3, never=3))
    return replace(synthetic.simple(), faults=found)
