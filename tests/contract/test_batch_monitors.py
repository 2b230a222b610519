"""The monitors `slurm`, `arc` and `sql` against private systems: a Slurm with its database, an ARC CE."""

import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pileup.builtin.arc.monitor import ArcMonitor
from pileup.builtin.database.query_monitor import SqlMonitor
from pileup.builtin.monitors.process import Process
from pileup.builtin.slurm.monitor import SlurmMonitor
from pileup.builtin.slurm.target import SlurmTarget
from pileup.model.record import Sample
from pileup.plugin import Monitor
from pileup.plugin.batch import JobSpec
from tests.servers.arc import QUICK as ARC_QUICK
from tests.servers.arc import arc
from tests.servers.launched import NAME
from tests.servers.slurm import QUICK, RunningSlurm, slurm

SLOTS, JOBS = 4, 10


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSlurm]:
    with slurm(tmp_path_factory.mktemp("slurm"), slots=SLOTS, accounting=True, **QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def busy(server: RunningSlurm) -> SlurmTarget:
    """Return a target with more jobs than slots, which last for longer than the tests."""
    target = server.target()
    for number in range(JOBS):
        target.submit([JobSpec(f"watched-{number}", duration=600 * 10**9)])
    return target


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come, not for a time."""
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def values(samples: list[Sample]) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in samples}


def watching(monitor: Monitor, target: SlurmTarget, server: RunningSlurm, name: str = NAME) -> Monitor:
    monitor.attach(lambda: target, lambda: server.supervisor.running(name))
    monitor.open()
    return monitor


def test_jobs_and_statistics_by_rest_and_data_base(busy: SlurmTarget, server: RunningSlurm) -> None:
    monitor = watching(SlurmMonitor(target="ce", each=True), busy, server)
    found: dict[str, float] = {}

    def filled() -> bool:
        found.update(values(list(monitor.sample())))
        return (found["jobs[state=running]"], found["jobs[state=queued]"]) == (SLOTS, JOBS - SLOTS)

    until(filled)
    before = found["total[of=submitted]"]
    busy.submit([JobSpec("one-more", duration=600 * 10**9)])
    until(lambda: values(list(monitor.sample()))["total[of=submitted]"] == before + 1)
    assert "request_rate[type=REQUEST_SUBMIT_BATCH_JOB]" in found
    assert {"threads[of=server]", "waiting[for=node]", "cycle[of=last]", "requests_rate"} <= set(found)


def test_a_sample_is_cheap(busy: SlurmTarget, server: RunningSlurm) -> None:
    """Every 5 s, 1 % of a core would be 50 ms; measured: 0.8 ms, and no command is started."""
    monitor = watching(SlurmMonitor(target="ce"), busy, server)
    list(monitor.sample())
    before, children = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for _ in range(10):
        list(monitor.sample())
    assert (time.process_time() - before) / 10 < 0.025
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime == children


def test_commands_of_another_slurm_tell_the_same(busy: SlurmTarget, server: RunningSlurm) -> None:
    by_commands = SlurmTarget(driver="sbatch", config=busy.place.conf, user=busy.place.user)
    told, other = busy.statistics(), by_commands.statistics()
    assert set(other.figures) <= set(told.figures)
    assert other.figures["jobs_submitted"] == told.figures["jobs_submitted"] >= JOBS
    assert set(told.requests) <= set(other.requests)
    counts = by_commands.queue_length()
    assert sum(counts.values()) >= JOBS


def test_the_data_base_by_sql(busy: SlurmTarget, server: RunningSlurm) -> None:
    query = "SELECT state, count(*) AS jobs FROM pileup_job_table WHERE time_end = 0 GROUP BY state"
    monitor = watching(SqlMonitor(target="ce", query=query, labels=["state"]), busy, server)
    until(lambda: values(list(monitor.sample())).get("jobs[state=1]") == SLOTS)
    assert values(list(monitor.sample()))["jobs[state=0]"] >= JOBS - SLOTS


def test_its_daemons_one_by_one(busy: SlurmTarget, server: RunningSlurm) -> None:
    names = list(server.supervisor.running(NAME))
    assert {"munged", "mariadbd", "slurmdbd", "slurmctld", "slurmrestd"} <= set(names)
    everything = values(list(watching(Process(target="ce"), busy, server).sample()))
    assert everything["number"] >= len(names)
    for name in names:
        found = values(list(watching(Process(target=f"ce.{name}"), busy, server, f"{NAME}.{name}").sample()))
        assert found["number"] >= 1
        assert found["rss[of=all]"] > 1 << 20
        assert found["open_files[of=all]"] >= found["open_files[of=largest]"] >= 3


@pytest.mark.long
def test_a_computing_element_and_the_batch_system_behind_it(tmp_path: Path) -> None:
    """A-REX hands jobs on by scripts of half a second each, in no order: the short one goes before the long ones."""
    query = "SELECT EventKey AS state, count(*) AS events FROM JobEvents GROUP BY EventKey"
    with arc(tmp_path, slots=2, **ARC_QUICK) as running:
        target = running.target()
        monitors = [ArcMonitor(target="ce"), SlurmMonitor(target="ce"), SqlMonitor(target="ce", query=query)]
        for each in monitors:
            each.attach(lambda: target)
        first, behind, events = monitors
        list(first.sample())
        target.submit([JobSpec("short", duration=1)])
        until(lambda: values(list(first.sample()))["total[of=finished]"] == 1)
        for number in range(2):
            target.submit([JobSpec(f"long-{number}", duration=600 * 10**9)])
        until(lambda: values(list(first.sample()))["jobs[state=inlrms]"] == 2)
        found = values(list(first.sample()))
        assert (found["total[of=accepted]"], found["total[of=failed]"], found["jobs[state=submit]"]) == (3, 0, 0)
        until(lambda: values(list(behind.sample())).get("jobs[state=running]") == 2)
        assert values(list(events.sample()))["events[state=FINISHED]"] == 1
