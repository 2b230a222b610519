"""The monitor `log`: what it records and counts, and what it says of lines that may be wrong."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pileup.builtin.logs.monitor import LogMonitor
from pileup.plugin import PluginError
from pileup.plugin.testing import MonitorRecord

PATTERN = r"^(?P<time>\S+ \S+) (?P<operation>\w+) (?P<key>\S+) took (?P<took>[0-9.]+)"


def line(seconds: float, text: str) -> str:
    return f"{datetime.fromtimestamp(time.time() + seconds, UTC):%Y-%m-%d %H:%M:%S.%f} {text}\n"


def counted(monitor: LogMonitor) -> dict[str, float]:
    return {sample.metric: sample.value for sample in monitor.sample()}


def test_it_records_what_is_added_and_counts_what_is_not(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(line(0, "GET /before took 1"))
    monitor = LogMonitor(file=str(path), pattern=PATTERN, zone="UTC", unit="ms")
    record = MonitorRecord(monitor)
    monitor.open()
    with path.open("a") as file:
        file.write(line(0, "GET /a took 1.5") + "rubbish\n" + line(0, "PUT /b took 1.2.3") + "2026-11-25")
    assert counted(monitor) == {"lines": 3, "operations": 1, "other": 1, "unreadable": 1, "unpaired": 0, "open": 0}
    assert [(each.name, each.key, each.end - each.start) for each in record.operations()] == [("GET", "/a", 1_500_000)]
    with path.open("a") as file:
        file.write(" rest\n")
    assert counted(monitor) == {"lines": 1, "operations": 0, "other": 1, "unreadable": 0, "unpaired": 0, "open": 0}
    monitor.close()
    assert record.told == []


@pytest.mark.parametrize(("hours", "said"), [(1, "ahead of"), (-2, "behind")])
def test_a_wrong_zone_is_said_once(tmp_path: Path, hours: int, said: str) -> None:
    path = tmp_path / "app.log"
    path.touch()
    monitor = LogMonitor(file=str(path), pattern=PATTERN, zone="UTC")
    record = MonitorRecord(monitor)
    monitor.open()
    for _ in range(2):
        with path.open("a") as file:
            file.write(line(3600 * hours, "GET /a took 0"))
        counted(monitor)
    monitor.close()
    assert len(record.told) == 1
    assert said in record.told[0]
    assert "is its clock right, and `zone`?" in record.told[0]


def test_a_truncation_is_said(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(line(0, "GET /before took 1"))
    monitor = LogMonitor(file=str(path), pattern=PATTERN, zone="UTC")
    record = MonitorRecord(monitor)
    monitor.open()
    path.write_text(line(0, "GET /a took 0"))
    assert counted(monitor)["operations"] == 1
    monitor.close()
    assert len(record.told) == 1
    assert "was truncated" in record.told[0]


def test_two_logs_do_not_mix_their_lines(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).touch()
    begins, ends = r"^(?P<time>\d+) begin (?P<join>\d)", r"^(?P<time>\d+) end (?P<join>\d)"
    monitor = LogMonitor(file=[str(tmp_path / "*.log")], begins=begins, ends=ends, time="s")
    record = MonitorRecord(monitor)
    monitor.open()
    now = int(time.time())
    (tmp_path / "a.log").write_text(f"{now} begin 1\n")
    (tmp_path / "b.log").write_text(f"{now + 1} begin 1\n")
    assert counted(monitor)["open"] == 2
    for name, end in (("a.log", 5), ("b.log", 2)):
        with (tmp_path / name).open("a") as file:
            file.write(f"{now + end} end 1\n")
    counted(monitor)
    monitor.close()
    assert sorted(each.end - each.start for each in record.operations()) == [10**9, 5 * 10**9]


def test_a_log_that_is_not_there_is_said_until_it_is(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    monitor = LogMonitor(file=str(path), pattern=PATTERN, zone="UTC")
    record = MonitorRecord(monitor)
    monitor.open()
    with pytest.raises(PluginError, match="there is no file"):
        counted(monitor)
    path.write_text(line(0, "GET /a took 0"))
    assert counted(monitor)["operations"] == 1
    monitor.close()
    assert len(record.operations()) == 1
