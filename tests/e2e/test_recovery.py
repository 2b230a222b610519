"""Recovery after kill -9, time and again, against the log of a server that was written apart and is reached by url."""

import json
import socket
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import pileup, run_folder

SERVER = Path(__file__).with_name("mortal_server.py")
AWAY = 0.7
"""Seconds from a kill to the next start."""
FAULTS, REPEATS = 5, 4
DELAY = 0.2
"""Seconds from the begin of the fault to the kill, as where another host does it."""
APART = 2
"""Seconds from kill to kill."""
NEAR = 50 * 10**6
"""ns by which a recovery may be off."""


@dataclass
class Mortal:
    """A keeper with its server."""

    port: int
    keeper: int
    log: Path

    def times(self, word: str) -> list[int]:
        """Return the times of all lines that begin so, ns since the epoch."""
        lines = (line.split() for line in self.log.read_text().splitlines())
        return [int(time) for what, time in lines if what == word]


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Mortal]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    command = [sys.executable, "-S", str(SERVER), f"{port}", str(log), f"{AWAY}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as keeper:
        try:
            assert keeper.stdout is not None
            pid = int(keeper.stdout.readline())
            for _ in range(200):
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield Mortal(port, pid, log)
        finally:
            keeper.terminate()


def suite(server: Mortal) -> dict[str, Any]:
    kill = {"do": "command", "run": f"sh -c 'sleep {DELAY}; kill -USR1 {server.keeper}'"}
    return {
        "pileup": 1,
        "title": "recovery",
        "repeat": REPEATS,
        "targets": {"se": {"kind": "http", "url": f"http://127.0.0.1:{server.port}/"}},
        "tests": [
            {
                "name": "read",
                "use": "http.request",
                "target": "se",
                "timeout": "2 s",
                "fail_when": "fraction(read.passed) == 0",
                "load": {"rate": "200 /s", "arrivals": "poisson", "for": f"{FAULTS * APART + 3} s"},
            }
        ],
        "faults": [{"at": f"{1 + APART * number} s", "during": ["read"], **kill} for number in range(FAULTS)],
        "criteria": [
            {"id": "C1", "says": "It is back, but not before it was started", "check": "max(read.recovery) < 1 min"},
            {"id": "C2", "says": "It is away for its time", "check": f"min(read.recovery) >= {AWAY} s"},
        ],
    }


def late(results: dict[str, Any], case: str, *moments: int) -> float:
    """Return by how much pileup itself came late at most in the second of each moment, in all, ns."""
    (line,) = [each["timeline"] for each in results["cases"] if each["name"] == case]
    spans = list(zip(line["times"], line["latest"], strict=True))
    near = ([each or 0.0 for time, each in spans if time - 1.1e9 <= moment <= time + 1e8] for moment in moments)
    return sum(map(max, near))


@pytest.mark.timed
@pytest.mark.idle
def test_t11_recovery_is_that_of_the_servers_own_log(tmp_path: Path, mortal: Mortal) -> None:
    """Row T11: killed and started again 20 times, each recovery within 50 ms of the log's: from kill to next answer.

    The server is killed some time after the begin of the fault, and 1 % of its answers are errors all the time: neither
    what passes in between nor a failure of that kind may be taken for the recovery.
    """
    (tmp_path / "suite.yaml").write_text(json.dumps(suite(mortal)))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    assert [each["verdict"] for each in results["criteria"]] == ["met", "met"], done.stdout + done.stderr
    events = [event for event in results["events"] if event["kind"] == "fault"]
    killed, answered = mortal.times("killed"), mortal.times("answered")
    assert len(events) == len(killed) == FAULTS * REPEATS
    off, own = [], []
    for event, kill in zip(events, killed, strict=True):
        (outage,) = event["outages"]
        back = answered[bisect_right(answered, kill)]
        off.append(round((outage["recovery"] - (back - kill)) / 1e6, 1))
        own.append(round(late(results, outage["case"], kill, back) / 1e6, 1))
    print(f"ms too long: {off}; pileup itself was late by up to: {own}")
    assert min(off) > 0, "never too short"
    assert max(told - late for told, late in zip(off, own, strict=True)) < NEAR / 1e6
    for fault in results["faults"]:
        assert fault["times"] == REPEATS
        truth = [answered[bisect_right(answered, kill)] - kill for kill in killed[int(fault["fault"]) - 1 :: FAULTS]]
        interval = fault["recovery"]["interval"]
        assert interval["low"] - NEAR < sum(truth) / REPEATS < interval["high"], "told is a little longer than true"
