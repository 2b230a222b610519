"""Help: commands in groups, examples that are commands, pages that are there, as wide as is asked for."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pileup.cli import main
from pileup.cli.app import app
from pileup.cli.command import Command, Group
from pileup.cli.table import COMMANDS, GROUPS, TOPICS
from tests.commands import fault as refused
from tests.commands import typed

ROOT = Path(__file__).resolve().parents[3]
LISTED = [name for name, entry in COMMANDS.items() if entry.says]


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that is listed, those of groups inside it too."""
    context = click.Context(app, info_name="pileup")
    for name in LISTED:
        command = app.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", each) for inner, each in command.commands.items())


EVERY = dict(all_commands())


@pytest.mark.parametrize("name", EVERY)
def test_the_first_line_of_a_command_is_short(name: str) -> None:
    first = " ".join((EVERY[name].help or "").split("\n\n")[0].split())
    assert 0 < len(first.removesuffix(".")) < 50


@pytest.mark.parametrize("name", LISTED)
def test_the_table_says_the_first_line_of_the_command(name: str) -> None:
    says = COMMANDS[name].says
    first = (EVERY[name].help or "").split("\n\n")[0]
    assert " ".join(first.split()) == f"{says}."


@pytest.mark.parametrize("name", EVERY)
def test_a_command_has_two_examples_that_are_commands(name: str) -> None:
    command = EVERY[name]
    assert isinstance(command, (Command, Group))
    assert len(command.examples) >= 2
    for what, line in command.examples:
        assert what
        assert fault(line) == ""


def fault(line: str) -> str:
    """What is wrong with a line, as far as pileup knows; what is the shell's is left out."""
    return refused(typed(re.sub(r'^eval "\$\((.*)\)"$', r"\1", line))[1:])


def test_an_example_that_is_none_is_found() -> None:
    assert fault("pileup rnu a.yaml")
    assert fault("pileup run a.yaml --sett x=1")
    assert fault("pileup run a.yaml b.yaml")
    assert fault("pileup export RUN --to csv")


@pytest.mark.parametrize("name", EVERY)
def test_the_page_of_a_command_is_there(name: str) -> None:
    command = EVERY[name]
    assert isinstance(command, (Command, Group))
    assert (ROOT / "docs" / command.page).is_file()


def test_the_commands_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    places = [told.index(f"\n{title}:\n") for title in GROUPS]
    assert places == sorted(places)
    assert told.index("Examples:") < places[0]
    for name in LISTED:
        assert f"\n  {name} " in told
    assert "\n  place " not in told
    for topic in TOPICS:
        assert f"\n  {topic} " in told


@pytest.mark.parametrize("width", [60, 100])
def test_help_is_as_wide_as_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["bench", "--help"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.lstrip().startswith("pileup ")]
    assert max(map(len, lines)) <= width
    assert max(map(len, lines)) > width - 15


def test_help_without_words_is_that_of_pileup(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    whole = capsys.readouterr().out
    assert main(["help"]) == 0
    assert capsys.readouterr().out == whole


@pytest.mark.parametrize("words", [["run"], ["practice", "storage"]])
def test_help_of_a_command_is_its_own(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    whole = capsys.readouterr().out
    assert main(["help", *words]) == 0
    assert capsys.readouterr().out == whole


@pytest.mark.parametrize(
    ("topic", "word"),
    [
        ("exit-codes", "stopped by a limit"),
        ("environment", "PILEUP_RUNS"),
        ("config", "endpoints"),
        ("units", "MiB"),
        ("selectors", "p99(copy.open.response)"),
        ("json", "ProblemData"),
    ],
)
def test_every_topic_has_a_page(topic: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert topic in TOPICS
    assert main(["help", topic]) == 0
    assert word in capsys.readouterr().out


def test_the_topics_tested_are_all() -> None:
    assert set(TOPICS) == {"exit-codes", "environment", "config", "units", "selectors", "json"}


def test_the_page_of_the_environment_names_every_variable_of_ours() -> None:
    from pileup.cli.pages.topics import VARIABLES

    named = {name for variables in VARIABLES.values() for name in variables}
    sources = "".join(path.read_text() for path in (ROOT / "src/pileup").rglob("*.py"))
    assert set(re.findall(r"PILEUP_[A-Z_]+", sources)) - {"PILEUP_COMPLETE", "PILEUP_SERVER"} <= named
    assert {"COLUMNS", "NO_COLOR"} <= named


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rnu"], ["there is no command 'rnu'", "expected pileup run"]),
        (["help", "exit-code"], ["there is no help on 'exit-code'", "expected 'exit-codes'"]),
        (["help", "practice", "storrage"], ["`pileup practice` has no command 'storrage'", "expected 'storage'"]),
        (["help", "run", "x"], ["`pileup run` has no command 'x'"]),
        (["run", "--quite", "a.yaml"], ["`pileup run` has no option --quite", "expected pileup run --quiet"]),
        (["run", "--clients", "3", "a.yaml"], ["has no option --clients", "`pileup bench` has --clients"]),
        (["run", "--zzz", "a.yaml"], ["has no option --zzz", "expected pileup run [OPTIONS] SUITE"]),
        (["run", "suite:first-rnu"], ["no shipped suite 'first-rnu'", "'suite:first-run'"]),
        (["run", "first-rnu"], ["there is no file 'first-rnu'", "'suite:first-run'"]),
        (["man", "bnech"], ["there is no command 'bnech'", "expected 'bench'"]),
        (["describe", "storage.raed"], ["no page about 'storage.raed'", "'storage.read'"]),
    ],
)
def test_the_nearest_name_is_said(words: list[str], told: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    for each in told:
        assert each in shown.err
    assert "--fleet" not in shown.err
