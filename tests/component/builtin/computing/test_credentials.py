"""Users, and credentials handed over, renewed and revoked, on the practice batch system."""

from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.computing.delegate import ComputingDelegate
from pileup.builtin.computing.jobs import handed_over, key_of, one_of
from pileup.builtin.computing.renew import ComputingRenew
from pileup.builtin.computing.submit import ComputingSubmit
from pileup.model.record import Outcome
from pileup.plugin import Context
from pileup.plugin.batch import BatchTarget, Delegation, JobSpec, Submission
from pileup.plugin.testing import Iteration, TestLedger, TestOp, run_once
from tests.servers.practice_batch import practice_batch, refusals, truth


def acts(iteration: Iteration) -> list[tuple[str, str]]:
    return [(timed.name, timed.key) for timed in iteration.operations]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["", ""]),
        ({"user": "bob"}, ["bob", "bob"]),
        ({"users": 2}, ["user1", "user2"]),
        ({"users": "1"}, ["user1", "user1"]),
        ({"users": ["a", "b", "c"]}, ["a", "b"]),
    ],
)
def test_users_have_names(options: dict[str, Any], names: list[str]) -> None:
    test = ComputingSubmit(**options)
    assert [one_of(test.users, test.user, client) for client in (0, 1)] == names


@pytest.mark.parametrize("users", [0, "0", "-1", [], [""], "many", 2.5, [["a"]], 10**9])
def test_wrong_users_are_told(users: Any) -> None:
    with pytest.raises(ValueError, match=r"are not users; expected how many \(for user1, user2, …\), or a list"):
        ComputingSubmit(users=users)


def test_one_user_or_several() -> None:
    with pytest.raises(ValueError, match=r"user 'bob' and users \['user1', 'user2'\] are both given; expected one"):
        ComputingDelegate(users=2, user="bob")


def test_a_key_says_which_and_whose() -> None:
    assert [key_of(each) for each in (Delegation("7", 0), Delegation("x-1", 0, "Joe Doe"))] == ["7", "x-1 Joe Doe"]


def test_new_credentials_are_used_for_jobs(tmp_path: Path) -> None:
    ledger = TestLedger()
    options: dict[str, Any] = {"newcomers": True, "jobs": 2, "duration": "3 s"}
    with practice_batch(tmp_path, slots=0, users=["bob"]) as batch:
        done = [run_once(ComputingDelegate, batch.target, number=n, ledger=ledger, **options) for n in (0, 1)]
        jobs = batch.target.status(names=ledger.keys("job"))
    assert all(each.passed for each in done), done
    assert [name for name, _ in acts(done[0])] == ["introduce", "delegate", "submit"]
    assert len({job.user for job in jobs}) == 2
    assert len(jobs) == 4
    assert ledger.keys("queue") == ledger.keys("job") == [job.name for job in jobs]
    assert {true.duration for true in truth(batch.journal)} == {3 * 10**9}


