"""What every batch target promises, on the practice batch system; its journal is the oracle."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.errors import Ambiguous, Failed, Refused
from pileup.plugin.batch import BatchTarget, Claim, Fate, Job, JobSpec, JobState, tally
from tests.servers.practice_batch import RunningBatch, practice_batch, refusals, truth

GHOST = {"kind": "ghost", "methods": ["POST"], "paths": ["/jobs"]}


def jobs(*names: str, duration: int = 0) -> list[JobSpec]:
    return [JobSpec(name, duration) for name in names]


def until(found: Callable[[], bool], within: float = 10.0) -> None:
    """Ask until it is so."""
    end = time.monotonic() + within
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def ended(target: BatchTarget, count: int) -> list[Job]:
    """Follow the changes until so many jobs have ended."""
    cursor = ""
    over: dict[str, Job] = {}
    end = time.monotonic() + 10
    while len(over) < count:
        assert time.monotonic() < end, over
        news = target.changes(cursor, list, most=3)
        cursor = news.cursor
        over |= {job.name: job for job in news.jobs if job.state.final}
        if not news.more:
            time.sleep(0.01)
    return list(over.values())


def test_jobs_run_and_are_told_as_they_were(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=2, cycle="20 ms") as batch:
        answers = batch.target.submit(jobs("a", "b", "c", duration=5_000_000))
        assert [(answer.name, answer.refused) for answer in answers] == [("a", ""), ("b", ""), ("c", "")]
        over = ended(batch.target, 3)
        assert {job.state for job in over} == {JobState.COMPLETED}
        assert [job.id for job in batch.target.status(names=["b"], ids=[answers[0].id])] == ["1", "2"]
        assert batch.target.history(["c", "nobody"])[0].name == "c"
        assert batch.target.counts()[JobState.COMPLETED] == 3
        assert batch.target.purge(ids=["1", "9"], oldest=1).missing == ("9",)
        assert [job.name for job in batch.target.status(names=["a", "b", "c"])] == ["c"]
    told = {job.name: (job.submitted, job.started, job.ended) for job in over}
    true = {
        job.name: tuple(job.times[name] for name in ("submitted", "started", "ended")) for job in truth(batch.journal)
    }
    assert told == true
    assert all(job.times["acknowledged"] for job in truth(batch.journal))


def test_a_limit_refuses_with_its_reason(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0, limit=2) as batch:
        answers = batch.target.submit(jobs("a", "b", "c"))
        assert [(answer.id, answer.refused) for answer in answers] == [("1", ""), ("2", ""), ("", "limit of 2 jobs")]
        with pytest.raises(Refused, match="limit of 2 jobs"):
            batch.target.submit(jobs("d"))
        assert batch.target.reason("a") == "waits for a free slot"
        assert batch.target.cancel(["1", "7"]) == ["7"]
        assert batch.target.reason("a") == "cancelled"
        assert batch.target.reason("nobody") == ""
    assert refusals(batch.journal) == ["c", "d"]


def test_what_is_wrong_is_a_failure_and_no_refusal(tmp_path: Path) -> None:
    with practice_batch(tmp_path, faults=[{"kind": "error", "paths": ["/counts"]}]) as batch:
        with pytest.raises(Failed, match="400"):
            batch.target.submit(jobs(""))
        with pytest.raises(Failed, match="500"):
            batch.target.counts()
    with practice_batch(tmp_path / "..", jobs=None, token="secret") as locked, pytest.raises(Refused, match="401"):
        locked.target.counts()


def test_no_answer_is_ambiguous_and_the_audit_finds_the_ghost(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0, faults=[{**GHOST, "share": 0.5}], seed=4) as batch:
        batch.target.patience = 200_000_000
        claims = [claim(batch, f"job-{number}") for number in range(12)]
        claims.append(Claim("never-sent"))
        found = batch.target.audit(claims)
        ghosts = [finding for finding in found if not finding.claim.id]
        assert 2 <= len(ghosts) <= 11
        assert {finding.fate for finding in ghosts[:-1]} == {Fate.GOING}
        assert ghosts[-1].fate is Fate.NEVER
    silent = [job.name for job in truth(batch.journal) if not job.times["acknowledged"]]
    assert silent == [finding.claim.name for finding in ghosts[:-1]]


def claim(batch: RunningBatch, name: str) -> Claim:
    """Submit one job; what a client believes afterwards."""
    try:
        return Claim(name, batch.target.submit(jobs(name))[0].id)
    except Ambiguous:
        return Claim(name)


@pytest.mark.parametrize("reuse", [False, True])
def test_the_audit_finds_what_a_crash_forgot(tmp_path: Path, reuse: bool) -> None:
    with practice_batch(tmp_path, slots=1, cycle=0, checkpoint="1 h", reuse_ids=reuse) as batch:
        claims = [Claim(answer.name, answer.id) for answer in batch.target.submit(jobs("a"))]
        ended(batch.target, 1)
        batch.target.checkpoint()
        claims += [Claim(answer.name, answer.id) for answer in batch.target.submit(jobs("b", "c", duration=10**12))]
        assert batch.target.crash() == 2
        batch.target.connections.close()
        claims += [Claim(answer.name, answer.id) for answer in batch.target.submit(jobs("d", duration=10**12))]
        claims += [Claim(answer.name, answer.id) for answer in batch.target.submit(jobs("e", "e", duration=10**12))][:1]
        found = {finding.claim.name: finding.fate for finding in batch.target.audit(claims)}
        gone = Fate.REUSED if reuse else Fate.LOST
        assert found == {"a": Fate.ONCE, "b": gone, "c": gone, "d": Fate.GOING, "e": Fate.TWICE}
        assert tally(batch.target.audit(claims))[gone] == 2
    assert {job.name for job in truth(batch.journal) if job.times["lost"]} == {"b", "c"}


def test_a_server_that_is_away_answers_nobody(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        batch.target.crash(away=200_000_000)
        batch.target.connections.close()
        with pytest.raises(Ambiguous):
            batch.target.submit(jobs("a"))
        until(lambda: answers(batch.target))


def answers(target: BatchTarget) -> bool:
    try:
        return bool(target.counts() or True)
    except (Ambiguous, Failed):
        return False


def test_credentials_are_handed_over_and_renewed(tmp_path: Path) -> None:
    with practice_batch(tmp_path) as batch:
        first = batch.target.delegate(10**9)
        assert batch.target.renew(first, 10**12).expires > first.expires
        assert batch.target.probe().startswith("pileup-practice/")


def test_credentials_are_somebodys_and_end(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0, users=["bob"]) as batch:
        mine = batch.target.delegate(10**12, "bob")
        assert mine.user == "bob"
        with pytest.raises(Refused, match='nobody knows "eve"'):
            batch.target.delegate(10**12, "eve")
        for _ in range(2):
            batch.target.introduce("eve")
        hers = batch.target.delegate(10**12, "eve")
        batch.target.submit(
            [JobSpec("a", user="bob", delegation=mine.id), JobSpec("b", user="eve", delegation=hers.id)]
        )
        for _ in range(2):
            batch.target.revoke(mine)
        expired = batch.target.delegate(1, "eve")
        for job, why in [
            (JobSpec("c", user="bob", delegation=mine.id), "there is no delegation"),
            (JobSpec("d", user="bob", delegation=hers.id), "is not of"),
            (JobSpec("e", user="eve", delegation=expired.id), "has expired"),
            (JobSpec("f"), "nobody knows"),
        ]:
            with pytest.raises(Refused, match=why):
                batch.target.submit([job])
        with pytest.raises(Refused, match="has expired"):
            batch.target.renew(expired, 10**12)
        with pytest.raises(Failed):
            batch.target.renew(mine, 10**12)
    assert [job.name for job in truth(batch.journal)] == ["a", "b"]
    assert refusals(batch.journal) == ["c", "d", "e", "f"]


def test_a_journal_is_gone_on_with(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        batch.target.submit(jobs("a"))
    with practice_batch(tmp_path, slots=1, cycle=0) as again:
        assert [job.name for job in ended(again.target, 1)] == ["a"]
    assert [job.state for job in truth(again.journal)] == ["completed"]
