"""The practice storage under clients written apart: litmus, the test suite for WebDAV servers, and rclone."""

import os
import re
import subprocess
from pathlib import Path

from tests.servers.practice import practice_storage
from tests.support import require_program

SUITES = {"basic": 16, "copymove": 13, "props": 30, "http": 4}
"""Suites of litmus for servers of class 1, and how many tests each has at least where none is skipped."""


def _run(command: list[str], folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    around = {**os.environ, **environment}
    return subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, timeout=60, check=False)


def test_a11_litmus_passes_for_class_1(tmp_path: Path) -> None:
    require_program("litmus", "apt-get install litmus")
    with practice_storage() as url:
        done = _run(["litmus", "-k", url], tmp_path, TESTS=" ".join(SUITES))
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(r"summary for `(\w+)': of (\d+) tests run: (\d+) passed, (\d+) failed", done.stdout)
    assert [name for name, *_ in told] == list(SUITES), done.stdout
    for name, run, passed, failed in told:
        assert (int(passed), int(failed)) == (int(run), 0), done.stdout
        assert int(run) >= SUITES[name], done.stdout


def test_a11_rclone_moves_and_copies(tmp_path: Path) -> None:
    require_program("rclone", "apt-get install rclone")
    (tmp_path / "f").write_bytes(b"content" * 1000)
    (tmp_path / "none.conf").touch()
    with practice_storage() as url:
        remote = f":webdav,url='{url}':"
        for words in (
            ["copyto", "f", f"{remote}in/a"],
            ["moveto", f"{remote}in/a", f"{remote}in/b"],
            ["copyto", f"{remote}in/b", f"{remote}out/c"],
        ):
            done = _run(["rclone", "--config", "none.conf", "--retries", "1", *words], tmp_path)
            assert done.returncode == 0, done.stdout + done.stderr
        found = _run(["rclone", "--config", "none.conf", "lsf", "-R", "--files-only", remote], tmp_path)
        assert sorted(found.stdout.split()) == ["in/b", "out/c"]
        back = _run(["rclone", "--config", "none.conf", "cat", f"{remote}out/c"], tmp_path)
    assert back.stdout == (tmp_path / "f").read_text()
