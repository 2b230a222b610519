"""The `command` test: exit codes, output, numbers, timeouts; nothing is left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import ValidationError

from pileup.builtin.command.test import Command
from pileup.model.record import Outcome, Sample
from pileup.plugin import Context
from pileup.plugin.commands import KEPT
from pileup.plugin.testing import Iteration, run_once

SECOND = 10**9


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def run(command: str | list[str], **options: Any) -> Iteration:
    return run_once(Command, command=command, **options)


def test_exit_code_zero_passes(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("echo hello").passed
    assert capfd.readouterr().out == "hello\n"


def test_stdout_and_stderr_stay_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("echo out; echo err >&2", shell=True).passed
    assert capsys.readouterr() == ("out\n", "err\n")


def test_wrong_exit_code_fails_with_the_last_words() -> None:
    result = run("echo first >&2; echo no such table >&2; exit 3", shell=True)
    assert (result.outcome, result.error) == (Outcome.FAILED, "exit code 3, expected 0: no such table")


@pytest.mark.parametrize(("wanted", "passes"), [(3, True), ([1, 3], True), ([0, 1], False), (0, False)])
def test_exit_codes_that_pass(wanted: int | list[int], passes: bool) -> None:
    assert run("exit 3", shell=True, exit_code=wanted).passed is passes


def test_death_by_signal_is_a_negative_exit_code() -> None:
    assert run("kill -TERM $$", shell=True).error == "exit code -15, expected 0"
    assert run("kill -TERM $$", shell=True, exit_code=-15).passed


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_text_is_looked_for_in_both_streams(stream: str) -> None:
    assert run(f"echo all is well{stream}", shell=True, contains="is well").passed
    assert run("echo all is well", shell=True, contains="is ill").error == "'is ill' is not in the output"
    forbidden = run(f"echo all is well{stream}", shell=True, not_contains="is well")
    assert forbidden.error == "'is well' is in the output"


def test_no_shell_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("echo $HOME; echo 'a  b' `id`").passed
    assert capsys.readouterr().out == "$HOME; echo a  b `id`\n"


def test_input_environment_and_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sub").mkdir()
    context = Context(folder=tmp_path)
    text = "x" * 500_000
    result = run_once(
        Command,
        context=context,
        command="pwd; echo $GRID_SITE; wc -c",
        shell=True,
        stdin=text,
        environment={"GRID_SITE": "T2_DE_DESY"},
        folder="sub",
    )
    assert result.passed
    assert capsys.readouterr().out.split() == [str(tmp_path / "sub"), "T2_DE_DESY", "500000"]


def test_input_that_is_not_read_is_no_matter() -> None:
    assert run("true", stdin="x" * 1_000_000).passed


def test_missing_folder_and_missing_program_fail_in_three_parts() -> None:
    assert run("nonsuch --help").error.startswith("there is no program 'nonsuch'; expected one in PATH")
    assert run("/nonsuch/program").outcome is Outcome.FAILED
    assert run("true", folder="nonsuch").error.startswith("there is no folder 'nonsuch' to run in; expected")


def test_a_file_that_is_no_program_fails(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    assert run(str(tmp_path / "data")).error.startswith(
        f"'{tmp_path}/data' cannot be started: Permission denied; expected"
    )


@pytest.mark.long
def test_timeout_is_ambiguous_and_ends_grandchildren(tmp_path: Path) -> None:
    """A grandchild in the group, one that ignores SIGTERM, and one that has left the group."""
    code = "import os, signal, sys, time; {}; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
    ignoring = code.format("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    leaving = code.format("os.setsid()")
    names = [tmp_path / name for name in ("plain", "ignoring", "leaving")]
    starts = [
        f'"{sys.executable}" -c "{each}" {name}'
        for each, name in zip([code.format("0"), ignoring, leaving], names, strict=True)
    ]
    ready = " && ".join(f"[ -s {name} ]" for name in names)
    script = f"{' & '.join(starts)} & until {ready}; do sleep 0.05; done; echo ready; wait"
    result = run_once(Command, context=Context(timeout=3 * SECOND), command=script, shell=True)
    assert result.outcome is Outcome.AMBIGUOUS
    assert result.error.startswith("no end within 3 s; expected it to end by itself")
    pids = [int(name.read_text()) for name in names]
    assert not [pid for pid in pids if running(pid)]
    assert result.seconds < 3 + 2 + 1.5


def running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_what_a_command_leaves_behind_is_ended(capsys: pytest.CaptureFixture[str]) -> None:
    result = run("sleep 60 & echo $!", shell=True)
    assert result.passed
    assert result.seconds < 1.5
    assert not running(int(capsys.readouterr().out))


def test_a_command_under_way_ends_with_pileup() -> None:
    """As on Ctrl-C: the thread of the iteration is given up, the process exits."""
    script = (
        "import sys, threading, time\n"
        "from pileup.plugin import processes as commands\n"
        "run = lambda: commands.execute(['sleep', '60'], seconds=60)\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        "while not commands._running: time.sleep(0.01)\n"
        "print([each.pid for each in commands._running][0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20, check=True)
    assert not running(int(done.stdout))


def test_a_flood_of_output_is_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    size = 8 << 20
    result = run(python(f"import sys; sys.stdout.write('x' * {size}); sys.stderr.write('y' * 5)"))
    assert result.passed
    out, err = capsys.readouterr()
    assert out == "x" * KEPT + f"\n[{size - KEPT} more bytes cut]\n"
    assert err == "yyyyy"


def test_output_that_is_no_text_is_shown_as_far_as_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(python(r"import sys; sys.stdout.buffer.write(b'caf\xe9 \xff\x00 end')"), contains="end").passed
    assert capsys.readouterr().out == "caf\ufffd \ufffd\x00 end"


def test_a_command_that_closes_its_output_and_goes_on_is_waited_for() -> None:
    result = run(python("import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(4)"))
    assert result.error == "exit code 4, expected 0"


def test_numbers_are_reported_and_judged() -> None:
    options: dict[str, Any] = {
        "numbers": {"speed": r"([\d.]+) MB/s", "files": r"^(\d+) files"},
        "units": {"speed": "MB/s"},
    }
    command = "echo copied; echo 12 files at 98.5 MB/s"
    result = run(command, shell=True, **options)
    assert result.passed
    assert result.numbers == (Sample("speed", 98.5, "MB/s"), Sample("files", 12.0))
    slow = run(command, shell=True, **options, at_least={"speed": 200}, at_most={"files": 10})
    assert slow.error == "speed is 98.5, expected at least 200; files is 12, expected at most 10"
    assert len(slow.numbers) == 2
    assert run(command, shell=True, **options, at_least={"speed": 98.5}, at_most={"speed": 98.5}).passed


def test_a_number_that_is_not_there_fails() -> None:
    result = run("echo nothing", numbers={"speed": r"(\S+) MB/s"})
    assert result.error == r"no number 'speed' in the output, expected a match of (\S+) MB/s"
    assert not run("echo nan MB/s", numbers={"speed": r"(\S+) MB/s"}).passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "command"),
        ({"command": "echo 'open"}, "matching quotes"),
        ({"command": "  "}, "the command is empty"),
        ({"command": ["a\0b"]}, "NUL"),
        ({"command": "true", "numbers": {"x": "no group"}}, "0 groups"),
        ({"command": "true", "numbers": {"x": "("}}, "not a regular expression"),
        ({"command": "true", "numbers": {"a b": "(1)"}}, "not a name of a number"),
        ({"command": "true", "numbers": {"bytes": "(1)"}}, "a number is called 'bytes', as a field of every test is"),
        ({"command": "true", "at_least": {"speed": 1}}, "no number is called 'speed'"),
        ({"command": "true", "environment": {"A=B": "c"}}, "not a name of a variable"),
        ({"command": "true", "exit_kode": 1}, "exit_kode"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValidationError, ValueError), match=message):
        run_once(Command, **options)
