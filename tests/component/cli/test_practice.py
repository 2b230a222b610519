"""`pileup practice` ends by Ctrl-C and SIGTERM in order, at whatever moment they come, and says why it cannot begin."""

import http.client
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pileup.model.exits import ExitCode

SERVED = """
import os, signal, sys, threading
from pileup._core._native import PracticeBatch
from pileup.cli import practice
from pileup.model.practice import BatchSettings

class Moment:
    '''Sends SIGTERM before a line of Python, counted from when the server is ready: wherever the thread is then.'''

    def __init__(self, number):
        self.left = number
        self.waited = False
        self.late = threading.Timer(0.3, self.end)

    def begin(self, _):
        self.late.start()
        sys._getframe(1).f_trace = self.look
        sys.settrace(self.look)

    def end(self):
        self.waited = True
        os.kill(os.getpid(), signal.SIGTERM)

    def look(self, frame, event, _):
        self.left -= event == "line"
        if event == "line" and self.left == 0 and not self.waited:
            self.late.cancel()
            signal.raise_signal(signal.SIGTERM)
        return self.look

for number in range(1, 200):
    moment = Moment(number)
    practice.echo = moment.begin
    practice._serve("batch", PracticeBatch, BatchSettings())
    sys.settrace(None)
    if moment.waited:
        break
print("ended", number, "times")
"""


def test_a_signal_before_any_line_ends_it() -> None:
    done = subprocess.run([sys.executable, "-c", SERVED], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    number = int(done.stdout.split()[1])
    assert 1 < number < 199, "before it waits, and the last while it waits"


@pytest.mark.parametrize("kind", ["storage", "s3", "batch", "tape", "issuer"])
def test_a_port_that_is_taken_is_no_error_of_pileup(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [sys.executable, "-m", "pileup", "practice", kind, "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stderr.startswith(f"error: port {port} of 127.0.0.1 is taken; expected a free one (choose another")
    assert done.returncode == ExitCode.TARGET_UNREACHABLE


def test_a_log_that_cannot_be_made_is_no_error_of_pileup(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pileup", "practice", "storage", "--log", str(tmp_path / "nowhere" / "log.csv")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert "nowhere/log.csv cannot be made" in done.stderr
    assert "expected a file in a folder that is there" in done.stderr
    assert done.returncode == ExitCode.TARGET_UNREACHABLE


def test_a_tape_library_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    events = tmp_path / "tape.csv"
    options = ["--speed-up", "1e6", "--files", "1e6", "--size", "{lognormal: [1 GB, 0.5]}", "--events", str(events)]
    command = [sys.executable, "-m", "pileup", "practice", "tape", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        assert ready.startswith("pileup practice tape ready at http://127.0.0.1:")
        connection = http.client.HTTPConnection("127.0.0.1", int(ready.rstrip("/\n").rpartition(":")[2]), timeout=10)
        connection.request("GET", "/read?path=/tape/0999999")
        assert connection.getresponse().status == 200
        connection.close()
        process.terminate()
        assert process.wait(10) == 0
    words = [line.split(",")[2] for line in events.read_text().splitlines()]
    expected = ["event", "start", "wanted", "queued", "assigned", "mounted", "begun", "delivered", "left", "stop"]
    assert words == expected
