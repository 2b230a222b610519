"""S25: a suite is code; with --static none of it is imported."""

from pathlib import Path

import pytest

from pileup.cli import main

SUITE = """
pileup: 1
title: t
options: {common: 3}
targets:
  own: {kind: "./own.py:Place", url: "own://here", options: {speed: fast}}
  web: {kind: http, url: "http://127.0.0.1:1/"}
tests:
  - {name: mine, use: "./own.py:Mine", target: own, options: {size: 3, deep: {a: [1]}}, load: {clients: 2, for: 1 s}}
  - {name: get, use: http.request, target: web}
monitors: [{use: "./own.py:Meter", colour: red}]
scan: {mine.size: [1, 2]}
criteria: [{id: C, says: s, check: p50(mine) < 1 s}]
"""
OWN = "import pathlib\npathlib.Path(__file__).with_name('executed').touch()\n"


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_s25_nothing_of_a_suite_is_imported(tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "s.yaml").write_text(SUITE)
    assert main([command, "--static", str(tmp_path / "s.yaml")]) == 0, capfd.readouterr().err
    assert not (tmp_path / "executed").exists()
    assert main([command, str(tmp_path / "s.yaml")]) == 3
    assert (tmp_path / "executed").exists(), "without the word it is"


def test_s25_faults_of_the_rest_are_told_all_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(SUITE.replace("http.request,", "http.request, options: {no: 1},"))
    assert main(["validate", "--static", str(tmp_path / "s.yaml")]) == 3
    assert "has no option 'no'" in capfd.readouterr().err
