"""A target behind a relay: figures with its latency, axes over it, relays that are killed, traces."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: Far
targets:
  se: {kind: practice-storage, launch: {threads: 16}, path: {latency: 40 ms}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 4, size: 4 KiB}, scope: run}
  - {name: read, use: storage.read, target: se, after: [fill], options: {files: 4, size: 4 KiB}, load: LOAD}
"""


def written(folder: Path, load: str = "{clients: 2, for: 1 s}", more: str = "") -> Path:
    path = folder / "suite.yaml"
    path.write_text(SUITE.replace("LOAD", load) + more)
    return path


def results(folder: Path, *words: str) -> tuple[dict[str, Any], Path]:
    done = pileup("run", str(folder / "suite.yaml"), "--quiet", *words, cwd=folder)
    run = folder / run_folder(done)
    found = json.loads((run / "results.json").read_text())
    assert done.returncode == 0, (done.stderr, found["cases"])
    return found, run


def means(found: dict[str, Any]) -> list[float]:
    """Return the mean response of reads at each point, ms."""
    cases = [each for each in found["cases"] if each["test"] == "read"]
    return [float(each["operations"][0]["response"]["mean"]) / 1e6 for each in cases]


def events(run: Path) -> list[str]:
    return [json.loads(line)["text"] for line in (run / "events/events.jsonl").read_text().splitlines()]


@pytest.mark.long
def test_an_axis_over_the_latency_starts_nothing_again(tmp_path: Path) -> None:
    written(tmp_path, "{clients: 2, for: 600 ms}", "scan: {se.path.latency: [0 ms, 20 ms, 60 ms]}\n")
    found, run = results(tmp_path)
    near, far, farther = means(found)
    assert near < far < farther and far >= 20 and farther >= 60
    journal = (run / "journal.jsonl").read_text()
    assert journal.count('"process": "relay", "command"') == journal.count('"process": "server", "command"')
    told = "\n".join(events(run))
    assert "path of target se: latency 20 ms" in told and "through the relay before target se went" in told
    remark = json.loads((run / "run.json").read_text())["targets"][0]["remarks"][0]
    assert "adds 0 s to 60 ms, by point, to a round trip" in remark and "TCP window" in remark


