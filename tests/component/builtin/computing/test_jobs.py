"""Jobs submitted and watched, on the practice batch system: what the ledger is reported, and when."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.computing.poll import ComputingPoll
from pileup.builtin.computing.submit import ComputingSubmit
from pileup.model.cause import Cause
from pileup.model.errors import Failed, SuiteError
from pileup.model.record import Outcome
from pileup.plugin import Context
from pileup.plugin.batch import Changes, Job, JobSpec, JobState, Submission
from pileup.plugin.testing import TestLedger, TestOp, run_once
from pileup.suite import load
from tests.servers.practice_batch import practice_batch, truth


class Feed:
    """A batch target that says what it was told to tell."""

    def __init__(self, *pages: list[Job]) -> None:
        self.pages = list(pages)
        self.asked: list[str] = []

    def changes(self, cursor: str, still_open: Callable[[], list[str]], most: int) -> Changes:
        self.asked.append(cursor)
        jobs = self.pages.pop(0) if self.pages else []
        return Changes(tuple(jobs), str(len(self.asked)))

    def counts(self) -> dict[JobState, int]:
        return {JobState.QUEUED: 3, JobState.RUNNING: 4}


def opened(*names: str) -> TestLedger:
    """A ledger with jobs that wait since time 100."""
    ledger = TestLedger()
    for name in names:
        ledger.begin("queue", name, 100)
        ledger.begin("job", name, 100)
    return ledger


def poll(feed: object, ledger: TestLedger, times: int = 1) -> None:
    """Poll so many times with one test."""
    test = ComputingPoll(feed, counts=False)  # type: ignore[arg-type]
    test.ledger = ledger
    test.setup()
    for number in range(times):
        test.run(TestOp(number))


def rows(ledger: TestLedger) -> list[tuple[str, str, int, int, Outcome, str]]:
    return [(row.name, row.key, row.start, row.end, row.outcome, row.error) for row in ledger.ended]


def test_a_submission_opens_jobs_with_names_of_their_own(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0) as batch:
        options: dict[str, Any] = {"batch": 3, "prefix": "night", "user": "alice", "duration": "5 s"}
        results = [run_once(ComputingSubmit, batch.target, number=n, ledger=ledger, **options) for n in (0, 0)]
        names = ledger.keys("job")
        (job,) = batch.target.status(names=names[:1])
    assert [result.passed for result in results] == [True, True]
    assert [(timed.name, timed.calls) for timed in results[0].operations] == [("submit", 1)]
    assert len(set(names)) == 6
    assert all(name.startswith("night-") for name in names)
    assert ledger.keys("queue") == names
    assert job.user == "alice"
    assert [true.name for true in truth(batch.journal)] == names
    assert {true.duration for true in truth(batch.journal)} == {5 * 10**9}


def test_durations_follow_the_seed(tmp_path: Path) -> None:
    law = {"uniform": ["1 s", "9 s"]}
    with practice_batch(tmp_path, slots=0) as batch:
        for seed, number in ((1, 0), (1, 0), (1, 1), (2, 0)):
            run_once(ComputingSubmit, batch.target, context=Context(seed=seed), number=number, duration=law)
    first, again, other, seeded = (true.duration for true in truth(batch.journal))
    assert first == again
    assert len({first, other, seeded}) == 3
    assert all(10**9 <= duration <= 9 * 10**9 for duration in (first, other, seeded))


def test_what_is_refused_opens_nothing(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0, limit=2) as batch:
        part = run_once(ComputingSubmit, batch.target, ledger=ledger, batch=3)
        whole = run_once(ComputingSubmit, batch.target, ledger=ledger, batch=3)
    assert part.passed
    assert [(number.metric, number.value) for number in part.numbers] == [("refused_jobs", 1)]
    assert (whole.outcome, whole.error) == (Outcome.REFUSED, "limit of 2 jobs")
    assert whole.operations[0].outcome is Outcome.REFUSED
    assert len(ledger.keys("job")) == 2


def test_no_answer_is_ambiguous_and_opens_nothing(tmp_path: Path) -> None:
    ghost = {"kind": "ghost", "paths": ["/jobs"]}
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0, faults=[ghost]) as batch:
        batch.target.patience = 100_000_000
        result = run_once(ComputingSubmit, batch.target, ledger=ledger)
    assert result.outcome is Outcome.AMBIGUOUS
    assert ledger.open() == 0
    assert len(truth(batch.journal)) == 1, "it was taken in all the same"


def test_jobs_are_followed_at_the_times_that_the_system_tells() -> None:
    ledger = opened("a", "b", "c")
    running = Job("a", "1", JobState.RUNNING, 90, 200)
    ended = [
        Job("a", "1", JobState.COMPLETED, 90, 200, 300),
        Job("b", "2", JobState.FAILED, 90, 210, 310, "exit code 1"),
        Job("c", "3", JobState.CANCELLED, 90, 0, 320, "cancelled"),
    ]
    feed = Feed([running], ended)
    poll(feed, ledger, times=2)
    assert feed.asked == ["", "1"]
    assert sorted(rows(ledger)) == [
        ("job", "a", 100, 300, Outcome.PASSED, ""),
        ("job", "b", 100, 310, Outcome.FAILED, "exit code 1"),
        ("job", "c", 100, 320, Outcome.FAILED, "cancelled"),
        ("queue", "a", 100, 200, Outcome.PASSED, ""),
        ("queue", "b", 100, 210, Outcome.PASSED, ""),
        ("queue", "c", 100, 320, Outcome.FAILED, "cancelled"),
        ("run", "a", 200, 300, Outcome.PASSED, ""),
        ("run", "b", 210, 310, Outcome.FAILED, "exit code 1"),
    ]
    assert ledger.open() == 0


@pytest.mark.parametrize(
    ("state", "reason", "cause"),
    [
        (JobState.CANCELLED, "by its user", Cause.CANCELLED),
        (JobState.FAILED, "cancelled by a policy, it says", Cause.NONE),
        (JobState.COMPLETED, "cancelled", Cause.NONE),
    ],
)
def test_a_job_was_cancelled_by_its_state_and_not_by_what_is_said(state: JobState, reason: str, cause: Cause) -> None:
    ledger = opened("a", "b")
    poll(Feed([Job("a", "1", state, 90, 200, 300, reason), Job("b", "2", JobState.COMPLETED, 90, 200, 300)]), ledger)
    assert {row.cause for row in ledger.ended if row.key == "a" and row.name != "queue"} == {cause}
    assert {row.cause for row in ledger.ended if row.key == "b"} == {Cause.NONE}


def test_a_job_that_ran_twice_ends_once() -> None:
    ledger = opened("a")
    twins = [Job("a", number, JobState.COMPLETED, 90, 200, 300) for number in ("1", "2")]
    test = ComputingPoll(Feed(twins), counts=False, keep=True)  # type: ignore[arg-type]
    test.ledger = ledger
    test.setup()
    test.run(TestOp(ledger=ledger))
    assert [row[:2] for row in rows(ledger)] == [("queue", "a"), ("run", "a"), ("job", "a")]
    assert ledger.keys("kept") == ["a"]


def test_a_job_that_was_over_before_its_answer_came_takes_no_negative_time() -> None:
    ledger = opened("a")
    poll(Feed([Job("a", "1", JobState.COMPLETED, 10, 20, 30)]), ledger)
    assert sorted(rows(ledger)) == [
        ("job", "a", 100, 100, Outcome.PASSED, ""),
        ("queue", "a", 100, 100, Outcome.PASSED, ""),
        ("run", "a", 100, 100, Outcome.PASSED, ""),
    ]


def test_times_that_the_system_does_not_tell_are_those_of_the_poll() -> None:
    ledger = opened("a", "b", "c")
    before = time.time_ns() - 10**9
    pages = (
        [Job("a", "1", JobState.RUNNING), Job("c", "3", JobState.RUNNING)],
        [
            Job("a", "1", JobState.COMPLETED),
            Job("b", "2", JobState.FAILED),
            Job("c", "3", JobState.CANCELLED),
        ],
    )
    poll(Feed(*pages), ledger, times=2)
    assert sorted((row.name, row.key, int(row.outcome)) for row in ledger.ended) == sorted(
        (name, key, int(name != "queue" and key != "a")) for name in ("job", "queue", "run") for key in "abc"
    )
    assert all(row.end >= before for row in ledger.ended)


def test_a_job_is_remembered_until_its_submitter_has_heard_of_it() -> None:
    ledger = opened()
    now = time.time_ns()
    early = Job("a", "1", JobState.COMPLETED, now, now + 1, now + 2)
    strange = Job("strange", "2", JobState.COMPLETED, 1, 2, 3)
    test = ComputingPoll(Feed([early, strange]), counts=False)  # type: ignore[arg-type]
    test.ledger = ledger
    test.setup()
    test.run(TestOp())
    for name in ("a", "strange"):
        ledger.begin("queue", name, now)
        ledger.begin("job", name, now)
    test.run(TestOp(1))
    assert {row.key for row in ledger.ended} == {"a"}, "one submitted long before this test began is another's"


def test_counts_are_samples() -> None:
    result = run_once(ComputingPoll, Feed(), ledger=TestLedger())  # type: ignore[arg-type]
    assert [(number.metric, number.value, number.unit) for number in result.numbers] == [
        ("queued", 3, "jobs"),
        ("running", 4, "jobs"),
    ]
    assert [timed.name for timed in result.operations] == ["poll", "counts"]


def test_draining_ends_when_no_job_is_open(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=5, cycle="10 ms") as batch:
        run_once(ComputingSubmit, batch.target, ledger=ledger, batch=20, duration="5 ms")
        result = run_once(ComputingPoll, batch.target, ledger=ledger, drain=True, interval="10 ms", page=7)
    assert result.passed, result.error
    true = {job.name: job for job in truth(batch.journal)}
    ends = {row.key: row.end for row in ledger.ended if row.name == "job"}
    assert ends == {name: job.times["ended"] for name, job in true.items()}
    assert len(ends) == 20


def test_draining_gives_up_before_its_timeout() -> None:
    context = Context(timeout=50_000_000)
    result = run_once(ComputingPoll, Feed(), context=context, ledger=opened("a"), drain=True, interval="5 ms")  # type: ignore[arg-type]
    assert isinstance(result.problem, Failed)
    assert result.error == "1 jobs are still open"


@pytest.mark.parametrize("wrong", [{"prefix": "a b"}, {"batch": 0}, {"duration": "3 MB"}])
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ComputingSubmit(**wrong)


PAYLOAD = """
pileup: 1
title: payload
targets: {{ce: {{kind: {kind}, {where}}}}}
tests: [{{name: p, use: computing.submit, target: ce, options: {{{option}}}}}]
"""
ARC = ("arc", 'url: "https://ce.site.org/arex"')
SIMULATED = ("practice-batch", "launch: {}")
SLURM = ("slurm", 'url: "https://slurm.site.org:6820"')


@pytest.mark.parametrize(
    ("system", "option", "told"),
    [
        (SIMULATED, "environment: {A: b}", "`environment` on kind 'practice-batch', which only simulates jobs"),
        (SIMULATED, "inputs: {f: small}", "`inputs` on kind 'practice-batch', which only simulates jobs"),
        (ARC, "environment: {a-b: c}", "a-b"),
        (ARC, "inputs: {f: nothing}", "file 'nothing' of `inputs`: No such file or directory"),
        (ARC, "inputs: {f: large}", "`inputs` are larger than 32 KiB together"),
        (ARC, "inputs: {f: small, g: most}", "`inputs` are larger than 32 KiB together"),
        (SIMULATED, "outputs: [f]", "`outputs` on kind 'practice-batch', which only simulates jobs"),
        (SLURM, "outputs: [f]", "`outputs` on kind 'slurm', which hands no files out"),
        (ARC, "outputs: [../f]", "../f"),
    ],
)
def test_variables_and_files_that_cannot_be_are_refused_before_the_run(
    tmp_path: Path, system: tuple[str, str], option: str, told: str
) -> None:
    (tmp_path / "small").write_bytes(b"x")
    (tmp_path / "most").write_bytes(bytes(32 << 10))
    (tmp_path / "large").write_bytes(bytes((32 << 10) + 1))
    suite = tmp_path / "suite.yaml"
    suite.write_text(PAYLOAD.format(kind=system[0], where=system[1], option=option))
    with pytest.raises(SuiteError) as caught:
        load(suite)
    (problem,) = caught.value.problems
    assert told in problem.what
    assert problem.expected


FETCHING = """
pileup: 1
title: fetch
targets: {{ce: {{kind: {kind}, {where}}}}}
tests:
  - {{name: p, use: computing.submit, target: ce}}
  - {{name: f, use: computing.fetch, target: ce, with: [p], options: {{{option}}}, load: {{every: 1 s, for: 9 s}}}}
