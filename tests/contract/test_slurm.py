"""A real Slurm: its limits, its restarts, what a kill forgets, who runs it, and that nothing of it is left."""

import os
import pwd
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pileup.model.errors import Ambiguous, Failed, Refused, TargetError
from pileup.plugin.batch import Claim, Fate, JobSpec, JobState, tally
from tests.contract.test_batch_systems import over
from tests.servers.slurm import QUICK, RunningSlurm, slurm

SECOND = 10**9
LONG = 3600 * SECOND


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RunningSlurm]:
    with slurm(tmp_path / "slurm", **{"slots": 4, **QUICK, **getattr(request, "param", {})}) as made:
        yield made


def until(found: Callable[[], bool], within: float = 60.0) -> None:
    """Ask until it is so."""
    end = time.monotonic() + within
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)


def names_of(count: int, stem: str = "job") -> list[str]:
    return [f"{stem}-{number}" for number in range(count)]


def claims_of(server: RunningSlurm, names: list[str]) -> list[Claim]:
    """Submit jobs that last; what a client believes afterwards."""
    taken = server.target().submit([JobSpec(name, LONG) for name in names])
    return [Claim(each.name, each.id) for each in taken]


@pytest.mark.parametrize("server", [{"max_jobs": 5}], indirect=True)
def test_at_the_limit_both_drivers_are_refused_at_once(server: RunningSlurm) -> None:
    taken = server.target().submit([JobSpec(name, LONG) for name in names_of(8)])
    assert [bool(each.id) for each in taken] == [True] * 4 + [False] * 4  # MaxJobCount 5: the last place stays free
    assert "Resource temporarily unavailable (error 11)" in taken[-1].refused
    begin = time.monotonic()
    with pytest.raises(Refused, match="error 11"):
        server.target().submit([JobSpec("more")])
    with pytest.raises(Refused, match="temporarily unable to accept job"):
        server.target(driver="sbatch").submit([JobSpec("more")])
    assert time.monotonic() - begin < 30, "sbatch itself would ask for two minutes"
    time_to_ask_again = 2.0
    time.sleep(time_to_ask_again)
    assert server.target().status(names=["more"]) == []


def test_what_is_wrong_is_a_failure_and_no_refusal(server: RunningSlurm) -> None:
    for driver in ("rest", "sbatch"):
        with pytest.raises(Failed, match=r"(?i)invalid partition"):
            server.target(driver=driver, partition="nosuch").submit([JobSpec("a")])
        with pytest.raises(Refused, match="expected a token of that user"):
            server.target(driver=driver, others=True).submit([JobSpec("a", user="nobody-else")])
    with pytest.raises(Refused, match="by itself"):
        server.target().purge(oldest=1)
    with pytest.raises(Refused, match="token"):
        server.target().delegate(SECOND)
    with pytest.raises(Refused):
        server.target().introduce("somebody")
    with pytest.raises(TargetError, match="cannot be reached"):
        type(server.target())("unix:/nowhere/rest.sock").probe()


@pytest.mark.long
def test_a_name_may_hold_anything(server: RunningSlurm) -> None:
    odd = ["it's|one", 'quo"te; $(id) --x', "ünï cödé, comma", "JobState=FAILED Partition=x"]
    for driver in ("rest", "sbatch"):
        names = [f"{name} {driver}" for name in odd]
        target = server.target(driver=driver)
        target.submit([JobSpec(name) for name in names])
        assert {job.state for job in over(target, names).values()} == {JobState.COMPLETED}
        assert {job.name for job in target.status(names=names)} == set(names)
        assert {job.name for job in target.history(names)} == set(names)


def test_a_restart_in_order_loses_no_job(server: RunningSlurm) -> None:
    claims = claims_of(server, names_of(20))
    until(lambda: server.target().counts().get(JobState.RUNNING) == 4)
    server.kill("slurmctld", signal.SIGTERM)
    server.restart("slurmctld")
    assert tally(server.target().audit(claims)) == {Fate.GOING: 20}
    assert server.target().counts() == {JobState.RUNNING: 4, JobState.QUEUED: 16}


