"""Jobs looked after, purged and cancelled on the practice batch system; its journal says what became of each."""

import time
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.computing.cancel import ComputingCancel
from pileup.builtin.computing.poll import ComputingPoll
from pileup.builtin.computing.purge import ComputingPurge
from pileup.builtin.computing.submit import ComputingSubmit
from pileup.builtin.computing.watch import ComputingWatch
from pileup.builtin.practice.batch import PracticeBatchTarget
from pileup.model.record import Outcome
from pileup.plugin import Context
from pileup.plugin.batch import BatchTarget, JobSpec, JobState
from pileup.plugin.testing import Iteration, TestLedger, TestOp, run_once
from tests.servers.practice_batch import practice_batch, truth

DAY = "24 h"


def submit(target: BatchTarget, ledger: TestLedger, batch: int, duration: str = "0 s") -> None:
    assert run_once(ComputingSubmit, target, ledger=ledger, batch=batch, duration=duration).passed


def until_ended(target: BatchTarget, count: int) -> None:
    """Wait until so many jobs have ended."""
    end = time.monotonic() + 10
    while sum(number for state, number in target.counts().items() if state.final) < count:
        assert time.monotonic() < end, target.counts()
        time.sleep(0.005)


def numbers(iteration: Iteration) -> dict[str, float]:
    return {number.metric: number.value for number in iteration.numbers}


def acts(iteration: Iteration) -> list[tuple[str, int]]:
    return [(timed.name, timed.calls) for timed in iteration.operations]


def test_what_this_run_made_is_purged_and_nothing_else(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=1000, cycle=0) as batch:
        batch.target.submit([JobSpec(f"of-others-{number}") for number in range(5)])
        submit(batch.target, ledger, 25)
        until_ended(batch.target, 30)
        submit(batch.target, ledger, 2, DAY)
        done = run_once(ComputingPurge, batch.target, ledger=ledger, page=10)
        left = batch.target.counts()
    assert done.passed, done.error
    assert acts(done) == [("status", 1), ("purge", 10)] * 2 + [("status", 1), ("purge", 5)]
    assert (numbers(done)["purged"], numbers(done)["unknown"]) == (25, 0)
    assert numbers(done)["purge_rate"] > 0
    assert (left[JobState.COMPLETED], left[JobState.RUNNING]) == (5, 2)
    assert {job.name for job in truth(batch.journal) if not job.times["purged"]} == {
        *(f"of-others-{number}" for number in range(5)),
        *ledger.keys("job"),
    }
    rows = {row.key: row for row in ledger.ended if row.name == "job"}
    true = {job.name: job.times["ended"] for job in truth(batch.journal) if job.times["purged"]}
    assert {name: row.end for name, row in rows.items()} == {
        name: max(end, rows[name].start) for name, end in true.items()
    }


def test_what_a_poll_has_seen_to_end_is_kept_until_it_is_purged(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=10, cycle=0) as batch:
        submit(batch.target, ledger, 4)
        until_ended(batch.target, 4)
        run_once(ComputingPoll, batch.target, ledger=ledger, keep=True)
        kept = [ledger.since("kept", name) for name in ledger.keys("kept")]
        assert ledger.open("job") == 0
        batch.target.purge(oldest=1)
        done = run_once(ComputingPurge, batch.target, ledger=ledger)
        again = run_once(ComputingPurge, batch.target, ledger=ledger)
        assert sum(batch.target.counts().values()) == 0
    assert sorted(kept, key=str) == sorted((job.times["ended"] for job in truth(batch.journal)), key=str)
    assert (numbers(done)["purged"], numbers(done)["unknown"]) == (3, 1)
    assert (again.passed, acts(again)) == (True, [])
    assert ledger.open() == 0
    assert [row.outcome for row in ledger.ended if row.name == "kept"] == [Outcome.PASSED] * 4


@pytest.mark.parametrize(("options", "left", "calls"), [({}, 0, [4, 4, 2]), ({"oldest": 7}, 3, [4, 3])])
def test_jobs_of_others_are_purged_when_the_suite_says_so(
    tmp_path: Path, options: dict[str, Any], left: int, calls: list[int]
) -> None:
    with practice_batch(tmp_path, slots=10, cycle=0) as batch:
        batch.target.submit([JobSpec(f"of-others-{number}") for number in range(10)])
        until_ended(batch.target, 10)
        done = run_once(ComputingPurge, batch.target, ledger=TestLedger(), others=True, page=4, **options)
        assert sum(batch.target.counts().values()) == left
    assert acts(done) == [("purge", count) for count in calls]
    assert numbers(done)["purged"] == 10 - left


def test_the_oldest_may_be_anybodys() -> None:
    with pytest.raises(ValueError, match=r"oldest 5 without `others: true`; expected both"):
        ComputingPurge(oldest=5)


def test_an_id_that_became_anothers_is_not_purged(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=10, cycle=0, checkpoint="1 h", reuse_ids=True) as batch:
        submit(batch.target, ledger, 1)
        until_ended(batch.target, 1)
        run_once(ComputingPoll, batch.target, ledger=ledger, keep=True)
        batch.target.crash()
        batch.target.connections.close()
        (other,) = batch.target.submit([JobSpec("of-others")])
        until_ended(batch.target, 1)
        done = run_once(ComputingPurge, batch.target, ledger=ledger)
        assert batch.target.counts()[JobState.COMPLETED] == 1
    assert other.id == "1"
    assert (numbers(done)["purged"], numbers(done)["unknown"]) == (0, 1)


