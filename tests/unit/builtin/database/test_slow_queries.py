"""The `slow-queries` monitor on a file; tests/contract/test_slow_queries.py reads one of a real server."""

from pathlib import Path

import pytest

from pileup.builtin.database.slow_queries import SlowQueries
from pileup.builtin.noop.target import NoopTarget
from pileup.model.record import Sample
from pileup.plugin import PluginError
from pileup.plugin.testing import MonitorRecord
from tests.unit.builtin.database.test_slow_log import FIRST, SECOND


def values(samples: list[Sample]) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in samples}


def test_queries_become_samples_and_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 1795282500 * 10**9)
    path = tmp_path / "slow.log"
    path.write_text(FIRST)
    monitor = SlowQueries(file=str(path))
    record = MonitorRecord(monitor)
    monitor.open()
    none = values(list(monitor.sample()))
    assert (none["number"], none["query_time[of=largest]"]) == (0, 0)
    assert "query_time[of=mean]" not in none
    assert record.operations() == []
    with path.open("a") as file:
        file.write((FIRST + SECOND).replace("17952824", "17952825"))
    found = values(list(monitor.sample()))
    assert (found["number"], found["query_time[of=largest]"], found["lock_time[of=all]"]) == (2, 12.5, 2.000075)
    assert (found["rows_examined[of=all]"], found["rows_examined[of=mean]"]) == (50_292, 25_146)
    first, second = record.operations()
    assert (first.name, first.key, first.calls, first.bytes) == (
        "select sleep(?) , count(*) from jobs where name = ?",
        "root@pileup",
        292,
        104,
    )
    assert (second.end - second.start, second.first_byte - second.start) == (12_500_000_000, 2_000_000_000)
    assert second.key == "slurm"
    assert record.operations() == []
    monitor.close()


def test_a_target_without_a_database_is_refused() -> None:
    monitor = SlowQueries(target="se")
    monitor.attach(NoopTarget)
    with pytest.raises(PluginError, match="the target of kind noop knows no database; expected one with a database"):
        monitor.open()


@pytest.mark.parametrize("options", [{}, {"target": "db", "file": "/var/log/slow.log"}])
def test_one_log_is_read(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one log is read; expected `target` or `file`"):
        SlowQueries(**options)
