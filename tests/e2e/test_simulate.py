"""Suites in virtual time, as users run them: the tuning study at the scale of its paper, and what is refused."""

import json
import time
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

SMALL = """pileup: 1
title: Tape
targets: {tape: {kind: practice-tape, launch: {nodes: 2, max_transfers: 1, drives: 2}}}
tests:
  - {name: project, use: tape.project, options: {files: 3}, load: {clients: 4, times: 4}, timeout: 1 d}
criteria:
  - {id: C1, says: All is there within a day, check: max(project.response) < 24 h}
"""


@pytest.mark.long
def test_hours_go_by_in_seconds_and_the_report_says_so(tmp_path: Path) -> None:
    (tmp_path / "tape.yaml").write_text(SMALL)
    done = pileup("simulate", "tape.yaml", cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    assert "Simulated" in done.stdout
    assert "Simulated" in (folder / "report.html").read_text()
    assert json.loads((folder / "run.json").read_text())["simulated"] is True
    assert pileup("verify", str(folder), cwd=tmp_path).returncode == 0


def test_what_is_real_is_refused_by_name(tmp_path: Path) -> None:
    done = pileup("simulate", "suite:first-run", cwd=tmp_path)
    assert done.returncode == 3
    assert "target se is of kind practice-storage, which has no machine in virtual time" in done.stderr
    assert "[not-simulated]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
def test_what_is_simulated_alone_is_not_run_for_real(command: str, tmp_path: Path) -> None:
    done = pileup(command, "suite:cache-strategies", cwd=tmp_path)
    assert done.returncode == 3
    assert "no server of kind 'practice-tape' has 'cache', 'cache_size', 'warm'" in done.stderr
    assert "hint: `pileup simulate`" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_suite_is_checked_for_a_simulation(command: str, tmp_path: Path) -> None:
    assert pileup(command, "suite:cache-strategies", "--simulate", cwd=tmp_path).returncode == 0
    done = pileup(command, "suite:first-run", "--simulate", cwd=tmp_path)
    assert done.returncode == 3
    assert "[not-simulated]" in done.stderr


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_a_target_that_is_nowhere_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "tape.yaml").write_text(SMALL.replace(", launch: {nodes: 2, max_transfers: 1, drives: 2}", ""))
    done = pileup(command, "tape.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "tape.yaml:3:17: target 'tape' has no url; expected `url`, or `launch`" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("suite", ["samgrid-tuning", "cache-strategies"])
def test_a_study_shows_all_that_it_says(suite: str, tmp_path: Path) -> None:
    """Every criterion is met by its whole interval: of the tuning study with 3 of its 4 repeats."""
    began = time.monotonic()
    done = pileup("simulate", f"suite:{suite}", "--set", "repeat=3", "--json", cwd=tmp_path, timeout=280)
    took = time.monotonic() - began
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert {each["verdict"] for each in told["criteria"]} == {"met"}, told["criteria"]
    assert took < 280, "under 60 s on a machine that is not shared"


@pytest.mark.long
def test_the_tail_of_ten_thousand_workers_is_short(tmp_path: Path) -> None:
    done = pileup("simulate", "suite:analysis-tail", "--json", cwd=tmp_path, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {each["verdict"] for each in json.loads(done.stdout)["criteria"]} == {"met"}
