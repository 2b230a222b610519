"""A step with a second target, from outside: a client of somebody's package copies from one target to another."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.seams.conftest import Command
from tests.support import run_folder

SUITE = """pileup: 1
title: Second target
targets:
  near: {kind: toy-shelf, url: NEAR}
  far: {kind: posix, url: FAR}
tests:
  - {name: send, use: toys.send, target: {near: near, far: far}}
  - {name: check, use: storage.read, target: far, after: [send], options: {folder: "", files: 3, size: 10 KiB}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The suite, with two folders as its targets."""
    path, text = tmp_path / "send.yaml", SUITE
    for name in ("near", "far"):
        (tmp_path / name).mkdir()
        text = text.replace(f"url: {name.upper()}", f"url: {tmp_path / name}")
    path.write_text(text)
    return path


def outcomes(run: Path) -> dict[str, tuple[str, str]]:
    """Return case -> outcome and reason."""
    cases = json.loads((run / "run.json").read_text())["cases"]
    return {case["name"]: (case["outcome"], case.get("reason", "")) for case in cases}


@pytest.mark.long
@pytest.mark.parametrize("isolate", ["thread", "process"])
def test_what_is_copied_is_there_counts_and_goes_with_the_run(installed: Command, suite: Path, isolate: str) -> None:
    done = installed("run", str(suite), "--quiet", "--set", f"tests.send.isolate={isolate}", cwd=suite.parent)
    run = run_folder(done)
    assert {name: outcome for name, (outcome, _) in outcomes(run).items()} == {"send": "passed", "check": "passed"}
    exported = installed("export", str(run), "--to", "toy-tabs", "--out", str(run.parent), cwd=suite.parent)
    assert exported.returncode == 0, exported.stderr
    head, *rows = [line.split("\t") for line in (run.parent / "operations.tsv").read_text().splitlines()]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [each["bytes"] for each in found if each["operation"] == "copy"] == ["10240"] * 3
    assert [list((suite.parent / name).iterdir()) for name in ("near", "far")] == [[], []]


@pytest.mark.long
def test_nothing_is_copied_out_of_the_limits_or_over_what_others_have(installed: Command, suite: Path) -> None:
    far = suite.parent / "far"
    for value, told in (
        (f"limits.inside={suite.parent / 'near'}", "it would copy to target far"),
        ("tests.send.options.folder=theirs", "outside the run's own folder"),
    ):
        (far / "theirs").mkdir(exist_ok=True)
        (far / "theirs/f000000").write_text("theirs")
        run = run_folder(installed("run", str(suite), "--quiet", "--set", value, cwd=suite.parent))
        outcome, reason = outcomes(run)["send"]
        assert (outcome, told in reason) == ("error", True), reason
        assert (far / "theirs/f000000").read_text() == "theirs"


@pytest.mark.long
def test_bytes_that_are_copied_count_for_the_limit(installed: Command, suite: Path) -> None:
    load = "tests.send.load={clients: 1, for: 20 s}"
    done = installed("run", str(suite), "--set", load, "--set", "limits.bytes=300 KiB", "--quiet", cwd=suite.parent)
    assert done.returncode == 7, done.stderr


@pytest.mark.long
def test_what_a_crash_leaves_on_both_targets_is_cleaned_up(
    installed: Command, site: dict[str, str], suite: Path
) -> None:
    runs, folders = suite.parent / "runs", [suite.parent / name for name in ("near", "far")]
    command = [sys.executable, "-m", "pileup", "run", str(suite), "--quiet", "--out", str(runs)]
    endless = ["--set", "tests.send.load={clients: 1, for: 60 s}"]
    with subprocess.Popen([*command, *endless], cwd=suite.parent, env=site, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while not list(folders[1].glob("*/f000002")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
    assert all(list(folder.glob("*/f000000")) for folder in folders)
    (run,) = runs.iterdir()
    done = installed("clean", str(run), cwd=suite.parent)
    assert (done.returncode, [list(folder.iterdir()) for folder in folders]) == (0, [[], []]), done.stderr


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("tests.send.target.far=fra", "there is no target 'fra'; expected 'far'"),
        ("tests.send.target.near=far", "the engine has no copy to a second target here; expected a target with"),
    ],
)
def test_a_suite_is_refused_before_it_runs(installed: Command, suite: Path, value: str, told: str) -> None:
    done = installed("validate", str(suite), "--set", value, cwd=suite.parent)
    assert (done.returncode, told in done.stderr + done.stdout) == (3, True), done.stderr + done.stdout
