"""Repeats that end when a figure is precise, and those that do not."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: Until precise
seed: 3
targets: {se: {kind: practice-storage, launch: {threads: 8, service: {lognormal: [5 ms, 0.4]}}}}
scan: {look.load.clients: [2, 4]}
repeat: 8
until: {figure: mean(look), within: WITHIN, at_least: 3}
tests:
  - {name: fill, use: storage.write, target: se, scope: run, options: {files: 10, size: 1 KiB}}
  - {name: look, use: storage.stat, target: se, after: [fill], options: {files: 10, size: 1 KiB}, load: {clients: 2, for: 300 ms}}
  - {name: beside, use: noop, with: [look], load: {every: 100 ms}}
  - {name: after, use: noop, after: [look], scope: run}
"""  # noqa: E501


def run(folder: Path, within: str) -> "subprocess.CompletedProcess[str]":
    (folder / "suite.yaml").write_text(SUITE.replace("WITHIN", within))
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return found


@pytest.mark.long
def test_repeats_end_when_the_figure_is_precise_at_each_point(tmp_path: Path) -> None:
    folder = tmp_path / run_folder(run(tmp_path, "60 %"))
    found = results(folder)
    until = found["run"]["until"]
    made = until["repeats"]
    assert until["reached"]
    assert 3 <= made < 8
    assert until["half"] <= 0.6
    assert {case["test"]: case["repeat"] for case in found["run"]["cases"] if case["outcome"] == "passed"} == {
        "fill": 1,
        "look": made,
        "beside": made,
        "after": 1,
    }
    assert {case["repeat"] > made for case in found["run"]["cases"] if case["outcome"] == "spared"} == {True}
    assert len(found["cases"]) == 2 + 2 * 2 * made
    assert all(len(each["repeats"]) == made for each in found["comparisons"] if each["test"] == "look")
    note = f"after {made} of at most 8 repeats."
    assert any(each.startswith("mean(look) is known within") and each.endswith(note) for each in found["notes"])
    assert (folder / "junit.xml").read_text().count("<testcase") == len(found["cases"])
    assert pileup("verify", str(folder), cwd=tmp_path).returncode == 0
    assert "every case has an outcome" in pileup("resume", str(folder), cwd=tmp_path).stderr


@pytest.mark.long
def test_all_repeats_are_made_for_a_figure_that_does_not_become_precise(tmp_path: Path) -> None:
    found = results(tmp_path / run_folder(run(tmp_path, "0.01 %")))
    assert {case["outcome"] for case in found["run"]["cases"]} == {"passed"}
    assert any(each.startswith("mean(look) is not known within 0.01 %") for each in found["notes"])