@pytest.mark.long
def test_set_puts_a_target_far_away(tmp_path: Path) -> None:
    written(tmp_path)
    found, _ = results(tmp_path, "--set", "targets.se.path.latency=30 ms")
    assert means(found)[0] >= 30


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{kind: posix, url: /tmp, path: {latency: 5 ms}}", "no connection to relay"),
        ("{kind: webdav, url: http://127.0.0.1:1/, path: {latency: -5 ms}}", "negative"),
        ("{kind: webdav, url: http://127.0.0.1:1/, path: {bandwidth: 0 B/s}}", "bandwidth"),
        ("{kind: webdav, url: http://127.0.0.1:1/, path: {loss: 1 %}}", "loss"),
    ],
)
def test_paths_that_cannot_be_are_refused(tmp_path: Path, target: str, said: str) -> None:
    text = f"pileup: 1\ntitle: x\ntargets: {{se: {target}}}\ntests: [{{name: look, use: storage.list, target: se}}]\n"
    (tmp_path / "suite.yaml").write_text(text)
    done = pileup("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 3 and said in done.stderr, done.stderr
    assert "expected" in done.stderr


@pytest.mark.parametrize(
    ("scan", "said"),
    [
        ("{se.path.latency: [0 ms, -1 ms]}", "negative"),
        ("{se.path.loss: [1, 2]}", "no word 'loss'"),
        ("{se.path.at: [1, 2]}", "no word 'at'"),
    ],
)
def test_axes_that_cannot_be_are_refused(tmp_path: Path, scan: str, said: str) -> None:
    written(tmp_path, more=f"scan: {scan}\n")
    done = pileup("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 3 and said in done.stderr, done.stderr


def _rows(folder: Path) -> list[bytes]:
    """Return what has been written of operations so far."""
    return [path.read_bytes() for path in folder.glob("runs/*/operations/*") if path.is_file()]


@pytest.mark.parametrize("client", ["native", pytest.param("curl", marks=pytest.mark.long)])
def test_a_relay_that_is_killed_is_named_and_not_the_target(tmp_path: Path, client: str) -> None:
    path = written(tmp_path, "{clients: 2, for: 8 s}")
    path.write_text(path.read_text().replace("path: {", f"options: {{client: {client}}}, path: {{"))
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--set", "reports=[{use: json}]"],
        cwd=tmp_path, env={**os.environ, "PILEUP_RUNS": str(tmp_path / "runs")}, stdout=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    relay, until = None, time.monotonic() + 60
    while relay is None and time.monotonic() < until:
        relay = next((each for each in psutil.Process(process.pid).children(True) if "relay" in each.cmdline()), None)
        time.sleep(0.1)
    assert relay is not None
    while time.monotonic() < until and b"read" not in b"".join(_rows(tmp_path)):
        time.sleep(0.2)
    time.sleep(2)
    relay.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    found = json.loads((tmp_path / out.strip().splitlines()[-1] / "results.json").read_text())
    case = next(each for each in found["cases"] if each["name"].startswith("read"))
    assert case["outcome"] == "error" and "the relay before target se has ended" in case["reason"], case["reason"]
    assert case["operations"][0]["counts"]["passed"] > 20, "what was measured before is kept"
    assert "the relay before the target: connection refused" in json.dumps(found)


@pytest.mark.long
def test_after_kill_9_the_next_start_ends_the_relay_and_removes_its_folder(tmp_path: Path) -> None:
    written(tmp_path, "{clients: 1, for: 1 h}")
    (tmp_path / "tmp").mkdir()
    (tmp_path / "next.yaml").write_text("pileup: 1\ntitle: next\ntests: [{name: nothing, use: noop}]\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet"],
        cwd=tmp_path, env={**os.environ, "PILEUP_RUNS": str(tmp_path / "runs"), "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    relay, until = None, time.monotonic() + 60
    while relay is None and time.monotonic() < until:
        relay = next((each for each in psutil.Process(process.pid).children(True) if "relay" in each.cmdline()), None)
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert relay is not None and relay.is_running()
    folders = set((tmp_path / "tmp").iterdir())
    assert folders
    done = pileup("run", "next.yaml", "--quiet", cwd=tmp_path, TMPDIR=str(tmp_path / "tmp"))
    assert done.returncode == 0, done.stderr
    assert not relay.is_running() or relay.status() == psutil.STATUS_ZOMBIE
    assert [each for each in folders if each.exists()] == []


@pytest.mark.long
def test_the_relay_of_the_command_line_passes_on_and_says_what(tmp_path: Path) -> None:
    storage = subprocess.Popen(
        [sys.executable, "-m", "pileup", "practice", "storage"], stdout=subprocess.PIPE, text=True
    )
    assert storage.stdout is not None
    url = re.search(r"127\.0\.0\.1:\d+", storage.stdout.readline())
    assert url is not None
    words = ["127.0.0.1:0", "--to", url[0], "--latency", "30 ms", "--trace", str(tmp_path / "trace.json")]
    relay = subprocess.Popen([sys.executable, "-m", "pileup", "relay", *words], stdout=subprocess.PIPE, text=True)
    assert relay.stdout is not None
    try:
        there = re.search(r"ready at (127\.0\.0\.1:\d+)", relay.stdout.readline())
        assert there is not None
        done = pileup("check", f"http://{there[1]}/", "--kind", "http", "--quiet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    finally:
        relay.terminate()
        said, _ = relay.communicate(timeout=10)
        storage.terminate()
        storage.communicate(timeout=10)
    assert re.search(r"\d+ connections?, .* there and .* back in \d+ messages", said), said
    assert re.search(r"; answers late by \S+ \S+ \(median\)", said), said
    assert json.loads((tmp_path / "trace.json").read_text())[0]["messages"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["x", "--to", "a:1"], 2, "LISTEN 'x' is no address"),
        (["127.0.0.1:0", "--to", "a"], 2, "--to 'a' is no address"),
        (["127.0.0.1:0", "--to", "127.0.0.1:9", "--latency", "-5 ms"], 2, "negative"),
        (["127.0.0.1:0", "--to", "127.0.0.1:9", "--bandwidth", "0 B/s"], 2, "bandwidth"),
        (["127.0.0.1:0", "--to", "no-such-host.invalid:9"], 5, "is not found"),
    ],
)
def test_wrong_words_of_a_relay_are_named(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    done = pileup("relay", *words, cwd=tmp_path)
    assert done.returncode == code and said in done.stderr and "expected" in done.stderr, done.stderr


@pytest.mark.long
def test_a_target_of_a_suite_is_traced(tmp_path: Path) -> None:
    written(tmp_path)
    words = ["--in", "suite.yaml", "--added", "0 ms, 20 ms, 60 ms", "--times", "3"]
    done = pileup("trace", "se", *words, "--json", "--save", "trace.html", cwd=tmp_path)
    found = json.loads(done.stdout)
    codes = {True: 0, False: 4, None: 8}  # how near the slope is the timed tests say
    assert done.returncode == codes[found["line"]["agrees"]], (done.stdout, done.stderr)
    assert found["round_trips"] == 2 and {each["round_trips"] for each in found["sessions"]} == {2}
    assert len(found["sessions"]) == 9
    page = (tmp_path / "trace.html").read_text()
    assert page.count("<svg") == 3 and "<script" not in page and "TCP window" in page
    plain = pileup("trace", "se", *words[:2], "--added", "0 ms", "--times", "1", cwd=tmp_path)
    assert "round trips, k" in plain.stdout and "not checked" in plain.stdout, plain.stdout + plain.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["/tmp"], 5, "no connection to trace"),
        (["http://127.0.0.1:1/"], 5, "takes no connection"),
        (["se", "--in", "suite.yaml", "--added", "-5 ms"], 2, "negative"),
        (["nothing", "--in", "suite.yaml"], 2, "no target 'nothing'"),
        (["127.0.0.1", "--", "true"], 2, "is no address"),
        (["ftp://x/"], 2, "unknown"),
    ],
)
def test_what_cannot_be_traced_is_named(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    written(tmp_path)
    done = pileup("trace", *words, cwd=tmp_path)
    assert done.returncode == code and said in done.stderr, done.stdout + done.stderr


@contextlib.contextmanager
def mute(closes: bool) -> Iterator[int]:
    """Yield the port of a server that takes connections, and closes them at once or says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = listening.accept()
                    if closes:
                        line.recv(65536)  # unread data would make it a reset
                        line.close()
                    else:
                        kept.append(line)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for line in kept:
            line.close()


@pytest.mark.parametrize(("closes", "said"), [(True, "closed"), (False, "within 300 ms")])
@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "root://127.0.0.1:{}//x", "https://127.0.0.1:{}/"])
def test_a_target_that_closes_at_once_or_never_answers_is_named(
    tmp_path: Path, url: str, closes: bool, said: str
) -> None:
    words = ["--timeout", "300 ms", "--added", "0 ms", "--times", "1"]
    with mute(closes) as port:
        done = pileup("trace", url.format(port), *words, cwd=tmp_path)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "no session passed" in done.stderr and said in done.stderr, done.stderr
    assert "expected" in done.stderr and "Traceback" not in done.stderr
