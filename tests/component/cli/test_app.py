"""The group of commands: light to start, and every exception becomes a message and an exit code."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from pileup.cli import app, main
from pileup.cli.table import COMMANDS, Entry
from pileup.model.errors import DamagedRecord, PluginError, Problem, RecordError, SuiteError, TargetError, UsageError

HEAVY = ("duckdb", "altair", "numpy", "pydantic", "yaml", "rich", "jinja2", "psutil", "pileup._core._native")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"], ["validate", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from pileup.cli import main\n"
        f"main({arguments})\n"
        f"print('heavy', [name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.endswith("heavy []\n"), done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["list"], ["describe", "timeline"], ["describe", "html"]])
def test_plug_ins_are_listed_without_what_charts_draw_with(arguments: list[str]) -> None:
    code = f"import sys\nfrom pileup.cli import main\nmain({arguments})\nprint('altair' in sys.modules)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("False\n"), done.stderr


def test_python_m_pileup_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "nothing"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "there is no command 'nothing'" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert f"Usage: pileup {name}" in capsys.readouterr().out


def test_the_list_of_commands_shows_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert "..." not in told.partition("\nRun:\n")[2]
    for name in set(COMMANDS) - {"place"}:  # pileup itself calls that one, at the other hosts of a fleet
        assert f"\n  {name} " in told
    assert "\n  place " not in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["vaildate"], "there is no command 'vaildate'"),
        (["push", "a"], "`pileup push` is reserved: not yet built"),
        (["validate"], "Missing argument 'SUITE'"),
        (["validate", "--colour", "x"], "has no option --colour"),
        (["validate", "nothing.yaml"], "there is no file 'nothing.yaml'"),
        (["validate", "suite:nothing"], "there is no shipped suite 'nothing'"),
        (["validate", "a\0b"], "there is no file"),
        (["list", "things"], "KIND is 'things'"),
    ],
)
def test_a_wrong_command_line_is_exit_2(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "\nRun:\n" in capsys.readouterr().err


def raising(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a command that raises."""

    @click.command("bad")
    def command() -> None:
        raise problem

    monkeypatch.setattr(app.Commands, "get_command", lambda *_: command)
    monkeypatch.setitem(COMMANDS, "bad", Entry("", "Raise"))
    return main(["bad"])


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (UsageError("what", "this", "do that"), 2),
        (SuiteError((Problem("f:1:2", "what", "this", "do that"),)), 3),
        (PluginError("what", "this", "do that"), 3),
        (TargetError("what", "this", "do that"), 5),
        (RecordError("what", "this", "do that"), 70),
        (DamagedRecord("what", "this", "do that"), 3),
    ],
)
def test_errors_are_told_in_three_parts(
    problem: Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert raising(problem, monkeypatch) == code
    told = capsys.readouterr().err
    assert "what" in told
    assert "expected this" in told
    assert "do that" in told
    assert "Traceback" not in told
    assert "\x1b" not in told


def test_a_fault_of_ours_is_exit_70_with_its_traceback_in_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("PILEUP_DEBUG", raising=False)
    assert raising(RuntimeError("deep inside\nmore"), monkeypatch) == 70
    told = capsys.readouterr().err
    assert "an internal error of pileup itself: RuntimeError: deep inside" in told
    assert "Traceback" not in told
    (file,) = tmp_path.iterdir()
    assert str(file) in told
    assert "Traceback" in file.read_text()
    assert "raise problem" in file.read_text()


def test_pileup_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PILEUP_DEBUG", "1")
    assert raising(RuntimeError("deep inside"), monkeypatch) == 70
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_exit_6(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert raising(KeyboardInterrupt(), monkeypatch) == 6
    assert "stopped by the user" in capsys.readouterr().err


def test_an_exit_code_of_a_command_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert raising(click.exceptions.Exit(4), monkeypatch) == 4


def test_a_reader_that_has_gone_is_no_fault() -> None:
    code = "import sys; from pileup.cli import main; sys.exit(main(['schema']))"
    done = subprocess.run(
        f'{sys.executable} -c "{code}" | head -c 1', shell=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "{"
    assert done.stderr == ""


@pytest.mark.parametrize("word", ["find", "hold"])
def test_a_word_of_the_suite_is_described_although_a_chart_has_its_name(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", word]) == 0
    told = capsys.readouterr().out
    assert f"chart {word}" in told
    assert f"load.{word}` in a suite" in told


def test_a_key_without_keys_of_its_own_is_described_wherever_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "every"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("`every` in a suite\n\nmonitors[]\n")
    assert "tests[].load\n" in told
    assert "interval between iterations" in " ".join(told.split())
    assert "think" not in told
