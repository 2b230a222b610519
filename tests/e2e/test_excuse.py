"""Systems that are dead, slow or fast, with a pileup that is starved, stopped or well: who is to blame."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pileup.model import self_metrics
from pileup.record import RunFolder
from tests.support import pileup, run_folder

Answer = Callable[[int], float | None]
"""Number of the request -> seconds after which it is answered; None: never."""


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """Serve HTTP on a free port, a thread for each connection; yield its url."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    numbers, over = iter(range(10**9)), threading.Event()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve, args=(connection, answer, numbers, over), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        over.set()
        listener.close()


def _serve(connection: socket.socket, answer: Answer, numbers: Iterator[int], over: threading.Event) -> None:
    """Answer the requests of one connection until it is closed."""
    with connection, suppress(OSError):
        got = b""
        while not over.is_set():
            while b"\r\n\r\n" not in got:
                part = connection.recv(65536)
                if not part:
                    return
                got += part
            got = got.partition(b"\r\n\r\n")[2]
            took = answer(next(numbers))
            if over.wait(3600 if took is None else took):
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Let so many other programs burn CPU meanwhile, for two minutes at most."""
    loop = "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(number)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def suite(folder: Path, url: str, load: str, *checks: str, timeout: str = "1 s") -> Path:
    """Write a suite of one test `q` with criteria C1, C2, …; return it."""
    criteria = "".join(f'  - {{id: C{n}, says: so, check: "{check}"}}\n' for n, check in enumerate(checks, 1))
    path = folder / "suite.yaml"
    path.write_text(
        f"pileup: 1\ntitle: excuse\ntargets:\n  s: {{kind: http, url: '{url}'}}\ntests:\n"
        f"  - {{name: q, use: http.request, target: s, timeout: {timeout}, load: {{{load}}}}}\ncriteria:\n{criteria}"
    )
    return path


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


def verdicts(found: dict[str, Any]) -> list[str]:
    """Return the verdicts, shown or not."""
    return [each["verdict"].removesuffix(", not shown") for each in found["criteria"]]


@pytest.mark.timed
@pytest.mark.parametrize("load", ["rate: 20 /s", "clients: 4"])
def test_t03_a_dead_server_beside_busy_loops_has_failed(tmp_path: Path, load: str) -> None:
    """It answers the first look and nothing more; pileup starts late for lack of CPU. It was excused: exit 8."""
    with server(lambda number: None if number else 0.0) as url, busy(2 * (os.cpu_count() or 1)):
        path = suite(tmp_path, url, f"{load}, for: 5 s", "rate(q) >= 10 /s", "fraction(q.passed) > 99 %")
        done = pileup("run", str(path), "--quiet", cwd=tmp_path)
    found = results(run_folder(done))
    assert done.returncode == 1, (done.stdout + done.stderr, found["limit"])
    assert verdicts(found) == ["not met", "not met"]
    assert "pileup was the bottleneck" not in found["limit"]


@pytest.mark.timed
@pytest.mark.idle
@pytest.mark.parametrize("load", ["rate: 20 /s", "clients: 4"])
def test_a_slow_system_is_never_excused(tmp_path: Path, load: str) -> None:
    with server(lambda _: 0.2) as url:
        path = suite(
            tmp_path, url, f"{load}, for: 4 s", "p50(q) < 100 ms", "rate(q) >= 50 /s", "mean(q.service) < 0.1 s"
        )
        done = pileup("run", str(path), "--quiet", cwd=tmp_path)
    found = results(run_folder(done))
    assert done.returncode == 4, (done.stdout + done.stderr, found["limit"])
    assert verdicts(found) == ["not met"] * 3
    assert "pileup was the bottleneck" not in found["limit"]


@pytest.mark.timed
def test_a_fast_system_beside_a_starved_pileup_is_not_blamed(tmp_path: Path) -> None:
    """pileup has a fifth of the time: stopped for 40 ms in each 50 ms, again and again; the server runs."""
    with server(lambda _: 0.0) as url:
        path = suite(tmp_path, url, "rate: 50 /s, for: 6 s", "p90(q) < 5 ms")
        folder, code = _pressed(tmp_path, path, _starve)
    found = results(folder)
    assert code == 8, found["limit"]
    assert verdicts(found) == ["unknown"], found["criteria"]
    assert "pileup was the bottleneck of q" in found["criteria"][0]["reason"]


@pytest.mark.timed
@pytest.mark.idle
@pytest.mark.parametrize("slow", [False, True])
def test_t09_a_stop_excuses_no_more_than_itself(tmp_path: Path, slow: bool) -> None:
    """0.4 s in 10 s, which were 33.6 %. A system that is slow now and then elsewhere has failed."""
    with server(lambda number: 0.3 if slow and number % 20 == 7 else 0.002) as url:
        path = suite(tmp_path, url, "rate: 100 /s, for: 10 s", "p99(q) < 150 ms")
        ended: list[int] = []
        folder, code = _pressed(tmp_path, path, lambda process: ended.append(_stop(process, 3.0, 0.4)))
    found = results(folder)
    # on a busy machine there may be other times in which pileup did not run
    (told,) = [
        event
        for event in found["events"]
        if event["kind"] == self_metrics.EVENT and event["begin"] < ended[0] - 2 * 10**8 < event["end"]
    ]
    assert "did not run" in told["text"]
    assert 0.03 < (told["end"] - told["begin"]) / 1e10 <= 0.1, told
    assert verdicts(found) == ["not met" if slow else "unknown"], found["criteria"]
    assert code == (4 if slow else 8)


@pytest.mark.timed
@pytest.mark.idle
def test_t06_a_stall_by_a_stop_of_pileup_is_told_as_such(tmp_path: Path) -> None:
    with server(lambda _: 0.01) as url:
        path = suite(tmp_path, url, "clients: 4, for: 8 s", "p50(q) < 1 s")
        folder, code = _pressed(tmp_path, path, lambda process: _stop(process, 3.0, 2.0))
    notes = " ".join(results(folder)["cases"][0]["notes"])
    assert code == 0
    assert "it was pileup, whose process did not run" in notes
    assert "coordinated omission" not in notes


def _pressed(folder: Path, path: Path, meanwhile: Callable[[subprocess.Popen[str]], object]) -> tuple[Path, int]:
    """Run a suite, do something to its process while it presses; return the run folder and the exit code."""
    words = [sys.executable, "-m", "pileup", "run", str(path), "--quiet"]
    environment = os.environ | {"PILEUP_RUNS": str(folder / "runs")}
    with subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            _until_measuring(folder / "runs")
            meanwhile(process)
            printed, _ = process.communicate(timeout=120)
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()
    return Path(printed.strip().splitlines()[-1]), process.returncode


def _stop(process: subprocess.Popen[str], after: float, seconds: float) -> int:
    """Stop a process for a time; return when it went on, ns since the epoch."""
    time.sleep(after)
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
    return time.time_ns()


def _starve(process: subprocess.Popen[str]) -> None:
    """Stop a process for four fifths of the time, until its load is over."""
    until = time.monotonic() + 7
    while time.monotonic() < until and process.poll() is None:
        _stop(process, 0.01, 0.04)


def _until_measuring(runs: Path) -> None:
    """Return once frames of the load are in the record."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for folder in runs.glob("*"):
            if (folder / "run.json").exists() and any(frame.started for frame in RunFolder.open(folder).frames()):
                return
        time.sleep(0.05)
    pytest.fail("the load did not begin within a minute")
