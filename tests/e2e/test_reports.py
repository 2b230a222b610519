"""The reports that a suite names, in YAML and in XML, through the whole program."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

OWN = """from pileup.plugin import Report, RunResults, option


class Chat(Report):
    '''A line for a chat channel.'''

    name = "chat"
    greeting: str = option("hello", help="first word")

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        return f"{self.greeting}: {results.verdict}".encode()
"""
SUITE = """pileup: 1
title: Reports
tests: [{name: a, use: noop}]
reports:
  - {use: "./own.py:Chat", to: chat.txt, greeting: good day}
  - {use: json, to: figures.json}
"""


OWN_FILES = {"run.json", "dependence.json"}


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in (".html", ".json", ".xml", ".txt")} - OWN_FILES


@pytest.mark.long
def test_a_suite_names_its_reports_in_yaml_and_xml(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "mine.yaml").write_text(SUITE)
    assert pileup("convert", "mine.yaml", "mine.xml", cwd=tmp_path).returncode == 0
    assert '<report use="json" to="figures.json"/>' in (tmp_path / "mine.xml").read_text()
    for suite in ("mine.yaml", "mine.xml"):
        done = pileup("run", suite, "--quiet", cwd=tmp_path, drawn=True)
        folder = run_folder(done)
        assert written(folder) == {"chat.txt", "figures.json"}, done.stderr
        assert (folder / "chat.txt").read_text() == "good day: passed"
        assert json.loads((folder / "figures.json").read_text())["verdict"] == "passed"
        named = [line for line in done.stdout.splitlines() if line.startswith("report: ")]
        assert named == [f"report: {folder / 'chat.txt'}", f"report: {folder / 'figures.json'}"]
    done = pileup("report", str(folder), "--to", "./own.py:Chat", "--out", "-", cwd=tmp_path)
    assert done.stdout == "hello: passed"


@pytest.mark.long
def test_without_the_word_the_defaults_are_written(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SUITE.partition("reports:")[0])
    done = pileup("run", "mine.yaml", "--quiet", cwd=tmp_path, drawn=True)
    folder = run_folder(done)
    assert written(folder) == {"report.html", "results.json", "results.xml", "junit.xml"}
    assert f"report: {folder / 'report.html'}" in done.stdout.splitlines()
