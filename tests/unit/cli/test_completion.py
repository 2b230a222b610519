"""Completion and manual pages: made from the commands."""

import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from pileup.cli import main
from pileup.cli.app import app
from pileup.cli.table import COMMANDS


def completed(*words: str) -> list[str]:
    """What a shell is offered for the last word."""
    found = ShellComplete(app, {}, "pileup", "_X").get_completions(list(words[:-1]), words[-1])
    return [each.value for each in found if each.type == "plain"]


def test_commands_are_completed_without_importing_them() -> None:
    assert completed("ru") == ["run"]
    assert "place" not in completed("")
    assert set(completed("")) == {name for name, entry in COMMANDS.items() if entry.says}


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("run", "--qu"), ["--quiet"]),
        (("--ver",), ["--version"]),
        (("run", "suite:first"), ["suite:first-run"]),
        (("validate", "a.yaml", "--format", ""), ["text", "json", "github"]),
        (("help", "exit"), ["exit-codes"]),
        (("completion", "z"), ["zsh"]),
        (("man", "ben"), ["bench"]),
    ],
)
def test_options_values_and_suites_are_completed(words: tuple[str, ...], wanted: list[str]) -> None:
    assert set(wanted) <= set(completed(*words))


def test_run_folders_are_completed_the_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("2026-11-01-a", "2026-11-02-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("PILEUP_RUNS", str(tmp_path))
    assert completed("show", "") == [str(tmp_path / "2026-11-02-b"), str(tmp_path / "2026-11-01-a")]
    assert completed("compare", str(tmp_path / "2026-11-01")) == [str(tmp_path / "2026-11-01-a")]


def test_endpoints_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("endpoints: {se01: {url: /tmp}}\n")
    monkeypatch.setenv("PILEUP_CONFIG", str(path))
    assert completed("check", "se") == ["se01"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_says_where_it_belongs(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    told = capsys.readouterr().out
    assert f"pileup completion {shell} >" in told
    assert f"_PILEUP_COMPLETE={shell}_complete" in told


def test_there_is_a_manual_page_for_every_command(tmp_path: Path) -> None:
    assert main(["man", "--out", str(tmp_path)]) == 0
    names = {name for name, entry in COMMANDS.items() if entry.says}
    assert {path.name for path in tmp_path.iterdir()} == {"pileup.1", *(f"pileup-{name}.1" for name in names)}
    text = (tmp_path / "pileup-bench.1").read_text()
    for wanted in (".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES", ".SH EXIT STATUS", "\\-\\-clients"):
        assert wanted in text
    assert not [line for line in text.splitlines() if line.startswith("'")]


def test_a_page_goes_into_a_pipe_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert not sys.stdout.isatty()
    assert main(["man", "run"]) == 0
    assert capsys.readouterr().out.startswith('.TH "PILEUP-RUN" "1"')


def test_what_a_context_offers_is_a_command() -> None:
    context = click.Context(app)
    assert all(app.get_command(context, name) is not None for name in COMMANDS)
