"""The time until a known backlog is done: jobs of known length, slots of known number, first come first served."""

import heapq
from pathlib import Path

import pytest

from pileup.builtin.computing.poll import ComputingPoll
from pileup.builtin.computing.submit import ComputingSubmit
from pileup.plugin import Context
from pileup.plugin.testing import TestLedger, run_once
from tests.servers.practice_batch import practice_batch, truth

MS = 10**6
JOBS, SLOTS, CYCLE = 40, 6, 20 * MS
LAWS: list[object] = [{"uniform": ["5 ms", "60 ms"]}, {"exponential": "20 ms"}, "15 ms"]
SEEDS = range(50)


def expected(durations: list[int]) -> int:
    """Return how long the backlog lasts from the first cycle on, ns: jobs begin in order, at cycles, in free slots.

    A slot whose job ends at a cycle is free for it.
    """
    ends: list[int] = []
    waiting, now, last = list(durations), 0, 0
    while waiting:
        while ends and ends[0] <= now:
            heapq.heappop(ends)
        while waiting and len(ends) < SLOTS:
            end = now + waiting.pop(0)
            heapq.heappush(ends, end)
            last = max(last, end)
        now += CYCLE
    return last


@pytest.mark.long
def test_a_known_backlog_is_done_within_a_cycle_of_what_is_expected(tmp_path: Path) -> None:
    for seed in SEEDS:
        ledger, context = TestLedger(), Context(seed=seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        with practice_batch(folder, slots=SLOTS, cycle=CYCLE, seed=seed) as batch:
            law = LAWS[seed % len(LAWS)]
            begun = run_once(ComputingSubmit, batch.target, context=context, ledger=ledger, batch=JOBS, duration=law)
            done = run_once(ComputingPoll, batch.target, ledger=ledger, drain=True, interval="5 ms", counts=False)
        assert begun.passed, begun.error
        assert done.passed, done.error
        durations = [job.duration for job in truth(batch.journal)]
        assert len(durations) == JOBS
        (measured,) = (number.value * 1e9 for number in done.numbers if number.metric == "makespan")
        assert 0 <= measured - expected(durations) <= CYCLE, (seed, law)
