"""What every real batch system promises behind the target of its kind: one that is launched here, of each kind."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from pileup.plugin import NotThere, Refused
from pileup.plugin.batch import FILES_LIMIT, BatchTarget, Claim, Fate, Job, JobSpec, JobState, Submission
from tests.servers.arc import QUICK as ARC_QUICK
from tests.servers.arc import arc
from tests.servers.slurm import QUICK, slurm

SECOND = 10**9
WITHIN = {"slurm": 40.0, "arc": 120.0}
"""Seconds that a system has to do what it is bound to do; an ARC CE looks every 10 s at what has ended."""
LATE = frozenset({"arc"})
"""Kinds that say when a job has begun once it has ended, not before."""
ROUND = SECOND
"""What times may be off: Slurm reports whole seconds."""
numbers = count()


@contextmanager
def slurm_by_rest(folder: Path) -> Iterator[BatchTarget]:
    with slurm(folder, slots=8, tokens=True, **QUICK) as server:
        yield server.target()


@contextmanager
def slurm_by_sbatch(folder: Path) -> Iterator[BatchTarget]:
    with slurm(folder, slots=8, tokens=True, nodes=2, **QUICK) as server:
        yield server.target(driver="sbatch")


@contextmanager
def slurm_with_accounting(folder: Path) -> Iterator[BatchTarget]:
    with slurm(folder, slots=8, tokens=True, accounting=True, **QUICK) as server:
        yield server.target()


@contextmanager
def arc_over_slurm(folder: Path) -> Iterator[BatchTarget]:
    with arc(folder, slots=8, **ARC_QUICK) as server:
        yield server.target()


SYSTEMS = {
    "slurm-rest": slurm_by_rest,
    "slurm-sbatch": slurm_by_sbatch,
    "slurm-accounting": slurm_with_accounting,
    "arc": arc_over_slurm,
}


@pytest.fixture(scope="module", params=SYSTEMS)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BatchTarget]:
    with SYSTEMS[request.param](tmp_path_factory.mktemp("system")) as made:
        yield made


@pytest.fixture
def stem() -> str:
    """How the names of the jobs of one test begin."""
    return f"test-{next(numbers)}"


def until(found: Callable[[], bool], within: float) -> None:
    end = time.monotonic() + within
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)


def over(target: BatchTarget, names: list[str], most: int = 5000) -> dict[str, Job]:
    """Follow the changes until all of these have ended; return what was told of each last."""
    told: dict[str, Job] = {}
    cursor, end = "", time.monotonic() + WITHIN[target.kind]
    while not all(name in told and told[name].state.final for name in names):
        assert time.monotonic() < end, told
        news = target.changes(cursor, lambda: names, most)
        assert len(news.jobs) <= most
        cursor = news.cursor
        told |= {job.name: job for job in news.jobs if job.name in names}
        if not news.more:
            time.sleep(0.2)
    return told


@contextmanager
def submitted(target: BatchTarget, jobs: list[JobSpec]) -> Iterator[list[Submission]]:
    """Submit jobs, and cancel at the end what goes on: what a failed test leaves would take the slots of the others."""
    taken = target.submit(jobs)
    try:
        yield taken
    finally:
        target.cancel([each.id for each in taken])


@pytest.mark.long
def test_jobs_run_and_all_sources_tell_the_same(target: BatchTarget, stem: str) -> None:
    begin = time.time_ns()
    wanted = [
        JobSpec(f"{stem}-short"),
        JobSpec(f"{stem}-sleep", duration=SECOND),
        JobSpec(f"{stem}-cpu", duration=SECOND // 10, work="cpu"),
        JobSpec(f"{stem}-fail", work="command", command=("sh", "-c", "exit 3")),
    ]
    taken = target.submit(wanted)
    assert [(each.name, each.refused) for each in taken] == [(job.name, "") for job in wanted]
    assert len({each.id for each in taken}) == len(wanted)
    names = [job.name for job in wanted]
    told = over(target, names)
    assert [told[name].state for name in names] == [JobState.COMPLETED] * 3 + [JobState.FAILED]
    for each in taken:
        job = told[each.name]
        assert job.id == each.id
        assert begin - ROUND <= job.submitted <= job.started <= job.ended <= time.time_ns() + ROUND
    assert told[f"{stem}-sleep"].ended - told[f"{stem}-sleep"].started >= 0
    assert "3" in target.reason(f"{stem}-fail")
    assert told[f"{stem}-fail"].verdict[1] == target.reason(f"{stem}-fail")
    known = {job.name: job for job in target.history([*names, "nobody"])}
    assert {name: (job.id, job.state, job.ended) for name, job in known.items()} == {
        name: (job.id, job.state, job.ended) for name, job in told.items()
    }


@pytest.mark.long
def test_a_job_has_its_variables_and_its_files(target: BatchTarget, stem: str) -> None:
    """The jobs may be another user's than the tests."""
    value, content = 'it\'s $HOME & "here"', bytes(range(256)) * 64 + bytes(FILES_LIMIT - 256 * 64)
    with tempfile.TemporaryDirectory(dir="/tmp") as there:
        Path(there).chmod(0o777)
        script = f'printf %s "$SITE" >{there}/value; cp a.bin {there}/copy; ls >{there}/names; pwd >{there}/folder'
        command = ("sh", "-c", script)
        files = {"a.bin": content, "b": b""}
        wanted = [
            JobSpec(f"{stem}-c", command=command, work="command", environment={"SITE": value}, files=files),
            JobSpec(
                f"{stem}-f", command=("sh", "b"), work="command", files={"b": b"exit $SITE"}, environment={"SITE": "3"}
            ),
        ]
        assert [each.refused for each in target.submit(wanted)] == ["", ""]
        told = over(target, [job.name for job in wanted])
        assert [told[job.name].state for job in wanted] == [JobState.COMPLETED, JobState.FAILED]
        assert "3" in target.reason(f"{stem}-f")
        assert Path(there, "value").read_text() == value
        assert Path(there, "copy").read_bytes() == content
        assert Path(there, "names").read_text().split() == ["a.bin", "b"]
        assert not Path(Path(there, "folder").read_text().strip()).exists(), "it is removed with the job"


