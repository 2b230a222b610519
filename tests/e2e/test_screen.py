"""The screen on a real terminal: what it shows, its keys, and that it leaves the terminal as it was."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import FIGURES

SUITE = """
pileup: 1
title: Looked at
tests:
  - {name: one, use: noop, load: {rate: 50 /s, for: LENGTH}}
  - {name: two, use: noop}
criteria:
  - {id: C1, says: "It is quick", check: p90(one.response) < 10 s}
  - {id: C2, says: "Much is done", check: rate(one.passed) >= 1000 /s}
"""
STORE = """
pileup: 1
title: Left
targets: {disk: {kind: posix, url: "FOLDER"}}
tests:
  - {name: one, use: storage.write, target: disk, options: {files: 99999, size: 1 KiB}, load: {rate: 50 /s, for: 1 min}}
"""
NOT_MET, LEFT = 4, 6


class Terminal:
    """A terminal of 60 columns with a command in its foreground."""

    def __init__(self, folder: Path, *words: str, columns: int = 60, **environment: str) -> None:
        self.seen = ""
        self.main, self.other = pty.openpty()
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.modes = termios.tcgetattr(self.other)
        variables = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
            variables.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", LEADER, *words],
            cwd=folder,
            env={**variables, "PILEUP_RUNS": str(folder / "runs")},
            stdin=self.other,
            stdout=self.other,
            stderr=self.other,
            start_new_session=True,
        )

    def until(self, pattern: str, seconds: float = 30) -> None:
        """Read until a pattern is seen in what was written since the last time."""
        end, start = time.monotonic() + seconds, len(self.seen)
        while not re.search(pattern, self.plain(start)):
            assert time.monotonic() < end, self.plain(start)
            assert self._read(0.2) or self.process.poll() is None, self.plain(start)

    def until_shown(self, sequence: str, seconds: float = 30) -> None:
        """Read until an escape sequence was written, now or before."""
        end = time.monotonic() + seconds
        while sequence not in self.seen:
            assert time.monotonic() < end, self.seen
            self._read(0.2)

    def _read(self, seconds: float) -> bool:
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.main, 65536).decode()
        return True

    def plain(self, start: int = 0) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.seen[start:]).replace("\r\n", "\n")

    def type(self, keys: str) -> None:
        os.write(self.main, keys.encode())

    def raw(self) -> bool:
        return not termios.tcgetattr(self.other)[3] & termios.ICANON

    def ends(self) -> int:
        """Wait for the end; the terminal must be as it was before, with its cursor."""
        end = time.monotonic() + 40
        while self.process.poll() is None:
            assert time.monotonic() < end, self.plain()
            self._read(0.1)
        while self._read(0.1):
            pass
        assert termios.tcgetattr(self.other) == self.modes
        assert self.seen.rfind("\x1b[?25h") >= self.seen.rfind("\x1b[?25l"), "the cursor is hidden"
        return self.process.returncode

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.main)
        os.close(self.other)


LEADER = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "pileup", *sys.argv[1:]])
"""
"""Takes the terminal as its own, as a shell's foreground has it."""


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    found: list[Terminal] = []
    yield found
    for each in found:
        each.close()


def suite(folder: Path, length: str) -> str:
    path = folder / "suite.yaml"
    path.write_text(SUITE.replace("LENGTH", length))
    return str(path)


def run(terminals: list[Terminal], folder: Path, length: str, **environment: str) -> Terminal:
    terminals.append(Terminal(folder, "run", suite(folder, length), *FIGURES, **environment))
    return terminals[-1]