@pytest.mark.long
def test_a_kill_forgets_the_newest_jobs_and_the_audit_finds_them(server: RunningSlurm) -> None:
    old = claims_of(server, names_of(4, "old"))
    until(lambda: server.target().counts().get(JobState.RUNNING) == 4)
    server.kill("slurmctld", signal.SIGTERM)  # which saves what it knows
    server.restart("slurmctld")
    new = claims_of(server, names_of(30, "new"))
    server.kill("slurmctld")
    server.restart("slurmctld")
    kept = Counter(finding.fate for finding in server.target().audit(old + new))
    assert sum(kept.values()) == 34
    assert kept[Fate.LOST] > 0
    assert kept[Fate.GOING] >= 4
    later = claims_of(server, names_of(30, "later"))
    assert {claim.id for claim in later} & {claim.id for claim in new}, "its ids are used again"
    again = Counter(finding.fate for finding in server.target().audit(old + new + later))
    assert again[Fate.REUSED] == kept[Fate.LOST]
    assert again[Fate.GOING] == kept[Fate.GOING] + 30
    assert set(again) == {Fate.REUSED, Fate.GOING}


@pytest.mark.long
@pytest.mark.parametrize("server", [{"accounting": True}], indirect=True)
def test_the_data_base_tells_no_lost_job_from_another_by_its_id(server: RunningSlurm) -> None:
    target = server.target()
    taken = target.submit([JobSpec("before")])
    over(target, ["before"])
    server.kill("slurmctld", signal.SIGTERM)
    server.restart("slurmctld")
    lost = claims_of(server, names_of(10, "lost"))
    server.kill("slurmctld")
    server.restart("slurmctld")
    short = target.submit([JobSpec(name) for name in names_of(10, "short")])
    over(target, names_of(10, "short"))
    claims = [Claim(each.name, each.id) for each in (*taken, *short)]
    assert tally(target.audit(claims)) == {Fate.ONCE: 11}
    site = type(target)("", driver="sbatch", config=target.place.conf, user=target._me)  # which has but sacct
    names = ["before", *names_of(10, "short")]
    told, known = ({job.name: job for job in each.history([*names, "lost-0"])} for each in (site, target))
    assert told == known
    assert set(told) == set(names)
    late = f"{2**40}/0/{2**40}/{2**40}/1"  # as if the last look had been behind all rows, and the last by name long ago
    news = target.changes(late, lambda: ["before", "short-3", "lost-0"])
    assert {job.name for job in news.jobs} == {"before", "short-3"}
    fates = tally(target.audit(lost))
    assert set(fates) <= {Fate.REUSED, Fate.LOST, Fate.GOING}
    assert fates.get(Fate.REUSED, 0) > 0
    assert fates.get(Fate.REUSED, 0) <= len({claim.id for claim in lost} & {each.id for each in short})


def test_nobody_is_told_an_answer_while_the_controller_is_away(server: RunningSlurm) -> None:
    assert server.target().submit([JobSpec("a")])
    server.kill("slurmctld")
    with pytest.raises(Ambiguous, match="did not end within 1 s"):
        server.target(driver="sbatch", patience="1 s").submit([JobSpec("b")])
    with pytest.raises(Ambiguous, match="no answer to POST within 1 s"):
        server.target(patience="1 s").submit([JobSpec("c")])
    with pytest.raises(Failed):
        server.target(patience="1 s").counts()
    server.restart("slurmctld")
    assert tally(server.target().audit([Claim("b"), Claim("c")])).keys() <= {Fate.NEVER, Fate.GOING, Fate.ONCE}
    server.kill("slurmrestd")
    with pytest.raises(Failed, match="no connection"):
        server.target().submit([JobSpec("d")])


