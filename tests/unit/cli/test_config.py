"""The user's configuration: runs folder, defaults, endpoints; options and variables win; mistakes have their line."""

import json
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.cli.config import environment

CONFIG = """
runs: kept
defaults:
  bench: {clients: 8, for: 2 s, show: true}
  list: {json: true}
endpoints:
  scratch: {url: /mnt/scratch}
  se01: {url: "root://se01.site.org//data/pileup", token: discover}
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration where pileup looks for it."""
    monkeypatch.delenv("PILEUP_CONFIG", raising=False)
    monkeypatch.delenv("PILEUP_RUNS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "pileup" / "config.yaml"
    path.parent.mkdir()
    path.write_text(CONFIG)
    return path


def test_the_runs_are_where_it_says_unless_a_variable_says_more(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment()["PILEUP_RUNS"] == str(config.parent / "kept")
    monkeypatch.setenv("PILEUP_RUNS", "/elsewhere")
    assert environment()["PILEUP_RUNS"] == "/elsewhere"


def test_without_one_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PILEUP_RUNS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert "PILEUP_RUNS" not in environment()


def test_defaults_of_options_count_unless_they_are_given(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "scratch"]) == 0
    told = capsys.readouterr().out
    assert "clients: 8" in told
    assert "for: 2 s" in told
    assert main(["bench", "scratch", "--clients", "3"]) == 0
    assert "clients: 3" in capsys.readouterr().out


def test_an_endpoint_has_its_url_and_its_credentials(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "se01", "--show"]) == 0
    told = capsys.readouterr().out
    assert "root://se01.site.org//data/pileup" in told
    assert "token: discover" in told


def test_options_win_over_an_endpoint(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = tmp_path / "token"
    token.write_text("x")
    assert main(["check", "se01", "--show", "--token", str(token)]) == 0
    told = capsys.readouterr().out
    assert "token_file" in told
    assert str(token) in told
    assert "discover" not in told


def test_endpoints_are_listed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "endpoints"]) == 0
    found = json.loads(capsys.readouterr().out)["endpoints"]
    assert [each["name"] for each in found] == ["scratch", "se01"]
    assert [each["kind"] for each in found] == ["posix", "xrootd"]
    assert found[1]["url"] == "root://se01.site.org//data/pileup"


def test_a_misspelled_endpoint_is_said(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "se1"]) == 2
    told = capsys.readouterr().err
    assert "'se1' is neither a URL nor one of your endpoints" in told
    assert "expected 'se01'" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("endpoint: {}\n", ["config.yaml:1:1: unknown word 'endpoint'; expected 'endpoints'"]),
        ("endpoints: {a: {}}\n", ["`url` is missing"]),
        ("endpoints: {a: {url: 'https://me:pw@x/'}}\n", ["a password in a url"]),
        ("defaults: {bnech: {}}\n", ["config.yaml:1:12: there is no command 'bnech'; expected 'bench'"]),
        ("defaults: {list: {jsn: true}}\n", ["`pileup list` has no option 'jsn'; expected 'json'"]),
        ("defaults: {list: {json: perhaps}}\n", ["config.yaml:1:25: `json`: 'perhaps' is not a valid boolean"]),
        ("- a\n", ["the file holds a list"]),
        ("a: [\n", ["this is not YAML"]),
        ("runs: [1]\nendpoints: 3\n", ["`runs` is", "`endpoints` is"]),
    ],
)
def test_mistakes_are_all_told_with_their_lines(
    config: Path, text: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(text)
    assert main(["list", "endpoints"]) == 2
    shown = capsys.readouterr().err
    for each in told:
        assert each in shown
    assert "your configuration is not valid" in shown
    assert "pileup help config" in shown
    assert "pw@" not in shown


def test_help_works_whatever_it_holds(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text("a: [\n")
    assert main(["run", "--help"]) == 0
    assert main(["--help"]) == 0


def test_comments_alone_are_a_configuration(config: Path) -> None:
    config.write_text("# later\n")
    assert main(["list", "endpoints"]) == 0


def test_a_configuration_that_is_named_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PILEUP_CONFIG", str(tmp_path / "none.yaml"))
    assert main(["list", "endpoints"]) == 2
    assert "$PILEUP_CONFIG names" in capsys.readouterr().err
