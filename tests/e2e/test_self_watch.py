"""pileup watches itself: loads of which it is the bottleneck and such of which it is not; what cannot pass."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pileup.cli import main
from pileup.model import self_metrics
from pileup.record import RunFolder
from pileup.run import manifest_start
from tests.support import pileup, run_folder

TESTS = '''
import asyncio
import time

from pileup.plugin import Op, Test


class Burns(Test):
    """Takes 20 ms of CPU."""

    def run(self, op: Op) -> None:
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass


class Waits(Test):
    """Takes 20 ms, and no CPU."""

    def run(self, op: Op) -> None:
        time.sleep(0.02)


class Blocks(Test):
    """Async, and yet it keeps the loop to itself."""

    async def run(self, op: Op) -> None:
        await asyncio.sleep(0.001)
        if op.number % 10 == 0:
            time.sleep(0.3)
'''


def suite(folder: Path, body: str) -> Path:
    """Write a suite and its tests; return the suite."""
    (folder / "own.py").write_text(TESTS)
    path = folder / "suite.yaml"
    path.write_text(f"pileup: 1\ntitle: self-watch\n{body}")
    return path


def results(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run_folder(done) / "results.json").read_text())
    return found


def held_back(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in found["events"] if event["kind"] == self_metrics.EVENT]


BURNING = """
tests:
  - {name: burn, use: "own.py:Burns", load: {rate: 200 /s, for: 4 s}}
criteria:
  - {id: fast, says: it is fast, check: "p50(burn) < 25 ms"}
"""


@pytest.mark.timed
@pytest.mark.parametrize("fleet", ["local", "processes:1"])
def test_a_generator_without_cpu_is_told_with_the_time_and_excuses_the_figure(tmp_path: Path, fleet: str) -> None:
    done = pileup("run", str(suite(tmp_path, BURNING)), "--quiet", "--fleet", fleet, cwd=tmp_path, drawn=True)
    found = results(done)
    assert done.returncode == 8, done.stdout + done.stderr
    assert found["limit"].startswith("burn: pileup was the bottleneck from ")
    pressed = [frame.time - frame.nanoseconds for frame in RunFolder.open(run_folder(done)).frames()]
    begin, end = held_back(found)[0]["begin"], held_back(found)[-1]["end"]
    assert begin <= min(pressed) + 10**9
    assert end >= begin + 2 * 10**9
    (criterion,) = found["criteria"]
    assert criterion["verdict"] == "unknown"
    assert "pileup was the bottleneck of burn" in criterion["reason"]
    folder = run_folder(done)
    assert "pileup was the bottleneck" in (folder / "report.html").read_text()
    assert "pileup was the bottleneck" in pileup("show", str(folder), cwd=tmp_path).stdout
    pressing = 0 if fleet == "local" else 1
    sampled = {
        row.sample.metric
        for row in RunFolder.open(folder).samples()
        if row.sample.labels == self_metrics.label(pressing)
    }
    assert {self_metrics.CPU, self_metrics.LAG} <= sampled


@pytest.mark.long
def test_an_event_loop_that_is_kept_is_told(tmp_path: Path) -> None:
    body = 'tests:\n  - {name: block, use: "own.py:Blocks", load: {rate: 20 /s, for: 5 s}}\n'
    found = results(pileup("run", str(suite(tmp_path, body)), "--quiet", cwd=tmp_path))
    assert any("event loop" in event["text"] for event in held_back(found)), found["limit"]


WAITING = 'tests:\n  - {name: wait, use: "own.py:Waits", load: {rate: 20 /s, for: 7 s}}\n'


@pytest.mark.timed
@pytest.mark.idle
def test_a_process_that_is_stopped_for_two_seconds_names_the_time_within_one(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pileup", "run", str(suite(tmp_path, WAITING)), "--quiet"]
    environment = os.environ | {"PILEUP_RUNS": str(tmp_path / "runs")}
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        _until_measuring(tmp_path / "runs")
        process.send_signal(signal.SIGSTOP)
        stopped = time.time_ns()
        time.sleep(2)
        continued = time.time_ns()
        process.send_signal(signal.SIGCONT)
        printed, _ = process.communicate(timeout=120)
    found = json.loads((Path(printed.strip().splitlines()[-1]) / "results.json").read_text())
    event = next(event for event in held_back(found) if "its process did not run" in event["text"])
    assert abs(event["begin"] - stopped) < 10**9
    assert abs(event["end"] - continued) < 10**9
    assert "pileup was the bottleneck from" in found["limit"]


def _until_measuring(runs: Path) -> None:
    """Return once frames of the load are in the record."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for folder in runs.glob("*"):
            if (folder / "run.json").exists() and sum(frame.started for frame in RunFolder.open(folder).frames()) >= 20:
                return
        time.sleep(0.1)
    pytest.fail("the load did not begin within a minute")