@pytest.mark.parametrize("server", [{"slots": 5, "nodes": 2}], indirect=True)
def test_a_node_that_dies_leaves_its_jobs_until_it_is_back(server: RunningSlurm) -> None:
    assert server.command("sinfo", "-h", "-N", "-o", "%N %c").splitlines() == ["n1 3", "n2 2"]
    claims = claims_of(server, names_of(5))
    until(lambda: server.target().counts() == {JobState.RUNNING: 5})
    server.kill("slurmd-n2")
    server.restart("slurmd-n2")
    assert tally(server.target().audit(claims)) == {Fate.GOING: 5}
    assert server.target().counts() == {JobState.RUNNING: 5}


def test_other_settings_come_with_a_restart_and_jobs_stay(server: RunningSlurm) -> None:
    claims = claims_of(server, names_of(6))
    until(lambda: server.target().counts().get(JobState.RUNNING) == 4)
    url = server.supervisor.url("target")
    server.restart(slots=4, max_jobs=77, **QUICK)
    assert server.supervisor.url("target") == url
    assert "MaxJobCount             = 77" in server.command("scontrol", "show", "config")
    assert server.target().counts() == {JobState.RUNNING: 4, JobState.QUEUED: 2}
    assert tally(server.target().audit(claims)) == {Fate.GOING: 6}


@pytest.mark.long
@pytest.mark.parametrize("server", [{"tokens": True}], indirect=True)
def test_tokens_let_in_until_they_expire(server: RunningSlurm) -> None:
    for driver in ("rest", "sbatch"):
        target = server.target(driver=driver)
        short = target.delegate(SECOND)
        until(lambda: time.time_ns() > short.expires + SECOND)  # noqa: B023
        with pytest.raises(Refused, match="has expired"):
            target.submit([JobSpec("late", delegation=short.id)])
        renewed = target.renew(short, 60 * SECOND)
        assert target.submit([JobSpec("now", delegation=renewed.id)])
        assert target.one_user
        other = target.delegate(60 * SECOND, "daemon")  # whose place the one user takes
        target.submit([JobSpec(f"other-{driver}", user="daemon", delegation=other.id)])
        assert [job.user for job in target.status(names=[f"other-{driver}"])] == [target._me]
        with pytest.raises(Failed, match="not known to this process"):
            target.submit([JobSpec("unknown", delegation="nosuch")])


PEOPLE = ["daemon", "bin", "games", "man", "mail"]


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start jobs of several users")
@pytest.mark.parametrize("server", [{"slots": 10, "tokens": True, "accounts": PEOPLE}], indirect=True)
def test_jobs_of_five_users_run_as_them_by_tokens_of_their_own(server: RunningSlurm) -> None:
    for driver in ("rest", "sbatch"):
        target = server.target(driver=driver)
        assert not target.one_user
        tokens = {user: target.delegate(60 * SECOND, user) for user in PEOPLE}
        assert len({target._secrets[each.id] for each in tokens.values()}) == len(PEOPLE)
        for user, token in tokens.items():
            assert target.submit([JobSpec(f"{user}-{driver}", LONG, user=user, delegation=token.id)])[0].id
        with pytest.raises(Refused, match="no job for user 'bin' with credentials of daemon"):
            target.submit([JobSpec("stolen", user="bin", delegation=tokens["daemon"].id)])
        renewed = target.renew(tokens["daemon"], 90 * SECOND)
        assert (renewed.id, renewed.user) == (tokens["daemon"].id, "daemon")
        names = {f"{user}-{driver}": user for user in PEOPLE}
        until(lambda: target.counts().get(JobState.RUNNING, 0) >= 5)  # noqa: B023
        assert {job.name: job.user for job in target.status(names=list(names))} == names
        until(lambda: set(sleepers(server)) == set(PEOPLE))
        target.cancel([job.id for job in target.status(names=list(names))])
        assert {job.user for job in over(target, list(names)).values()} == set(PEOPLE)


def sleepers(server: RunningSlurm) -> list[str]:
    """Whom the processes of jobs belong to."""
    found = []
    for process in server.processes():
        with suppress(psutil.Error):
            if process.name() == "sleep":
                found.append(process.username())
    return found