@pytest.mark.long
def test_a_run_is_announced_shown_and_summed_up(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = run(terminals, tmp_path, "3 s")
    terminal.until(r"Looked at: 2 cases, about 3\.01 s, at most ")
    terminal.until(r"✓ C1 .*wanted < 10 s")
    assert terminal.raw()
    assert terminal.ends() == NOT_MET
    told = terminal.plain()
    assert re.search(r"✓ one  passed  \d.*✓ C1 .*✗ C2", told), "a line of an ended case stays"
    last = told[told.rindex("Tested ") :].splitlines()
    assert "failed, because criterion C2 is not met" in last[0]
    assert re.fullmatch(r"✗ C2: Much is done: .*, wanted >= .*; not met", last[1]), last
    assert any(line.startswith("next: pileup run suite.yaml") for line in last), last
    assert RunFolder.open(next((tmp_path / "runs").glob("*looked-at"))).manifest().has_ended


@pytest.mark.long
def test_keys_do_what_the_last_line_says_and_q_ends_in_order(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = run(terminals, tmp_path, "1 min")
    terminal.until(r"one  measuring")
    for key, seen in (("?", r"end the run in order"), ("?", r"outcomes"), ("+", r"window 120 s"), ("f", r"FROZEN")):
        terminal.type(key)
        terminal.until(seen)
    terminal.type("f")
    terminal.until(r"f freeze")
    terminal.type("qq")
    terminal.until(r"ending in order")
    assert terminal.ends() == LEFT
    assert "ending at once" not in terminal.plain(), "q counts once"
    assert re.search(r"next: pileup resume ", terminal.plain())


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_terminal_is_as_it_was_after_a_signal(
    terminals: list[Terminal], tmp_path: Path, number: signal.Signals
) -> None:
    terminal = run(terminals, tmp_path, "1 min")
    terminal.until(r"one  measuring")
    os.kill(terminal.process.pid, number)
    assert terminal.ends() == LEFT


@pytest.mark.long
def test_a_run_whose_terminal_goes_ends_in_order(tmp_path: Path) -> None:
    """An ssh session that is lost: the run died at once, and what it had made stayed on the storage."""
    (tmp_path / "store").mkdir()
    (tmp_path / "files.yaml").write_text(STORE.replace("FOLDER", str(tmp_path / "store")))
    terminal = Terminal(tmp_path, "run", "files.yaml", *FIGURES)
    try:
        terminal.until(r"one  measuring")
        assert list((tmp_path / "store").iterdir())
        os.close(terminal.other)
        os.close(terminal.main)
        assert terminal.process.wait(30) == LEFT
        (path,) = (tmp_path / "runs").iterdir()
        info = RunFolder.open(path).manifest()
        assert (info.verdict, info.stopped) == ("stopped", "user: the terminal has gone (SIGHUP)")
        assert not list((tmp_path / "store").iterdir())
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait()


@pytest.mark.long
def test_a_run_that_is_to_outlive_its_terminal_does(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pileup", "run", suite(tmp_path, "2 s"), *FIGURES]
    started = {**os.environ, "PILEUP_RUNS": str(tmp_path / "runs")}
    process = subprocess.Popen(["nohup", *command], env=started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(tmp_path.glob("runs/*/frames/*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    assert process.wait(40) == NOT_MET


@pytest.mark.long
def test_ctrl_z_gives_the_terminal_back_and_takes_it_again(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = run(terminals, tmp_path, "1 min")
    terminal.until(r"one  measuring")
    assert terminal.raw()
    os.kill(terminal.process.pid, signal.SIGTSTP)
    # the terminal's only process group is an orphan, which the kernel does not stop: the run gives back and goes on
    terminal.until_shown("\x1b[?25h")
    terminal.until(r"one  measuring")
    end = time.monotonic() + 10
    while not terminal.raw():
        assert time.monotonic() < end
        time.sleep(0.05)
    terminal.type("\x03")
    assert terminal.ends() == LEFT


@pytest.mark.long
def test_a_dumb_terminal_gets_plain_lines_and_one_without_utf8_ascii(terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = run(terminals, tmp_path, "1 s", TERM="dumb")
    assert terminal.ends() == NOT_MET
    assert "\x1b" not in terminal.seen
    assert "one begins: open, 50 /s for 1 s" in terminal.plain()
    terminal = run(terminals, tmp_path, "1 s", PYTHONIOENCODING="ascii")
    assert terminal.ends() == NOT_MET
    assert terminal.seen.isascii()
    assert re.search(r"\+ one  passed  .* C1 .*x C2", terminal.plain())


@pytest.mark.long
def test_watch_shows_a_run_of_others_to_its_end_and_leaves_it_alone(terminals: list[Terminal], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pileup", "run", suite(tmp_path, "6 s"), *FIGURES, "--quiet"]
    with subprocess.Popen(words, cwd=tmp_path, env={**os.environ, "PILEUP_RUNS": str(tmp_path / "runs")}) as other:
        end = time.monotonic() + 20
        while not (found := list((tmp_path / "runs").glob("*looked-at/run.json"))):
            assert time.monotonic() < end
            time.sleep(0.05)
        folder = str(found[0].parent)
        terminals.append(Terminal(tmp_path, "watch", folder))
        terminals[-1].until(r"one  measuring")
        terminals[-1].type("q")
        assert terminals[-1].ends() == LEFT
        assert "the run goes on" in terminals[-1].plain()
        assert other.poll() is None
        terminals.append(Terminal(tmp_path, "watch", folder))
        assert terminals[-1].ends() == NOT_MET
        assert "criterion C2 is not met" in terminals[-1].plain()
        assert other.wait(20) == NOT_MET