def test_users_delegate_one_after_another(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        done = [run_once(ComputingDelegate, batch.target, number=number, users=3) for number in range(4)]
    assert [acts(each) for each in done] == [[("delegate", f"user{number}")] for number in (1, 2, 3, 1)]


def test_clients_are_users_in_turn(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        for client in range(4):
            assert run_once(ComputingSubmit, batch.target, context=Context(client=client), users="3").passed
        names = [true.name for true in truth(batch.journal)]
        users = [batch.target.status(names=[name])[0].user for name in names]
    assert users == ["user1", "user2", "user3", "user1"]


def test_shared_credentials_are_handed_over_once_per_client(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0, users=["bob"]) as batch:
        test = ComputingSubmit(batch.target, user="bob", delegation="shared", lifetime="1 h")
        test.ledger = ledger
        test.setup()
        ops = [TestOp(number, ledger=ledger) for number in range(2)]
        for op in ops:
            test.run(op)
        assert [[timed.name for timed in op.operations] for op in ops] == [["submit"], ["submit"]]
        (shared,) = handed_over(batch.target).values()
        batch.target.revoke(shared)
        refused = TestOp(2, ledger=ledger)
        with pytest.raises(Exception, match="there is no delegation 1; expected"):
            test.run(refused)
    assert (shared.id, shared.user) == ("1", "bob")
    assert refused.operations[0].outcome is Outcome.REFUSED
    assert refusals(batch.journal) == [f"pileup-{test.stamp}-2"]


def test_the_cost_of_credentials_for_each_job_shows(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0, delegate_cost="5 ms") as batch:
        done = run_once(ComputingSubmit, batch.target, ledger=ledger, delegation="per-job", batch=2)
        assert len(truth(batch.journal)) == 2
        assert not handed_over(batch.target), "they are not renewed"
    assert [name for name, _ in acts(done)] == ["delegate", "delegate", "submit"]
    assert all(timed.seconds >= 0.005 for timed in done.operations[:2])


def test_what_is_submitted_is_claimed(tmp_path: Path) -> None:
    ghost = {"kind": "ghost", "paths": ["/jobs"]}
    claims: list[tuple[str, str, str]] = []

    def submit(target: BatchTarget, **options: Any) -> list[str]:
        test = ComputingSubmit(target, batch=2, **options)
        test.ledger, test.claimer = TestLedger(), lambda *claim: claims.append(claim)
        test.setup()
        try:
            test.run(TestOp(3, ledger=test.ledger))
        finally:
            names = test.submits(3)
        return names

    with practice_batch(tmp_path, slots=0, limit=1) as batch:
        names = submit(batch.target)
        assert claims == [(names[0], "1", "job")], "what is refused is not claimed"
        with pytest.raises(Exception, match="limit"):
            submit(batch.target)
    assert len(claims) == 1
    claims.clear()
    with practice_batch(tmp_path, slots=0, faults=[ghost], jobs=None) as batch:
        batch.target.patience = 100_000_000
        with pytest.raises(Exception, match="no answer"):
            submit(batch.target)
    assert [(number, what) for _, number, what in claims] == [("", "job")] * 2


class Taken:
    """A batch target that remembers what it is given."""

    def __init__(self) -> None:
        self.jobs: list[JobSpec] = []

    def submit(self, jobs: Any) -> list[Submission]:
        self.jobs += jobs
        return [Submission(job.name, str(number)) for number, job in enumerate(jobs)]


@pytest.mark.parametrize(
    ("options", "work", "command"),
    [
        ({"work": "cpu"}, "cpu", ()),
        ({"work": "command", "command": "/bin/echo 'a b' $HOME"}, "command", ("/bin/echo", "a b", "$HOME")),
        ({"work": "command", "command": ["true"]}, "command", ("true",)),
    ],
)
def test_jobs_say_what_they_do(options: dict[str, Any], work: str, command: tuple[str, ...]) -> None:
    target = Taken()
    assert run_once(ComputingSubmit, target, duration="3 s", **options).passed  # type: ignore[arg-type]
    (job,) = target.jobs
    assert (job.work, job.command, job.duration) == (work, command, 3 * 10**9)


@pytest.mark.parametrize("wrong", [{"work": "command"}, {"command": "true"}, {"work": "command", "command": "'"}])
def test_work_and_command_belong_together(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="; expected"):
        ComputingSubmit(**wrong)


def test_newcomers_are_made_known_and_hand_credentials_over(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0, users=["bob"]) as batch:
        stranger = run_once(ComputingDelegate, batch.target, ledger=ledger, user="eve")
        done = [run_once(ComputingDelegate, batch.target, ledger=ledger, newcomers=True) for _ in range(2)]
        names = [acts(each)[0][1] for each in done]
        for name in names:
            batch.target.submit([JobSpec("a", user=name)])
        handed = [key_of(each) for each in handed_over(batch.target).values()]
    assert (stranger.outcome, stranger.error) == (
        Outcome.REFUSED,
        'nobody knows "eve"; expected a user of the settings, or made known later',
    )
    assert [[name for name, _ in acts(each)] for each in done] == [["introduce", "delegate"]] * 2
    assert len(set(names)) == 2
    assert handed == [f"1 {names[0]}", f"2 {names[1]}"]


def test_credentials_are_taken_back_at_once(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0) as batch:
        done = run_once(ComputingDelegate, batch.target, ledger=ledger, user="bob", revoke=True)
        with pytest.raises(Exception, match="there is no delegation 1"):
            batch.target.submit([JobSpec("a", user="bob", delegation="1")])
        assert not handed_over(batch.target)
    assert acts(done) == [("delegate", "bob"), ("revoke", "bob")]


def test_credentials_are_claimed_and_those_taken_back_too(tmp_path: Path) -> None:
    claims: list[tuple[str, str, str]] = []
    with practice_batch(tmp_path, slots=0) as batch:
        for test in (
            ComputingDelegate(batch.target, user="bob", revoke=True),
            ComputingSubmit(batch.target, user="bob", delegation="shared"),
            ComputingSubmit(batch.target, delegation="per-job"),
        ):
            test.ledger, test.claimer = TestLedger(), lambda *claim: claims.append(claim)
            test.setup()
            test.run(TestOp(ledger=test.ledger))
    assert [claim for claim in claims if claim[2] != "job"] == [
        ("bob", "1", "delegation"),
        ("bob", "1", "revoked"),
        ("bob", "2", "delegation"),
        ("nobody", "3", "delegation"),
    ]


def test_newcomers_have_no_names_yet() -> None:
    with pytest.raises(ValueError, match=r"users \['user1', 'user2'\] with `newcomers: true`; expected one"):
        ComputingDelegate(newcomers=True, users=2)


def test_all_credentials_are_renewed_and_those_that_cannot_be_fail(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_batch(tmp_path, slots=0) as batch:
        for user in ("a", "b", "c"):
            run_once(ComputingDelegate, batch.target, ledger=ledger, user=user, lifetime="1 h")
        batch.target.revoke(Delegation("2", 0))
        done = run_once(ComputingRenew, batch.target, ledger=ledger, lifetime="2 h")
    with practice_batch(tmp_path / "..", jobs=None) as other:
        none = run_once(ComputingRenew, other.target, ledger=ledger)
    assert acts(done) == [("renew", "1 a"), ("renew", "2 b"), ("renew", "3 c")]
    assert [timed.outcome for timed in done.operations] == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert done.outcome is Outcome.FAILED
    assert [(number.metric, number.value) for number in done.numbers] == [("renewed", 2)]
    assert (none.passed, acts(none)) == (True, [])


def test_renewed_credentials_last_longer(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=0) as batch:
        made = batch.target.delegate(40_000_000, "bob")
        batch.target.renew(made, 10**12)
        short = batch.target.delegate(1, "bob")
        batch.target.submit([JobSpec("a", user="bob", delegation=made.id)])
        with pytest.raises(Exception, match=f"delegation {short.id} has expired; expected one that lasts"):
            batch.target.submit([JobSpec("a", user="bob", delegation=short.id)])
        with pytest.raises(Exception, match=f"delegation {made.id} is not of"):
            batch.target.submit([JobSpec("a", user="eve", delegation=made.id)])
