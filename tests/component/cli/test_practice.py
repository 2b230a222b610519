"""`pileup practice` ends by Ctrl-C and SIGTERM in order, at whatever moment they come."""

import subprocess
import sys

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
