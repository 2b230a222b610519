"""What `pileup model` predicts of another setting, against a simulation of it."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

STUDY = """pileup: 1
title: Small study
seed: 3
targets:
  tape:
    kind: practice-tape
    launch: {nodes: 16, max_transfers: 5, drives: 2, cartridges: 5000, mount: 30 s, dismount: 15 s,
             seek: {uniform: [0 s, 70 s]}, speed: 10 MB/s}
scan: {tape.max_transfers: [1, 3, 5]}
tests:
  - {name: project, use: tape.project, options: {files: 6, size: 1 GB, work: 1 min, ahead: 5, together: 10},
     load: {clients: 24, times: 24}, timeout: 2 d}
"""


@pytest.mark.long
def test_the_truth_of_a_setting_that_was_not_used_is_in_the_interval(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    run = str(run_folder(pileup("simulate", "study.yaml", cwd=tmp_path)))
    done = pileup("model", run, "--limit", "3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["drives"] == 2
    assert [each["limit"] for each in told["known"]] == [1, 5]
    results = json.loads(pileup("show", run, "--json", cwd=tmp_path).stdout)
    (truth,) = (each for each in results["cases"] if each["name"] == "project[tape.max_transfers=3]")
    measured = {each["operation"]: each["response"]["mean"] for each in truth["operations"]}
    (expected,) = told["predictions"]
    for name in ("stager_queue", "queue_wait", "idle"):
        found = expected["figures"][name]
        assert found["low"] <= measured[name] <= found["high"], name
        assert found["high"] < 2 * found["low"]
    shown = pileup("model", run, "--limit", "3", "--limit", "5", cwd=tmp_path).stdout
    assert shown.count("expected") == 2
    assert shown.count("  measured ") == 3, "1 is known, 3 and 5 are beside what is expected"
    refused = pileup("model", run, *(f"--limit={limit}" for limit in (1, 3, 5)), cwd=tmp_path)
    assert refused.returncode == 2
    assert "is asked for: 1, 3, 5" in refused.stderr


def test_a_run_without_files_from_tape_is_refused(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(
        "pileup: 1\ntitle: Other\ntargets: {no: {kind: noop}}\n"
        "tests:\n  - {name: n, use: noop, target: no, load: {times: 3}}\n"
    )
    made = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    done = pileup("model", str(run_folder(made)), "--limit", "3", cwd=tmp_path)
    assert done.returncode == 2
    assert "have waited for a stager and a drive" in done.stderr
    assert "Traceback" not in done.stderr
