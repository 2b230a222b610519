"""Whole runs in which pileup does something by itself: it repeats, holds back, pauses. Each is counted and told."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """A server of a thread for each connection; the log of what it has read is in `read`."""

    def __init__(self, *, dies: bool = False, closes: bool = False) -> None:
        self.read: list[str] = []
        self._dies, self._closes = dies, closes
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def end(self) -> None:
        """Be there no more."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as lines:
            while line := lines.readline():
                head = {}
                while (header := lines.readline().strip()) and b":" in header:
                    name, _, value = header.decode().partition(":")
                    head[name.lower()] = value.strip()
                self.read.append(line.decode().split()[0])
                if self._dies and line.startswith(b"GET"):
                    return self.end()
                lines.read(int(head.get("content-length", 0)))  # Expect is ignored
                connection.sendall(OK if not line.startswith(b"HEAD") else OK[:-2])
                if self._closes:
                    return None
        return None


@contextlib.contextmanager
def served(**ways: bool) -> Iterator[Server]:
    server = Server(**ways)
    try:
        yield server
    finally:
        server.end()


def run(folder: Path, url: str, test: dict[str, Any], options: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Return the case of a run of one test, and the CPU time that it took, s."""
    targets = {"web": {"kind": "http", "url": url, "options": options}}
    suite = {"pileup": 1, "title": "own", "seed": 7, "targets": targets}
    suite["tests"] = [{"name": "ask", "target": "web", "timeout": "5 s", **test}]
    (folder / "suite.yaml").write_text(json.dumps(suite))
    before = os.times()
    words = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    (found,) = (folder / "runs").iterdir()
    words = [sys.executable, "-m", "pileup", "report", str(found), "--to", "json"]
    subprocess.run(words, cwd=folder, capture_output=True, timeout=120, check=False)
    results = found / "results.json"
    assert results.exists(), done.stdout + done.stderr
    return json.loads(results.read_text())["cases"][0], cpu


def operation(case: dict[str, Any], name: str) -> dict[str, Any]:
    return next((each for each in case["operations"] if each["operation"] == name), {"counts": {"passed": 0}})


@pytest.mark.long
def test_t23_a_server_that_refuses_connections_is_left_in_peace(tmp_path: Path) -> None:
    load = {"use": "http.request", "load": {"clients": 4, "for": "3 s"}, "fail_when": "count(ask.passed) > 1000"}
    attempts, burnt = {}, {}
    for pause in ("1 s", "0 s"):
        folder = tmp_path / pause[0]
        folder.mkdir()
        with served(dies=True) as server:
            case, burnt[pause] = run(folder, server.url, load, {"reconnect_pause": pause})
        counts = next(each["counts"] for each in case["operations"] if each["iteration"])
        attempts[pause] = counts["failed"] + counts["ambiguous"]
        paused = operation(case, "reconnect-pause")["counts"]["passed"]
        told = [note for note in case["notes"] if note.startswith("after refused connections clients paused")]
        assert (paused > 0, len(told)) == ((True, 1) if pause == "1 s" else (False, 0)), case["notes"]
    print(f"attempts in 3 s of 4 clients: {attempts}, CPU s of the whole run: {burnt}")
    assert attempts["1 s"] < 60
    assert attempts["0 s"] > 1000


@pytest.mark.long
def test_t8_repeats_are_counted_and_told(tmp_path: Path) -> None:
    with served(closes=True) as server:
        case, _ = run(tmp_path, server.url, {"use": "http.request", "load": {"times": 300}}, {})
    (ask,) = (each for each in case["operations"] if each["iteration"])
    read = server.read.count("GET")
    assert ask["counts"]["passed"] == read == 300
    assert ask["calls"] == 300 + ask["repeated"]
    told = [note for note in case["notes"] if note.startswith(f"repeated: {ask['repeated']} of {ask['calls']} calls")]
    assert len(told) == (1 if ask["repeated"] else 0)


@pytest.mark.long
def test_t7_a_wait_for_a_word_on_expect_is_pileups_own(tmp_path: Path) -> None:
    write = {"use": "http.request", "options": {"method": "PUT", "body": "3 MiB"}, "load": {"times": 2}}
    for expect in ("auto", "never"):
        folder = tmp_path / expect
        folder.mkdir()
        with served() as server:
            case, _ = run(folder, server.url, write, {"expect": expect})
        (ask,) = (each for each in case["operations"] if each["iteration"])
        assert ask["counts"]["passed"] == 2
        waits = operation(case, "expect-wait")["counts"]["passed"]
        told = [note for note in case["notes"] if note.startswith("pileup itself held back 2 bodies")]
        assert (waits, len(told)) == ((2, 1) if expect == "auto" else (0, 0)), case["notes"]
        assert ask["service"]["largest"] < 0.9e9 and (ask["response"]["largest"] > 0.99e9) == (expect == "auto")