@pytest.mark.long
@pytest.mark.parametrize("server", [{"tokens": True}], indirect=True)
def test_a_site_is_reached_by_its_port_and_a_token(server: RunningSlurm, tmp_path: Path) -> None:
    made = server.target()
    delegation = made.delegate(600 * SECOND)
    gate = made.place.gate
    assert gate is not None
    token = tmp_path / "token"
    token.write_text(made._secrets[delegation.id])
    credentials = type(made.credentials)(token_file=str(token))
    conf = {"config": made.place.conf}
    site = type(made)(f"http://{gate}", credentials, **conf, user=made._me)
    told = server.command("sinfo", "-V")  # "slurm-wlm 22.05.8"
    assert site.probe() == f"slurm {told.split()[1]}, REST v0.0.38"
    taken = site.submit([JobSpec("site")])
    assert over(site, ["site"])["site"].state is JobState.COMPLETED
    assert site.cancel([taken[0].id, "999999"]) == [taken[0].id, "999999"]
    token.write_text("bad.token.here")
    with pytest.raises((Refused, Ambiguous)):
        type(made)(f"http://{gate}", credentials, **conf, user=made._me).submit([JobSpec("never")])
    local = type(made)("", **conf, driver="sbatch", user=made._me)
    assert local.probe() == told
    assert local.submit([JobSpec("local")])
    assert over(local, ["local"])["local"].state is JobState.COMPLETED, "told by squeue, without any accounting"


def test_many_threads_submit_over_connections_of_their_own(server: RunningSlurm) -> None:
    target = server.target()
    ids: list[str] = []

    def some(thread: int) -> None:
        for number in range(20):
            ids.extend(each.id for each in target.submit([JobSpec(f"t{thread}-{number}", LONG)]))

    threads = [threading.Thread(target=some, args=(number,)) for number in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(set(ids)) == 100
    assert sum(target.counts().values()) == 100


@pytest.mark.long
def test_an_ordinary_user_runs_it_and_nothing_is_left(tmp_path: Path) -> None:
    with slurm(tmp_path / "slurm", slots=3, **QUICK) as server:
        target, home = server.target(), str(server.home)
        stubborn = ("sh", "-c", "trap '' TERM; while :; do sleep 1; done")
        target.submit([JobSpec(name, work="command", command=stubborn) for name in names_of(5)])
        until(lambda: target.counts().get(JobState.RUNNING) == 3)
        found = server.processes()
        owner = pwd.getpwnam("slurm").pw_uid if os.geteuid() == 0 else os.geteuid()
        users, listening = set(), set()
        for each in found:
            with suppress(psutil.NoSuchProcess):  # what the jobs start comes and goes
                users |= set(each.uids())
                open_ports = each.net_connections("tcp")
                listening |= {port.laddr.ip for port in open_ports if port.status == psutil.CONN_LISTEN}
        assert (users, listening) == ({owner}, {"127.0.0.1"})
        assert len(jobs_of(found)) == 3
    assert not Path(home).exists()
    assert not alive(found)


def jobs_of(found: list[psutil.Process]) -> list[psutil.Process]:
    """Return the shells of stubborn jobs."""
    return [each for each in alive(found) if any(word.startswith("trap") for word in words_of(each))]


def words_of(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def alive(found: list[psutil.Process]) -> list[psutil.Process]:
    left = []
    for each in found:
        with suppress(psutil.NoSuchProcess):
            if each.is_running() and each.status() != psutil.STATUS_ZOMBIE:
                left.append(each)
    return left


def sleeping(found: list[psutil.Process]) -> int:
    """Return how many of these are the command of a job."""
    count = 0
    for each in alive(found):
        with suppress(psutil.NoSuchProcess):
            count += each.name() == "sleep"
    return count


def test_what_daemons_left_behind_goes_too(tmp_path: Path) -> None:
    with slurm(tmp_path / "slurm", slots=2, **QUICK) as server:
        server.target().submit([JobSpec(name, LONG) for name in names_of(2)])
        until(lambda: sleeping(server.processes()) == 2)  # Slurm takes a job for running before it has a process
        found = server.processes()
        server.kill("slurmd")
        server.kill("slurmctld")
        assert sleeping(found) == 2, "jobs go on without their daemons"
    assert not alive(found)
