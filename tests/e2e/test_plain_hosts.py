"""Monitors of a host on which no pileup is installed: node and process over plain ssh, equal to the ones here."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from pileup.record import RunFolder
from pileup.run.monitoring.shell import SCRIPT
from tests.pages import shown_files
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

SUITE = """
pileup: 1
title: A host without pileup
places: {python: /opt/without-pileup/bin/python3}
tests: [{name: press, use: noop, load: {rate: 10, for: SECONDS s}}]
monitors:
  - {use: node, name: here, every: 200 ms, each: true}
  - {use: node, name: there, every: 200 ms, each: true, host: "ssh://HOST"}
  - {use: process, name: mine, every: 200 ms, match: WORD, children: false}
  - {use: process, name: theirs, every: 200 ms, match: WORD, children: false, host: "ssh://HOST"}
  - {use: "./switches.py:Switches", name: switches, every: 200 ms, host: "ssh://HOST"}
  - {use: prometheus, name: metrics, url: "http://127.0.0.1:1/metrics", metrics: [queue], host: "ssh://HOST"}
criteria:
  - {id: C1, says: The server works, check: "mean(theirs.cpu[of=all]) > 5 %"}
"""
BURN = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: time.process_time()"


@contextmanager
def burning(word: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", BURN, word])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def suite(folder: Path, sshd: Sshd, word: str, seconds: int) -> None:
    text = SUITE.replace("HOST", sshd.host).replace("WORD", word).replace("SECONDS", str(seconds))
    (folder / "suite.yaml").write_text(text)
    (folder / "switches.py").write_text(shown_files()["switches.py"])


def shells() -> set[int]:
    """Return the shells that read /proc for a pileup: the script is in their command line."""
    found = set()
    for each in psutil.process_iter(["cmdline"]):
        if (each.info["cmdline"] or [])[:3] == ["/bin/sh", "-c", SCRIPT]:
            found.add(each.pid)
    return found


def gone(pids: set[int], within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end and any(map(psutil.pid_exists, pids)):
        time.sleep(0.05)
    return not any(map(psutil.pid_exists, pids))


def mean_of(samples: list[tuple[int, float]], begin: int, end: int) -> float:
    """Return the mean over this time; a sample is of the time since the one before."""
    steps = ((max(begin, before), min(end, at), value) for (before, _), (at, value) in pairwise(samples))
    return sum(value * max(0, last - first) for first, last, value in steps) / (end - begin)


@pytest.mark.timed
def test_samples_over_plain_ssh_are_those_of_the_monitors_here(tmp_path: Path, sshd: Sshd) -> None:
    before = shells()
    suite(tmp_path, sshd, "hamster-5521", 4)
    with burning("hamster-5521"):
        done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path, PILEUP_SSH=sshd.command)
    assert done.returncode == 0, done.stdout + done.stderr
    run = RunFolder.open(tmp_path / run_folder(done))
    kinds: dict[str, set[tuple[str, str, str]]] = {}
    values: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for row in run.samples():
        labels = row.sample.labels.partition("=")[0] if row.sample.metric == "port_queue" else row.sample.labels
        kinds.setdefault(row.monitor, set()).add((row.sample.metric, labels, row.sample.unit))  # ports come and go
        key = (row.monitor, row.sample.metric, row.sample.labels)
        values.setdefault(key, []).append((row.time, row.sample.value))
    assert kinds["there"] == kinds["here"]
    assert kinds["theirs"] == kinds["mine"]
    assert {row.host for row in run.samples()} == {os.uname().nodename}

    def means(near: str, far: str, metric: str, labels: str) -> tuple[float, float]:
        """Return both means over the same seconds."""
        here, there = values[near, metric, labels], values[far, metric, labels]
        assert len(there) >= 8
        begin, end = max(here[0][0], there[0][0]), min(here[-1][0], there[-1][0])
        assert end - begin > 1.5e9
        return mean_of(here, begin, end), mean_of(there, begin, end)

    here, there = means("mine", "theirs", "cpu", "of=all")
    assert here > 5
    assert there == pytest.approx(here, rel=0.2)
    here, there = means("mine", "theirs", "rss", "of=all")
    assert there == pytest.approx(here, rel=0.01)
    here, there = means("here", "there", "memory", "kind=total")
    assert here > 1 << 28
    assert there == pytest.approx(here, rel=1e-6)
    here, there = means("here", "there", "cpu", "mode=user")
    assert there == pytest.approx(here, abs=10)
    here, there = means("here", "there", "loopback", "direction=in")  # ssh itself
    assert here > 10_000
    assert there == pytest.approx(here, rel=0.3)
    switches = [value for _, value in values["switches", "all", ""]]
    assert len(switches) >= 8
    assert min(switches) > 10
    told = [event.text for event in run.events() if event.kind == "monitor" and "slow" not in event.text]
    assert len(told) == 2, told
    assert "no pileup there" in told[0]
    assert told[0].endswith("there, theirs, switches read /proc there over plain ssh")
    assert "/opt/without-pileup/bin/python3" in told[0]
    assert "metrics cannot measure" in told[1]
    assert gone(shells() - before)


@pytest.mark.long
def test_nothing_stays_of_a_pileup_that_was_killed(tmp_path: Path, sshd: Sshd) -> None:
    before = shells()
    suite(tmp_path, sshd, "hamster-5522", 60)
    environment = {**os.environ, "PILEUP_SSH": sshd.command, "PILEUP_RUNS": str(tmp_path / "runs")}
    command = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 15
        while not (found := shells() - before) and time.monotonic() < end:
            time.sleep(0.1)
        assert found, "it reads over plain ssh"
        children = {each.pid for each in psutil.Process(process.pid).children(recursive=True)}
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert gone(found | children)
