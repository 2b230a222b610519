"""What a real ARC CE over a real Slurm says of what it does: one for all tests but for those that kill it."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from pileup.builtin.arc.identities import Authority, Pair
from pileup.builtin.arc.target import ArcTarget
from pileup.builtin.slurm.monitor import SlurmMonitor
from pileup.model.errors import Failed, Refused, TargetError
from pileup.model.suite import Credentials
from pileup.plugin.batch import Claim, Delegation, Fate, Finding, Job, JobSpec, JobState, Submission
from tests.servers.arc import QUICK, RunningArc, arc, processes_of, proxy_of

SECOND = 10**9
HOUR = 3600 * SECOND
WITHIN = 120.0


def until(found: Callable[[], bool], within: float = WITHIN) -> None:
    """Ask until it is so."""
    end = time.monotonic() + within
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)


def ended(target: ArcTarget, *names: str) -> dict[str, Job]:
    """Follow the changes until these jobs have ended."""
    over: dict[str, Job] = {}
    cursor = ""

    def look() -> bool:
        nonlocal cursor
        news = target.changes(cursor, lambda: names)
        cursor = news.cursor
        over.update({job.name: job for job in news.jobs if job.state.final})
        return set(names) <= set(over)

    until(look)
    return {name: over[name] for name in names}


def command(name: str, text: str, user: str = "") -> JobSpec:
    return JobSpec(name, work="command", command=("sh", "-c", text), user=user)


@pytest.fixture(scope="module")
def element(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningArc]:
    """A computing element of two slots, with two users."""
    with arc(tmp_path_factory.mktemp("ce"), slots=2, users=2, **QUICK) as running:
        yield running


@dataclass(frozen=True)
class Work:
    """Jobs that have ended, and what has been told of them meanwhile."""

    since: int
    answers: dict[str, Submission]
    over: dict[str, Job]
    delegation: Delegation


@pytest.fixture(scope="module")
def work(element: RunningArc) -> Work:
    """Jobs of two users, all at once: an end is seen within 10 s at the earliest."""
    target, since = element.target(), time.time_ns()
    delegation = target.delegate(HOUR, "user1")
    jobs = [JobSpec("t-sleep", SECOND), command("t-fails", "exit 7")]
    jobs += [command(f"p-{number}", f"exit {number}") for number in range(3)]
    theirs = [JobSpec("t-user", user="user1"), JobSpec("t-delegated", user="user1", delegation=delegation.id)]
    answers = {answer.name: answer for answer in target.submit(jobs) + target.submit(theirs)}
    return Work(since, answers, ended(target, *answers), delegation)


def test_an_answer_of_201_may_refuse_each_job(element: RunningArc) -> None:
    target = element.target(queue="nosuch")
    told = "Requested queue nosuch is not allowed for this user"
    assert target.submit([JobSpec("q-1"), JobSpec("q-2")]) == [
        Submission("q-1", refused=told),
        Submission("q-2", refused=told),
    ]
    with pytest.raises(Failed, match="several users"):
        target.submit([JobSpec("q-3"), JobSpec("q-4", user="user1")])
    with pytest.raises(Failed, match="there is no identity of user 'nobody'"):
        target.submit([JobSpec("q-5", user="nobody")])


def test_jobs_run_and_fail_with_their_reasons_and_times(element: RunningArc, work: Work, tmp_path: Path) -> None:
    assert all(answer.id and not answer.refused for answer in work.answers.values())
    asked = ("t-sleep", "t-fails", "t-user", "t-delegated")
    over = {name: work.over[name] for name in asked}
    good = JobState.COMPLETED
    assert [job.state for job in over.values()] == [good, JobState.FAILED, good, good]
    assert [job.user for job in over.values()] == ["", "", "user1", "user1"]
    assert "LRMS error: (7)" in over["t-fails"].reason
    for job in over.values():
        assert work.since - SECOND <= job.submitted <= job.started <= job.ended <= time.time_ns()
    target, site = element.target(), element.site(tmp_path)
    target.status(names=["t-fails"])
    assert target.reason("t-fails") == over["t-fails"].reason
    assert target.reason("nobody") == ""
    # somebody else's computing element knows every name too, and tells the same times when it is asked for what is new
    found = {job.name: job for job in site.status(names=[*asked, "nobody"])}
    assert {name: job.state for name, job in found.items()} == {name: job.state for name, job in over.items()}
    assert {job.submitted for job in found.values()} == {0}
    assert site.accounting is None
    assert "LRMS error: (7)" in found["t-fails"].reason
    news = site.changes("", lambda: asked)
    assert {job.name: replace(job, reason="") for job in news.jobs} == {
        name: replace(job, reason="") for name, job in over.items()
    }


@pytest.mark.long
def test_what_is_cancelled_is_told_so_also_when_it_is_purged(element: RunningArc, tmp_path: Path) -> None:
    target, site = element.target(), element.site(tmp_path)
    before = target.counts()
    answers = target.submit([JobSpec(f"c-{number}", HOUR) for number in range(3)])
    ids, names = [answer.id for answer in answers], [answer.name for answer in answers]
    assert target.purge(ids[:1]).busy == (ids[0],)
    assert target.cancel(ids) == []
    over = ended(target, *names)  # those that were not taken up yet are in no accounting
    assert {job.state for job in over.values()} == {JobState.CANCELLED}
    assert all(job.ended for job in over.values())
    # where a job was when it was cancelled, A-REX says too
    assert {job.reason[:35] for job in over.values()} == {"Job is canceled by external request"}
    assert target.counts()[JobState.CANCELLED] == before.get(JobState.CANCELLED, 0) + 3
    assert site.counts()[JobState.FAILED] == sum(
        number for state, number in target.counts().items() if state in {JobState.CANCELLED, JobState.FAILED}
    )  # a list calls them failed: only the reason of each says more
    assert target.purge(ids).count == 3
    until(lambda: not target.status(ids=ids))
    assert {job.state for job in target.history(names)} == {JobState.CANCELLED}


def test_what_is_purged_is_gone_and_stays_in_the_accounting(element: RunningArc, work: Work, tmp_path: Path) -> None:
    target, site = element.target(), element.site(tmp_path)
    names = [f"p-{number}" for number in range(3)]
    ids = [work.answers[name].id for name in names]
    assert {job.name for job in site.status(names=names)} == set(names)
    purged = site.purge([*ids[:2], "nosuch"])
    assert (purged.count, purged.busy, purged.missing) == (2, (), ("nosuch",))
    until(lambda: [job.name for job in site.status(names=names)] == names[2:])
    assert site.purge(ids[:1]).missing == (ids[0],)
    for knows in (target, site):
        states = {job.name: job.state for job in knows.history(names[:2])}
        assert states == {names[0]: JobState.COMPLETED, names[1]: JobState.FAILED}
        fates = {finding.claim.name: finding.fate for finding in knows.audit([Claim(name, "x") for name in names])}
        assert fates == dict.fromkeys(names, Fate.ONCE)
    assert target.purge(oldest=1).count == 1


def test_the_audit_finds_what_nobody_has_told(element: RunningArc, tmp_path: Path) -> None:
    other = element.target()
    other.submit([JobSpec("a-ghost", user="user2")])
    other.submit([JobSpec("a-twice"), JobSpec("a-twice")])
    claims = [Claim("a-ghost"), Claim("a-twice", "x"), Claim("a-lost", "nosuch"), Claim("a-never")]
    for target in (element.target(), element.site(tmp_path)):
        fates = [finding.fate for finding in target.audit(claims)]
        assert fates[0] in {Fate.GOING, Fate.ONCE}
        assert fates[1:] == [Fate.TWICE, Fate.LOST, Fate.NEVER]


@pytest.mark.long
def test_credentials_are_handed_over_renewed_and_taken_back(element: RunningArc) -> None:
    target = element.target()
    made = [target.delegate(HOUR), target.delegate(HOUR, "user1")]
    for delegation in made:
        assert 0 < delegation.expires - time.time_ns() <= HOUR
        renewed = target.renew(Delegation(delegation.id, 0, delegation.user), 2 * HOUR)
        assert renewed.id == delegation.id
        assert renewed.user == delegation.user
        assert HOUR < renewed.expires - time.time_ns() <= 2 * HOUR
        assert delegation.id in target.users.rest(delegation.user).delegations()
    assert target.renew(made[0], 1000 * 24 * HOUR).expires < time.time_ns() + 8 * 24 * HOUR  # not longer than its owner
    for _ in range(2):
        target.revoke(made[0])
    assert made[0].id not in target.users.rest("").delegations()


def test_a_proxy_is_as_good_as_its_owner(element: RunningArc, tmp_path: Path) -> None:
    owner = element.home / "identities" / "user2.pem"
    proxy = tmp_path / "x509up_u1000"
    proxy.write_text(proxy_of(owner, HOUR))
    ca = str(element.home / "ca")
    target = ArcTarget(element.target().url, Credentials(proxy=str(proxy), ca=ca))
    assert target.probe() == "ARC CE, REST 1.0"
    delegation = target.delegate(24 * HOUR)
    assert delegation.expires < time.time_ns() + HOUR  # no longer than the proxy
    (answer,) = target.submit([JobSpec("x-1", delegation=delegation.id)])
    (theirs,) = element.target().status(names=["x-1"])
    assert (theirs.id, theirs.user) == (answer.id, "user2")


def test_somebody_new_is_let_in_by_a_private_element_alone(element: RunningArc, tmp_path: Path) -> None:
    target, site = element.target(), element.site(tmp_path)
    for _ in range(2):
        target.introduce("new-1")
    delegation = target.delegate(HOUR, "new-1")
    assert target.submit([JobSpec("n-1", user="new-1", delegation=delegation.id)])[0].id
    assert '"/O=pileup/CN=new-1"' in (element.home / "subjects").read_text()
    site.introduce("user1")
    with pytest.raises(Refused, match="that pileup did not launch; expected an identity"):
        site.introduce("new-2")


def test_who_is_not_known_is_told_so(element: RunningArc, tmp_path: Path) -> None:
    target = element.target()
    assert target.probe() == "ARC CE, REST 1.0"
    nobody = ArcTarget(target.url, Credentials(ca=target.credentials.ca))
    with pytest.raises(TargetError, match="no credentials for"):
        nobody.probe()
    given = {word: getattr(target.credentials, word) for word in ("certificate", "key")}
    with pytest.raises(TargetError, match=r"cannot be used: .*certificate"):
        ArcTarget(target.url, Credentials.model_validate(given)).probe()  # the system's CAs do not vouch for it
    known, path = target.users, tmp_path / "stranger.pem"
    assert known.private is not None
    authority = Authority(Pair(known.private.ca.read_text(), known.private.ca_key.read_text()))
    path.write_text(authority.user("stranger").both)
    mine = Credentials.model_validate({"ca": target.credentials.ca, "certificate": str(path), "key": str(path)})
    (told,) = ArcTarget(target.url, mine).submit([JobSpec("s-1")])
    assert told.refused == "Requested queue batch does not match any of available queues"  # it means: for this user
    assert target.database_url.startswith("sqlite:///")
    assert Path(target.database_url.removeprefix("sqlite:///")).exists()


def lost(findings: list[Finding]) -> set[str]:
    return {each.claim.id for each in findings if each.fate is Fate.LOST}


@pytest.mark.long
def test_after_a_kill_of_both_daemons_every_job_is_accounted_for_and_no_process_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "ce"
    with arc(folder, slots=50, users=1, **QUICK) as element:
        home = str(element.home)
        target = element.target()
        answers = [target.submit([JobSpec(f"k-{number}", SECOND)])[0] for number in range(12)]
        element.kill("arex", "arex-ws")
        assert not [each for each in element.processes() if each.name() == "arched"]
        with pytest.raises(Failed, match="no connection"):
            target.submit([JobSpec("k-away")])
        element.start_again("arex", "arex-ws")
        claims = [Claim(answer.name, answer.id) for answer in answers]
        # A-REX removes a job's old state before it writes the new one: one job at most is killed between the two
        until(lambda: {each.fate for each in target.audit(claims)} <= {Fate.ONCE, Fate.LOST}, 180)
        found = target.audit(claims)
        assert len(lost(found)) <= 1
        assert {each.jobs[0].state for each in found if each.fate is Fate.ONCE} == {JobState.COMPLETED}
        # such a kill, made for sure: REST calls the job ACCEPTED for ever, and the audit is not taken in
        (unlucky,) = target.submit([JobSpec("k-unlucky", HOUR)])
        state = element.home / "arc" / "control" / "processing" / f"job.{unlucky.id}.status"
        until(lambda: state.exists() and "INLRMS" in state.read_text())
        element.kill("arex")
        state.unlink()
        element.start_again("arex")
        assert [each.fate for each in target.audit([Claim(unlucky.name, unlucky.id)])] == [Fate.LOST]
        assert target.status(names=[unlucky.name]) == []
    assert processes_of(home) == []
    assert not Path(home).exists()


def test_its_ports_are_at_this_machine_alone(element: RunningArc) -> None:
    listening = set()
    for each in element.processes():
        with contextlib.suppress(psutil.Error):
            found = each.net_connections("inet")
            listening |= {port.laddr.ip for port in found if port.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


@pytest.mark.long
def test_a3_a_job_that_somebody_else_has_purged_is_not_lost(element: RunningArc, tmp_path: Path) -> None:
    site, other = element.site(tmp_path), element.target()
    names = ["a-mine", "a-theirs", "a-unseen"]
    claims = [Claim(each, site.submit([JobSpec(each, SECOND)])[0].id) for each in names]
    until(lambda: all(job.state.final for job in other.status(names=names)) and len(other.status(names=names)) == 3)
    seen = [claim.name for claim in claims[:2]]
    assert {job.state for job in site.status(names=seen)} == {JobState.COMPLETED}
    assert site.purge([claims[0].id]).count == 1
    assert other.purge([claims[1].id, claims[2].id]).count == 2
    until(lambda: not other.jobs.look_up([claim.id for claim in claims]))
    fates = {each.claim.name: each.fate for each in site.audit([*claims, Claim("a-lost", "nosuch")])}
    assert fates == {"a-mine": Fate.ONCE, "a-theirs": Fate.PURGED, "a-unseen": Fate.LOST, "a-lost": Fate.LOST}
    news = {job.name: job for job in site.changes("", lambda: names).jobs}
    assert (news["a-theirs"].state, news["a-theirs"].reason) == (
        JobState.CANCELLED,
        "purged by others before its end was seen",
    )
    assert "a-unseen" not in news
    assert other.audit(claims[1:2])[0].fate is Fate.ONCE, "by the accounting, which knows"


def test_a3_the_slurm_monitor_of_a_sites_element_tells_jobs_by_rest(element: RunningArc, tmp_path: Path) -> None:
    site = element.site(tmp_path)
    monitor = SlurmMonitor(target="ce")
    monitor.attach(lambda: site)
    assert "only `jobs` are known" in monitor.lacks()
    site.submit([JobSpec(f"a-long-{each}", 60 * SECOND, user=f"user{each % 2 + 1}") for each in range(1)])
    found = {(each.metric, each.labels): each.value for each in monitor.sample()}
    assert set(found) == {("jobs", "state=queued"), ("jobs", "state=running")}
    assert sum(found.values()) >= 1
    private = SlurmMonitor(target="ce")
    private.attach(element.target)
    assert private.lacks() == ""


def test_a3_without_identities_every_user_is_who_the_credentials_say(element: RunningArc, tmp_path: Path) -> None:
    known = element.site(tmp_path)
    alone = ArcTarget(known.url, known.credentials)
    assert (alone.one_user, alone.introduces, known.one_user) == (True, False, False)
    (taken,) = alone.submit([JobSpec("a-anybody", 60 * SECOND, user="user3")])
    until(lambda: taken.id in known.users.rest("").ids())  # A-REX lists a job some time after it has taken it
    until(lambda: sum(alone.counts().values()) == len(known.users.rest("").ids()))
    made = alone.delegate(HOUR, "user3")
    assert made.id in known.users.rest("").delegations()