"""


@pytest.mark.parametrize(
    ("system", "option", "told"),
    [
        (ARC, "", "neither `files` nor `same_as` names a file"),
        (ARC, "same_as: {f: nothing}", "file 'nothing' of `same_as`: No such file or directory"),
        (SLURM, "files: [f]", "kind 'slurm' hands no files of jobs out"),
        (SIMULATED, "files: [f]", "kind 'practice-batch' hands no files of jobs out"),
    ],
)
def test_what_cannot_be_fetched_is_refused_before_the_run(
    tmp_path: Path, system: tuple[str, str], option: str, told: str
) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(FETCHING.format(kind=system[0], where=system[1], option=option))
    with pytest.raises(SuiteError) as caught:
        load(suite)
    assert [told in problem.what and bool(problem.expected) for problem in caught.value.problems] == [True]


def test_variables_and_files_go_with_every_job(tmp_path: Path) -> None:
    (tmp_path / "most").write_bytes(bytes(32 << 10))
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        PAYLOAD.format(kind=ARC[0], where=ARC[1], option="inputs: {f: most}, outputs: [o], environment: {A: b}")
    )
    assert [case.test for case in load(suite).cases]
    with practice_batch(tmp_path) as batch, pytest.raises(Failed, match="a simulated job cannot have"):
        batch.target.submit([JobSpec("a", environment={"A": "b"})])
    taken: list[JobSpec] = []

    class Taking(Feed):
        def submit(self, jobs: list[JobSpec]) -> list[Submission]:
            taken.extend(jobs)
            return [Submission(job.name, job.name) for job in jobs]

    options = {"inputs": {"f": "most"}, "outputs": ["o"], "environment": {"A": "b"}, "batch": 2}
    run_once(ComputingSubmit, Taking(), context=Context(folder=tmp_path), **options)  # type: ignore[arg-type]
    sent = [(job.environment, job.files, job.outputs) for job in taken]
    assert sent == [({"A": "b"}, {"f": bytes(32 << 10)}, ("o",))] * 2
