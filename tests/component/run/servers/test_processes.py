"""Signals reach the process that was looked at, or nobody."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pileup.run.servers import processes
from pileup.run.servers.processes import Identity


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        yield process
        process.kill()


def test_s12_a_number_that_is_another_s_by_now_gets_no_signal(sleeper: "subprocess.Popen[bytes]") -> None:
    with subprocess.Popen(["true"]) as gone:
        found = psutil.Process(gone.pid)
    found._pid = sleeper.pid  # as if the number had been given again
    processes.send([found], signal.SIGKILL)
    assert sleeper.poll() is None
    processes.send([psutil.Process(sleeper.pid)], signal.SIGTERM)
    assert sleeper.wait(10) == -signal.SIGTERM


def test_without_descriptors_of_processes_psutil_sends(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    processes.send([psutil.Process(sleeper.pid)], signal.SIGTERM)
    assert sleeper.wait(10) == -signal.SIGTERM


def test_s7_an_identity_has_no_clock_in_it(sleeper: "subprocess.Popen[bytes]") -> None:
    found = Identity.of(sleeper.pid)
    assert found is not None
    assert found == Identity(sleeper.pid, found.ticks, processes.boot(), processes.namespace())
    assert found.ticks > 0
    assert len(processes.boot()) == 36
    assert processes.namespace() == Path("/proc/self/ns/pid").stat().st_ino
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert (found.known, found.alive) == (True, False), "dead, and nobody has waited for it"
    sleeper.wait()
    assert not found.known
    assert Identity.of(sleeper.pid) is None
