"""A program that a test runs: judged by exit code and output, ended at its timeout with all that it has started."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import psutil
import pytest

from pileup.plugin import Ambiguous, Context, Failed, Op, Test, run_command
from pileup.plugin.testing import run_once

SECOND = 10**9


def runs(pid: int) -> bool:
    """Whether a process is there and has a thread that is not dead."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1
    except psutil.NoSuchProcess:
        return False


def test_s1_8_a_program_that_does_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").touch()
    done = run_command(
        "ls -a", timeout=10 * SECOND, contains="a", not_contains="b", folder=tmp_path, environment={"LC_ALL": "C"}
    )
    assert (done.code, done.stdout.text(), done.stderr.text()) == (0, ".\n..\na\n", "")
    assert capsys.readouterr().out == ".\n..\na\n"


def test_s1_8_its_input_its_shell_and_silence(capsys: pytest.CaptureFixture[str]) -> None:
    done = run_command(
        "cat | tr a-z A-Z; exit 3", shell=True, stdin="hello", exit_code={0, 3}, timeout=SECOND, show=False
    )
    assert (done.code, done.stdout.text()) == (3, "HELLO")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("false", {}, "exit code 1, expected 0"),
        (["sh", "-c", "echo no >&2; exit 2"], {"exit_code": (0, 1)}, "exit code 2, expected 0 or 1: no"),
        ("echo hello", {"contains": "bye"}, "'bye' is not in the output"),
        ("echo hello", {"not_contains": "hell"}, "'hell' is in the output"),
        ("no-such-program-73 x", {}, "there is no program 'no-such-program-73'; expected one in PATH, or a path"),
        ("true", {"folder": Path("/no/such/folder")}, "there is no folder '/no/such/folder' to run 'true' in"),
        ("/etc/passwd", {}, "'/etc/passwd' cannot be started: Permission denied"),
    ],
)
def test_s1_8_one_that_does_not(command: str | list[str], options: dict[str, object], said: str) -> None:
    with pytest.raises(Failed) as caught:
        run_command(command, timeout=10 * SECOND, **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(said)


def test_s1_8_any_exit_code_will_do() -> None:
    assert run_command("false", timeout=SECOND, exit_code=None).code == 1


def test_s1_8_at_its_timeout_it_is_ended_with_all_its_group(tmp_path: Path) -> None:
    begin = time.monotonic()
    with pytest.raises(Ambiguous, match="no end within 300 ms; expected it to end by itself"):
        run_command(f"sleep 60 & echo $! > {tmp_path}/child; wait", shell=True, timeout=3 * SECOND // 10)
    assert time.monotonic() - begin < 5
    assert not runs(int((tmp_path / "child").read_text()))


LEFT_BY_ITS_FIRST_THREAD = """
import ctypes, pathlib, os, signal, sys, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=time.sleep, args=(60,)).start()
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.mark.parametrize("beside", ["", "& wait"])
def test_a_program_whose_first_thread_has_ended_is_not_over(tmp_path: Path, beside: str) -> None:
    """Its process has the state of a zombie, while others of its threads go on; so for a moment has any that dies."""
    program = shlex.join([sys.executable, "-c", LEFT_BY_ITS_FIRST_THREAD, f"{tmp_path}/pid"])
    with pytest.raises(Ambiguous, match="no end within 2 s"):
        run_command(f"{program} {beside}" if beside else f"exec {program}", shell=True, timeout=2 * SECOND)
    assert not runs(int((tmp_path / "pid").read_text()))


class Converts(Test):
    """Runs a program in its iterations, as the tests of others do."""

    def run(self, op: Op) -> None:
        with op("convert") as converting:
            done = run_command([sys.executable, "-c", "print(6 * 7)"], timeout=self.context.timeout, contains="42")
            converting.bytes = len(done.stdout.text())


def test_s1_8_in_a_test_of_somebody_else() -> None:
    result = run_once(Converts, context=Context(timeout=20 * SECOND))
    assert result.passed, result.error
    assert result.operations[0].bytes == 3
