"""The monitors' clock: samples at their interval, problems told once, slow monitors told."""

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from pileup.model.record import Sample
from pileup.plugin import Monitor, PluginError
from pileup.record import RunFolder
from pileup.run.monitors import MonitorClock, Watch

MS = 10**6


class Counting(Monitor):
    """Counts its samples and tells when it has made enough."""

    def __init__(self, enough: int, broken: bool = False) -> None:
        super().__init__()
        self.left = enough
        self.broken = broken
        self.done = threading.Event()

    def sample(self) -> Iterator[Sample]:
        self.left -= 1
        if self.left <= 0:
            self.done.set()
        if self.broken:
            raise OSError("sensor gone")
        yield Sample("left", float(self.left), "things", "side=left")


class Missing(Monitor):
    """Cannot measure here."""

    def open(self) -> None:
        raise PluginError("no such sensor")

    def sample(self) -> Iterator[Sample]:
        raise AssertionError("never reached")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder.create(tmp_path, "t", 0)
    yield folder
    folder.close()


def test_samples_are_recorded_with_name_unit_and_labels(folder: RunFolder) -> None:
    monitor = Counting(5)
    clock = MonitorClock([Watch("mine", monitor, 10 * MS)], folder)
    clock.start()
    assert monitor.done.wait(10)
    clock.add("copy", 7, Sample("speed", 3.0, "MB/s"))
    clock.stop()
    rows = list(folder.samples())
    mine = [row for row in rows if row.monitor == "mine"]
    assert [row.sample.value for row in mine][:5] == [4, 3, 2, 1, 0]
    assert (mine[0].sample.metric, mine[0].sample.unit, mine[0].sample.labels) == ("left", "things", "side=left")
    assert [(row.time, row.sample.metric) for row in rows if row.monitor == "copy"] == [(7, "speed")]
    apart = [later.time - first.time for first, later in pairwise(mine)]
    assert min(apart) > 1 * MS, "on a grid, never in a burst"


def test_a_problem_is_told_once_and_sampling_goes_on(folder: RunFolder) -> None:
    monitor = Counting(4, broken=True)
    clock = MonitorClock([Watch("broken", monitor, 10 * MS)], folder)
    clock.start()
    assert monitor.done.wait(10)
    clock.stop()
    told = [event["text"] for event in folder.events() if event["kind"] == "monitor"]
    assert told.count("monitor broken: OSError: sensor gone") == 1


def test_a_monitor_that_cannot_measure_here_is_told(folder: RunFolder) -> None:
    clock = MonitorClock([Watch("absent", Missing(), 10 * MS)], folder)
    clock.start()
    for _ in range(100):
        if any(True for _ in folder.events()):
            break
        threading.Event().wait(0.02)
    clock.stop()
    assert [event["text"] for event in folder.events()] == ["monitor absent cannot measure here: no such sensor"]
