"""The time to rest, against a server written apart that works off a known backlog and logs when it is done."""

import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: rest
targets: {web: {kind: http, url: "http://127.0.0.1:PORT/work"}}
tests: [{name: load, use: http.request, target: web, load: {clients: 2, times: 60}}]
monitors:
  - {use: prometheus, name: queue, url: "http://127.0.0.1:PORT/metrics", every: 100 ms, metrics: [backlog]}
cooldown: {until: last(queue.backlog) == 0, at_most: MOST}
criteria: [{id: R, says: It rests soon, check: max(cooldown.time_to_idle) < LIMIT}]
"""
EACH = 0.05
"""Seconds that a piece of work takes."""


class Backlog(ThreadingHTTPServer):
    """Takes a piece of work with each request and answers at once; one thread works them off, or none does."""

    daemon_threads = True

    def __init__(self, works: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Condition()
        self.waiting = self.taken = 0
        self.idle_at: list[int] = []
        if works:
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self.lock:
                self.lock.wait_for(lambda: self.waiting > 0)
            time.sleep(EACH)
            with self.lock:
                self.waiting -= 1
                if not self.waiting:
                    self.idle_at.append(time.time_ns())


class Handler(BaseHTTPRequestHandler):
    """GET /work adds a piece; GET /metrics says how many there are."""

    protocol_version = "HTTP/1.1"
    server: Backlog

    def do_GET(self) -> None:
        with self.server.lock:
            if self.path == "/work":
                self.server.waiting += 1
                self.server.taken += 1
                self.server.lock.notify()
            body = f"backlog {self.server.waiting}\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def backlog(works: bool) -> Iterator[Backlog]:
    server = Backlog(works)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def run(server: Backlog, most: str, limit: str, cwd: Path) -> tuple["subprocess.CompletedProcess[str]", dict[str, Any]]:
    text = SUITE.replace("PORT", str(server.server_address[1])).replace("MOST", most).replace("LIMIT", limit)
    (cwd / "s.yaml").write_text(text)
    done = pileup("run", "s.yaml", "--quiet", cwd=cwd)
    return done, json.loads((cwd / run_folder(done) / "results.json").read_text())


@pytest.mark.long
def test_the_time_to_rest_is_that_of_the_log_of_the_server(tmp_path: Path) -> None:
    """60 pieces of 50 ms are there within a moment: it is at rest 3 s after the first of them came."""
    with backlog(works=True) as server:
        done, results = run(server, "30 s", "25 s", tmp_path)
        assert (server.taken, server.waiting) == (60, 0)
        idle = server.idle_at[-1]
    assert done.returncode == 0, done.stdout + done.stderr
    (criterion,) = results["criteria"]
    (rest,) = [each for each in results["events"] if each["kind"] == "cooldown"]
    assert criterion["figure"]["value"] == pytest.approx(rest["end"] - rest["begin"], abs=1000)
    rows = list(RunFolder.open(tmp_path / run_folder(done)).samples())
    looks = sorted((row.time, row.sample.value) for row in rows if row.monitor == "queue" and row.time >= rest["begin"])
    first = next(place for place, (_, value) in enumerate(looks) if value == 0)
    assert rest["end"] == looks[first][0], "by the first sample that says so, not by when somebody looked"
    assert looks[first - 1][0] <= idle, "the sample before said otherwise"
    assert (rest["end"] - idle) / 1e9 < 0.5, "a look each 100 ms"
    assert (rest["end"] - rest["begin"]) / 1e9 > 1.5, "most of 3 s"


@pytest.mark.long
def test_t21_a_system_that_never_rests_is_not_met(tmp_path: Path) -> None:
    with backlog(works=False) as server:
        done, results = run(server, "2 s", "1 s", tmp_path)
        assert server.waiting == 60
    (criterion,) = results["criteria"]
    assert done.returncode == 4, done.stdout + done.stderr
    assert criterion["figure"]["value"] is None
    assert criterion["figure"]["above"] >= 2e9
    assert "is > 2" in criterion["reason"]
    (rest,) = [each for each in results["events"] if each["kind"] == "cooldown"]
    assert re.search(r"does not hold after 2(\.\d+)? s", rest["text"])
