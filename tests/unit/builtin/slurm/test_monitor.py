"""The `slurm` monitor: what it makes of counters. tests/contract/test_batch_monitors.py asks a real one."""

from dataclasses import replace

import pytest

from pileup.builtin.noop.target import NoopTarget
from pileup.builtin.slurm.monitor import SlurmMonitor
from pileup.builtin.slurm.statistics import Requests, Statistics
from pileup.builtin.slurm.target import SlurmTarget
from pileup.plugin import PluginError
from pileup.plugin.batch import JobState

FIRST = Statistics(
    {"jobs_submitted": 100, "jobs_completed": 90, "schedule_cycle_total": 50, "schedule_cycle_last": 1500},
    {"REQUEST_PING": Requests(10, 1000)},
)


class Told(SlurmTarget):
    """A Slurm that says what the test says."""

    statistics_now = FIRST

    def statistics(self) -> Statistics:
        return self.statistics_now

    def queue_length(self) -> dict[JobState, int]:
        return {JobState.QUEUED: 7}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moments = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: moments[0])
    return moments


def watching(target: SlurmTarget, **options: bool) -> SlurmMonitor:
    monitor = SlurmMonitor(target="ce", **options)
    monitor.attach(lambda: target)
    return monitor


def values(monitor: SlurmMonitor) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in monitor.sample()}


def test_counters_become_sums_and_rates(clock: list[float]) -> None:
    target = Told()
    monitor = watching(target)
    first = values(monitor)
    assert first["cycle[of=last]"] == pytest.approx(0.0015)
    assert (first["jobs[state=queued]"], first["jobs[state=running]"]) == (7, 0)
    assert "total[of=submitted]" not in first
    clock[0] += 2
    target.statistics_now = replace(FIRST, figures=FIRST.figures | {"jobs_submitted": 110, "schedule_cycle_total": 54})
    found = values(monitor)
    assert (
        found["total[of=submitted]"],
        found["rate[of=submitted]"],
        found["rate[of=completed]"],
        found["cycle_rate[of=schedule]"],
    ) == (10, 5, 0, 2)


def test_counters_that_begin_anew_go_on(clock: list[float]) -> None:
    target = Told()
    monitor = watching(target, each=True)
    values(monitor)
    clock[0] += 2
    target.statistics_now = Statistics({"jobs_submitted": 3}, {"REQUEST_PING": Requests(4, 200)})
    found = values(monitor)
    assert (found["total[of=submitted]"], found["rate[of=submitted]"]) == (3, 1.5)
    assert (found["requests_rate"], found["requests_time"]) == (2, pytest.approx(50e-6))
    assert found["request_rate[type=REQUEST_PING]"] == 2


def test_squeue_is_not_asked_at_every_sample(clock: list[float]) -> None:
    monitor = watching(Told())
    assert "jobs[state=queued]" in values(monitor)
    clock[0] += 5
    assert "jobs[state=queued]" not in values(monitor)
    clock[0] += 5
    assert "jobs[state=queued]" in values(monitor)


def test_a_data_base_is_asked_at_every_sample(clock: list[float]) -> None:
    monitor = watching(Told(database="mariadb://reader@127.0.0.1/slurm_acct"))
    assert "jobs[state=queued]" in values(monitor)
    clock[0] += 1
    assert "jobs[state=queued]" in values(monitor)


def test_another_target_is_refused() -> None:
    monitor = SlurmMonitor(target="se")
    monitor.attach(NoopTarget)
    with pytest.raises(PluginError, match="the target is not a Slurm; expected one of kind slurm"):
        list(monitor.sample())


@pytest.mark.parametrize("options", [{}, {"target": "ce", "config": "/etc/slurm/slurm.conf"}])
def test_one_slurm_is_watched(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one Slurm is watched; expected `target` or `config`"):
        SlurmMonitor(**options)
