"""What `find` says of servers that were written apart, reached by url, held against their own logs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support import pileup, run_folder

pytestmark = pytest.mark.timed
WORKERS, SERVICE = 4, 20
CAPACITY = WORKERS / SERVICE * 1000
SUITE = """
pileup: 1
title: The limit of a server
targets: {se: {kind: http, url: "http://127.0.0.1:PORT/"}}
tests:
  - name: q
    use: http.request
    target: se
    timeout: TIMEOUT
    load:
      find: {raise: rate, while: WHILE, between: [20 /s, 1200 /s], settle: 500 ms, trial: 1500 ms, within: 15 %,
             at_most: 22}
      for: 4 s
criteria:
  - {id: C1, says: "A tenth of it is sustained", check: last(q.found) >= 20 /s}
"""


@contextmanager
def _server(room: int, log: Path, burst: int = 0) -> Iterator[int]:
    script = Path(__file__).with_name("fifo_server.py")
    command = [sys.executable, str(script), str(WORKERS), str(SERVICE), str(room), str(log), str(burst)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _not_passed(log: Path, begin: int, end: int) -> float:
    """Return the share of 503 among what the server answered between two times."""
    lines = [line.split() for line in log.read_text().splitlines()]
    statuses = [status for time, status in lines if begin <= int(time) <= end]
    assert len(statuses) > 50
    return sum(status == "503" for status in statuses) / len(statuses)


def _case(folder: Path) -> dict[str, Any]:
    cases = json.loads((folder / "results.json").read_text())["cases"]
    return next(each for each in cases if each["name"] == "q")


@pytest.mark.idle
@pytest.mark.parametrize(
    ("room", "asked", "timeout"),
    [
        (0, "p90(q) < 100 ms", "5 s"),
        (8, "p90(q) < 100 ms", "5 s"),
        (8, "p90(q) < 100 ms and fraction(q.refused) < 1 %", "80 ms"),
    ],
    ids=["first come first served", "sheds", "sheds, timeout below"],
)
def test_t2_the_limit_is_that_of_the_server(room: int, asked: str, timeout: str, tmp_path: Path) -> None:
    """A server that shed was said to bear 1.2 k/s, at which nine in ten were refused; it serves 200/s."""
    log = tmp_path / "log"
    with _server(room, log) as port:
        suite = SUITE.replace("PORT", str(port)).replace("WHILE", asked).replace("TIMEOUT", timeout)
        (tmp_path / "s.yaml").write_text(suite)
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    case = _case(tmp_path / run_folder(done))
    found: dict[str, Any] = case["found"]
    assert found["low"] < 1.1 * CAPACITY, found
    assert found["high"] > 0.85 * CAPACITY, found
    assert 0.6 * CAPACITY < found["level"] < 1.05 * CAPACITY, found
    last = found["measurements"][-1]
    assert (last["passed"], last["level"]) == (True, found["level"])
    assert _not_passed(log, last["begin"] + 500_000_000, last["end"]) <= 0.01
    # what was measured and not confirmed is not part of the figures
    counts = case["operations"][0]["counts"]
    assert sum(counts.values()) == pytest.approx(4 * found["level"], rel=0.05)
    refused = [trial for trial in found["trials"] if trial["level"] > 2 * CAPACITY]
    assert not any(trial["passed"] for trial in refused)


@pytest.mark.idle
def test_t2_a_level_that_only_trials_bear_is_not_reported(tmp_path: Path) -> None:
    """A bucket of 240 tokens, 200 more each second: trials of 1.3 s pass at 380/s, those of 3.3 s at 270/s."""
    log = tmp_path / "log"
    with _server(0, log, 240) as port:
        suite = SUITE.replace("PORT", str(port)).replace("WHILE", "p90(q) < 1 s").replace("TIMEOUT", "5 s")
        suite = suite.replace("500 ms, trial: 1500 ms", "300 ms, trial: 1 s").replace("22", "14").replace("4 s", "3 s")
        (tmp_path / "s.yaml").write_text(suite)
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    case = _case(tmp_path / run_folder(done))
    found: dict[str, Any] = case["found"]
    assert found["limit"] > 1.5 * CAPACITY, found
    assert [each["passed"] for each in found["measurements"]][-2:] == [False, True], found
    assert found["level"] == found["measurements"][-1]["level"] < 1.4 * CAPACITY, found
    last = found["measurements"][-1]
    assert _not_passed(log, last["begin"] + 300_000_000, last["end"]) <= 0.01
    # the figures are of the level that was measured last; those above it were trials
    counts = case["operations"][0]["counts"]
    assert counts["refused"] == 0
    assert counts["passed"] == pytest.approx(3 * found["level"], rel=0.05)
    assert case["operations"][0]["rate"]["value"] == pytest.approx(found["level"], rel=0.05)
    assert pileup("verify", str(run_folder(done)), cwd=tmp_path).returncode == 0


@pytest.mark.idle
def test_t2_where_no_level_holds_while_it_is_measured_the_case_fails(tmp_path: Path) -> None:
    """A server that tires after 1.7 s has every trial of 1.3 s and no measurement of 3.3 s."""
    log = tmp_path / "log"
    with _server(0, log, -1) as port:
        suite = SUITE.replace("PORT", str(port)).replace("WHILE", "p90(q) < 1 s").replace("TIMEOUT", "5 s")
        suite = suite.replace("500 ms, trial: 1500 ms", "300 ms, trial: 1 s").replace("4 s", "3 s")
        suite = suite.replace("[20 /s, 1200 /s]", "[40 /s, 150 /s]").partition("criteria:")[0]
        (tmp_path / "s.yaml").write_text(suite)
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    case = _case(tmp_path / run_folder(done))
    found = case["found"]
    assert [each["passed"] for each in found["measurements"]] == [False] * 4, found
    assert found["level"] is None, found
    assert case["outcome"] == "failed"
    assert case["reason"].startswith("no level was confirmed: measured at "), case["reason"]
    assert any("not confirmed: measured at" in note for note in case["notes"])