@pytest.mark.timed
@pytest.mark.idle
def test_a_generator_that_keeps_up_is_not_blamed(tmp_path: Path) -> None:
    body = "tests:\n  - {name: wait, use: noop, options: {cost: 200 ms}, load: {rate: 20 /s, for: 3 s}}\n"
    done = pileup("run", str(suite(tmp_path, body)), "--quiet", cwd=tmp_path)
    found = results(done)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pileup was the bottleneck" not in found["limit"]
    assert "a native iteration" in found["overhead"]
    cost = json.loads((run_folder(done) / "run.json").read_text())["overhead"]
    assert 10 < cost["native"] < 10**6


def test_a_debug_build_warns_at_the_start_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(manifest_start._native, "DEBUG", True)
    monkeypatch.setenv("PILEUP_RUNS", str(tmp_path / "runs"))
    path = suite(tmp_path, "tests:\n  - {name: nothing, use: noop}\n")
    assert main(["run", str(path)]) == 0
    told = capfd.readouterr()
    assert "DEBUG BUILD" in told.out + told.err
    assert main(["show", told.out.strip().splitlines()[-1]]) == 0
    assert "debug build" in capfd.readouterr().out


NOTHING = {
    "rate": "load: {rate: 0.001 /s, arrivals: poisson, for: 100 ms}",
    "clients": "load: {clients: 2, warm_up: 200 ms, for: 50 ms}",
    "stages": "load: {stages: [{clients: 2, warm_up: 200 ms, for: 50 ms}]}",
    "times": "load: {times: 3}",
    "once": "load: {once: true}",
}


@pytest.mark.parametrize("kind", NOTHING)
def test_a_load_that_measured_nothing_cannot_pass(tmp_path: Path, kind: str) -> None:
    """What began in the warm-up is not measured; of a check that always begins, the target does not answer."""
    always = kind in ("times", "once")
    head = "targets:\n  gone: {kind: http, url: 'http://127.0.0.1:1/'}\n" if always else ""
    use = "use: http.request, target: gone" if always else "use: noop, options: {cost: 1 s}"
    path = suite(tmp_path, f"{head}tests:\n  - {{name: nothing, {use}, {NOTHING[kind]}}}\n")
    done = pileup("run", str(path), "--quiet", cwd=tmp_path)
    assert done.returncode not in (0, 70), done.stdout + done.stderr
    assert results(done)["verdict"] != "passed"


@pytest.mark.long
def test_a_scan_or_a_role_that_measured_nothing_cannot_pass(tmp_path: Path) -> None:
    load = "load: {rate: '{RATE}', arrivals: poisson, for: 200 ms}"
    scan = f"tests:\n  - {{name: point, use: noop, {load.replace('{RATE}', '0.001 /s')}, options: {{cost: 1 ms}}}}\n"
    scan += "scan: {point.cost: [1 ms, 2 ms]}\n"
    done = pileup("run", str(suite(tmp_path, scan)), "--quiet", cwd=tmp_path)
    assert done.returncode == 8, done.stdout + done.stderr
    role = "tests:\n  - {name: main, use: noop, load: {clients: 1, for: 300 ms}}\n"
    role += "  - {name: beside, use: noop, load: {rate: 0.001 /s, arrivals: poisson}, with: [main]}\n"
    done = pileup("run", str(suite(tmp_path, role)), "--quiet", cwd=tmp_path)
    assert done.returncode == 8, done.stdout + done.stderr