@pytest.mark.long
def test_files_that_a_job_has_made_are_handed_out_or_refused(target: BatchTarget, stem: str) -> None:
    if not target.keeps_files:
        with pytest.raises(Refused, match="hands no files out"):
            target.fetch(Job(stem, "1", JobState.COMPLETED), "b")
        return
    content = bytes(range(256)) * 16
    wanted = [
        JobSpec(f"{stem}-in", command=("cp", "a", "b"), work="command", files={"a": content}, outputs=("b",)),
        JobSpec(f"{stem}-made", command=("sh", "-c", "printf hello >c.txt"), work="command", outputs=("c.txt",)),
        JobSpec(f"{stem}-not", command=("true",), work="command", outputs=("c.txt",)),
    ]
    assert [each.refused for each in target.submit(wanted)] == [""] * 3
    told = over(target, [job.name for job in wanted])
    assert [told[job.name].state for job in wanted] == [JobState.COMPLETED] * 2 + [JobState.FAILED]
    copy, made, _ = (told[job.name] for job in wanted)
    assert target.fetch(copy, "b") == content
    assert target.fetch(made, "c.txt") == b"hello"
    with pytest.raises(NotThere):
        target.fetch(made, "d.txt")


@pytest.mark.long
def test_what_waits_and_runs_is_cancelled_and_told_so(target: BatchTarget, stem: str) -> None:
    names = [f"{stem}-{number}" for number in range(12)]

    def counted() -> tuple[int, int]:
        found = target.counts()
        return found.get(JobState.RUNNING, 0), found.get(JobState.QUEUED, 0)

    with submitted(target, [JobSpec(name, duration=3600 * SECOND) for name in names]) as taken:
        ids = [each.id for each in taken]
        until(lambda: counted() == (8, 4), WITHIN[target.kind])
        until(
            lambda: sum(job.state is JobState.RUNNING for job in target.status(names=names)) == 8, WITHIN[target.kind]
        )
        found = target.status(ids=ids)
        assert {job.name for job in found} == set(names)
        assert not any(job.ended for job in found)
        assert all(bool(job.started) == (job.state is JobState.RUNNING) for job in found) or target.kind in LATE
        waiting_first = [job.id for job in sorted(found, key=lambda job: job.state is JobState.RUNNING)]
        assert target.cancel([*waiting_first, "999999"]) == ["999999"], (
            "one by one: a slot set free would begin another"
        )
        told = over(target, names)
        assert {job.state for job in told.values()} == {JobState.CANCELLED}
        begun = sum(bool(job.started) for job in told.values())
        assert begun == 8 or (begun > 8 and target.kind in LATE), (
            "an ARC CE cancels when it comes to it: what waits may begin meanwhile"
        )
        until(lambda: target.cancel(ids[:2]) == ids[:2], WITHIN[target.kind])


@pytest.mark.long
def test_changes_come_in_pages_of_any_size(target: BatchTarget, stem: str) -> None:
    names = [f"{stem}-{number}" for number in range(10)]
    target.submit([JobSpec(name) for name in names])
    told = over(target, names, most=3)
    assert {job.state for job in told.values()} == {JobState.COMPLETED}


@pytest.mark.long
def test_the_audit_tells_what_became_of_each(target: BatchTarget, stem: str) -> None:
    once, twice, going = f"{stem}-once", f"{stem}-twice", f"{stem}-going"
    jobs = [JobSpec(once), JobSpec(twice), JobSpec(twice), JobSpec(going, duration=3600 * SECOND)]
    with submitted(target, jobs) as taken:
        over(target, [once, twice])
        claims = [
            Claim(once, taken[0].id),
            Claim(twice, taken[1].id),
            Claim(going),
            Claim(f"{stem}-lost", "999999"),
            Claim(f"{stem}-never"),
            Claim(f"{stem}-reused", taken[3].id),
        ]
        until(lambda: len(target.history([twice])) == 2, WITHIN[target.kind])
        fates = [finding.fate for finding in target.audit(claims)]
        assert fates == [Fate.ONCE, Fate.TWICE, Fate.GOING, Fate.LOST, Fate.NEVER, Fate.REUSED]


def test_nobody_is_asked_for_nothing(target: BatchTarget) -> None:
    assert target.status() == []
    assert target.history([]) == []
    assert target.audit([]) == []
    assert target.reason("nobody") == ""
    assert target.probe()


@pytest.mark.long
def test_jobs_go_with_credentials_that_were_handed_over(target: BatchTarget, stem: str) -> None:
    before = time.time_ns()
    first = target.delegate(60 * SECOND)
    assert before + 50 * SECOND <= first.expires <= time.time_ns() + 61 * SECOND
    renewed = target.renew(first, 600 * SECOND)
    assert (renewed.id, renewed.user) == (first.id, first.user)
    assert renewed.expires > first.expires + 500 * SECOND
    target.submit([JobSpec(stem, delegation=first.id)])
    assert over(target, [stem])[stem].state is JobState.COMPLETED