def test_a_few_jobs_are_looked_after_and_purged_when_done(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=100, cycle=0) as batch:
        submit(batch.target, ledger, 6, DAY)
        test = ComputingWatch(batch.target, jobs=3)
        test.ledger = ledger
        test.setup()
        first, second = TestOp(0, ledger=ledger), TestOp(1, ledger=ledger)
        test.run(first)
        watched = list(test._watched)
        ids = [job.id for job in batch.target.status(names=watched[:2])]
        batch.target.cancel(ids)
        test.run(second)
        left = {job.name for job in batch.target.status(names=watched)}
        ended = list(ledger.ended)
        test.run(TestOp(2, ledger=ledger))
    assert [(timed.name, timed.calls) for timed in first.operations] == [("status", 1)]
    assert [(timed.name, timed.calls) for timed in second.operations] == [("status", 1), ("purge", 2)]
    assert left == {watched[2]}
    assert ledger.open("job") == 4
    assert len(set(test._watched)) == 3
    assert set(test._watched) <= set(ledger.keys("job"))
    assert {(row.name, row.key, row.error) for row in ended} == {
        *(("job", name, "cancelled") for name in watched[:2]),
        *(("run", name, "cancelled") for name in watched[:2]),
        *(("queue", name, "") for name in watched),
    }


class Forgetful(PracticeBatchTarget):
    """One that is not asked to purge: it forgets by itself."""

    purges = False


@pytest.mark.parametrize("asked", [False, True])
def test_where_a_system_purges_by_itself_jobs_are_watched_until_it_has_forgotten_them(
    tmp_path: Path, asked: bool
) -> None:
    """Or where it could be asked to, and is not."""
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=100, cycle=0) as batch:
        submit(batch.target, ledger, 3, DAY)
        names = ledger.keys("job")
        kind, purge = (PracticeBatchTarget, "service") if asked else (Forgetful, True)
        test = ComputingWatch(kind(batch.target.url), jobs=2, which="oldest", purge=purge)
        test.ledger = ledger
        told: list[tuple[str, float]] = []
        test.reporter = lambda sample, _: told.append((sample.metric, sample.value))
        test.setup()
        ops = [TestOp(number, ledger=ledger) for number in range(3)]
        test.run(ops[0])
        ids = [job.id for job in batch.target.status(names=names)]
        batch.target.cancel(ids[:2])
        test.run(ops[1])
        kept = ledger.keys("kept")
        batch.target.purge(ids=ids[:1])
        test.run(ops[2])
    assert [[timed.name for timed in op.operations] for op in ops] == [["status"]] * 3
    assert kept == names[:2]
    assert ledger.keys("kept") == names[1:2]
    assert [(row.key, row.outcome) for row in ledger.ended if row.name == "kept"] == [(names[0], Outcome.PASSED)]
    assert [value for metric, value in told if metric == "purged"] == [0, 0, 1]
    assert [value for metric, value in told if metric == "unknown"] == [0, 0, 0]


def test_who_watches_chooses_by_the_seed_and_lets_go_of_what_nobody_knows(tmp_path: Path) -> None:
    ledger = TestLedger()
    chosen = []
    with practice_batch(tmp_path, slots=0) as batch:
        assert acts(run_once(ComputingWatch, batch.target, ledger=ledger)) == [], "no job is open"
        for seed in (1, 1, 2, 3):
            test = ComputingWatch(batch.target, Context(seed=seed), jobs=4)
            test.ledger = ledger
            if not ledger.open("job"):
                for number in range(50):
                    ledger.begin("job", f"lost-{number}")
            test.setup()
            test._choose()
            chosen.append(list(test._watched))
            test.run(TestOp(ledger=ledger))
            assert test._watched == []
    assert chosen[0] == chosen[1]
    assert len({tuple(names) for names in chosen}) == 3


def test_who_does_not_purge_only_looks(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=10, cycle=0) as batch:
        submit(batch.target, ledger, 3)
        until_ended(batch.target, 3)
        run_once(ComputingPoll, batch.target, ledger=ledger, keep=True)
        submit(batch.target, ledger, 1)
        until_ended(batch.target, 4)
        done = [run_once(ComputingWatch, batch.target, ledger=ledger, purge=False) for _ in range(2)]
        assert batch.target.counts()[JobState.COMPLETED] == 4
    assert [acts(each) for each in done] == [[("status", 1)], []]
    assert ledger.open("job") == 0


@pytest.mark.parametrize("which", ["oldest", "newest", "random"])
def test_open_jobs_are_cancelled(tmp_path: Path, which: str) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=1, cycle=0) as batch:
        submit(batch.target, ledger, 9, DAY)
        names = ledger.keys("job")
        done = run_once(ComputingCancel, batch.target, ledger=ledger, jobs=3, which=which)
        run_once(ComputingPoll, batch.target, ledger=ledger)
    assert done.passed, done.error
    assert acts(done) == [("status", 1), ("cancel", 1)]
    assert numbers(done) == {"cancelled": 3, "too_late": 0}
    ended = [row.key for row in ledger.ended if row.name == "job" and row.error == "cancelled"]
    assert len(ended) == 3
    assert which == "random" or sorted(ended) == sorted(names[:3] if which == "oldest" else names[-3:])
    assert {job.name for job in truth(batch.journal) if job.state == "cancelled"} == set(ended)


def test_what_is_over_is_too_late_to_be_cancelled(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=10, cycle=0) as batch:
        assert acts(run_once(ComputingCancel, batch.target, ledger=ledger)) == [], "no job is open"
        submit(batch.target, ledger, 2)
        until_ended(batch.target, 2)
        done = run_once(ComputingCancel, batch.target, ledger=ledger, jobs=5)
    assert acts(done) == [("status", 1)]
    assert numbers(done) == {"cancelled": 0, "too_late": 2}
