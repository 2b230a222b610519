"""How runs end: every exit code, Ctrl-C once and twice, kill -9; what was measured is kept, no server is left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.support import pileup, run_folder

HEAD = "pileup: 1\ntitle: Ending\n"
SERVER = "targets: {se: {kind: practice-storage, launch: {threads: 4, service: 5 ms}}}\n"


@pytest.mark.parametrize(
    ("suite", "code"),
    [
        ("tests: [{name: a, use: noop}]", 0),
        ("tests: [{name: a, use: command, options: {command: 'false'}}]", 1),
        ("tests: [{name: a, use: noop, load: {rate: -1}}]", 3),
        ("tests: [{name: a, use: noop}]\ncriteria: [{id: C, says: s, check: count(a.failed) > 0}]", 4),
        (
            "targets: {t: {kind: webdav, url: 'http://127.0.0.1:9/'}}\ntests: [{name: a, use: storage.list}]",
            5,
        ),
        ("limits: {operations: 50}\ntests: [{name: a, use: noop, load: {clients: 1, for: 5 s}}]", 7),
        ("tests: [{name: a, use: noop}]\ncriteria: [{id: C, says: s, check: max(node.load1) > 0}]\nmonitors: []", 3),
        (
            "tests: [{name: a, use: noop}]\nmonitors: [{use: command, command: 'false'}]\n"
            "criteria: [{id: C, says: s, check: max(command.x) > 0}]",
            8,
        ),
    ],
)
def test_an_ending_has_its_exit_code(suite: str, code: int, tmp_path: Path) -> None:
    targets = "" if "targets" in suite else "targets: {nothing: {kind: noop}}\n"
    (tmp_path / "s.yaml").write_text(HEAD + targets + suite + "\n")
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if code != 3:
        info = json.loads((tmp_path / run_folder(done) / "run.json").read_text())
        assert (info["exit_code"], info["state"]) == (code, "ended")


@pytest.mark.long
def test_the_summary_may_be_short(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        f"{HEAD}targets: {{nothing: {{kind: noop}}}}\ntests: [{{name: a, use: noop}}]\n"
        "criteria: [{id: C1, says: It fails, check: count(a.failed) > 0}]\n"
    )
    full, compact, none = (
        pileup("run", "s.yaml", "--quiet", "--summary", each, cwd=tmp_path) for each in ("full", "compact", "none")
    )
    assert [each.returncode for each in (full, compact, none)] == [4, 4, 4]
    assert none.stdout.splitlines() == [str(run_folder(none))]
    told = compact.stdout.splitlines()
    assert "Tested" in told[0]
    assert "C1: It fails" in told[1]
    assert told[-1] == str(run_folder(compact))
    assert len(told) <= 5
    assert "Outcome" not in compact.stdout
    assert "Outcome" in full.stdout
    assert full.stdout.splitlines()[1 - len(told)][:8] == told[1][:8], "its end is the compact one"


def test_a_wrong_command_line_is_told_without_a_traceback(tmp_path: Path) -> None:
    for words in (["run"], ["run", "nothing.yaml"], ["fly"], ["run", "suite:nothing"], ["show", "nowhere"]):
        done = pileup(*words, cwd=tmp_path)
        assert done.returncode == 2, (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()


LONG = (
    HEAD
    + SERVER
    + (
        "tests:\n"
        "  - {name: fill, use: storage.write, target: se, options: {files: 5, size: 1 KiB}}\n"
        "  - {name: read, use: storage.read, options: {files: 5, size: 1 KiB}, load: {clients: 4, for: 1 min}}\n"
        "  - {name: more, use: storage.list, target: se}\n"
    )
)


def begin(tmp_path: Path) -> tuple["subprocess.Popen[str]", Path]:
    """Begin a long run and wait until it presses."""
    (tmp_path / "long.yaml").write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", "run", "long.yaml", "--out", "runs"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(300):
        folders = list((tmp_path / "runs").glob("*"))
        events = folders[0] / "events/events.jsonl" if folders else tmp_path / "none"
        if events.is_file() and '"read begins' in events.read_text():
            time.sleep(2.5)
            return process, folders[0]
        time.sleep(0.1)
    process.kill()
    raise AssertionError("the run did not begin to press")


def servers_of(folder: Path) -> list[int]:
    """The pids of the servers that a run has launched."""
    entries = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    return [entry["pid"] for entry in entries if entry.get("state") == "started"]


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_run_and_keeps_what_was_measured(times: int, tmp_path: Path) -> None:
    process, folder = begin(tmp_path)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    output, problems = process.communicate(timeout=30)
    assert process.returncode == 6, output + problems
    cases = {case["name"]: case for case in json.loads((folder / "results.json").read_text())["cases"]}
    assert cases["read"]["operations"][0]["counts"]["passed"] > 100
    assert cases["more"]["outcome"] == "not run"
    assert (folder / "report.html").is_file()
    with (folder / "servers/se/practice-storage.csv").open() as log:
        deleted = sum(",DELETE," in line for line in log)
    assert times == 2 or deleted == 5, "what the run has made is removed, unless it was told to end at once"
    assert not [pid for pid in servers_of(folder) if psutil.pid_exists(pid)]


@pytest.mark.long
def test_after_kill_9_the_folder_is_readable(tmp_path: Path) -> None:
    process, folder = begin(tmp_path)
    process.kill()
    process.communicate(timeout=30)
    for pid in servers_of(folder):  # what a crash leaves is known by its pid
        os.killpg(pid, signal.SIGKILL)
    shown = pileup("show", str(folder), cwd=tmp_path)
    assert "read" in shown.stdout, shown.stdout + shown.stderr
    exported = pileup("export", str(folder), "--to", "csv", "--out", "data", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    lines = (tmp_path / "data/operations.csv").read_text().splitlines()
    assert len(lines) > 100
