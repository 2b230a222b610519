"""What a job is, the line that a shell runs for it, and what a system says that cannot do a thing."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pileup.model.errors import Refused
from pileup.model.program import ClientSpec
from pileup.model.record import Outcome
from pileup.plugin.batch import (
    BatchTarget,
    Changes,
    Delegation,
    Job,
    JobSpec,
    JobState,
    Purged,
    Submission,
    shell_line,
)


class Modest(BatchTarget):
    """A system that can do nothing beyond what it must."""

    kind = "modest"

    def client(self) -> ClientSpec:
        raise NotImplementedError

    def submit(self, jobs: Sequence[JobSpec]) -> list[Submission]:
        raise NotImplementedError

    def status(self, names: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Job]:
        raise NotImplementedError

    def changes(self, cursor: str, still_open: Callable[[], Sequence[str]], most: int = 5000) -> Changes:
        raise NotImplementedError

    def cancel(self, ids: Sequence[str]) -> list[str]:
        raise NotImplementedError

    def purge(self, ids: Sequence[str] = (), oldest: int = 0) -> Purged:
        raise NotImplementedError

    def counts(self) -> dict[JobState, int]:
        raise NotImplementedError

    def history(self, names: Sequence[str]) -> list[Job]:
        raise NotImplementedError

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        raise NotImplementedError

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        raise NotImplementedError


def shell(job: JobSpec) -> "subprocess.CompletedProcess[str]":
    command = ["/bin/sh", "-c", shell_line(job)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)


@pytest.mark.parametrize(
    ("job", "line"),
    [
        (JobSpec("a", 60 * 10**9), "exec sleep 60.000"),
        (JobSpec("a", 1), "exec sleep 0.000"),
        (JobSpec("a", 400_000, work="cpu"), "exec true"),
        (JobSpec("a", 10**9, environment={"A": "x y", "B": ""}), "export A='x y'; export B=''; exec sleep 1.000"),
        (JobSpec("a", command=("echo", "it's $HOME", "*"), work="command"), "exec echo 'it'\"'\"'s $HOME' '*'"),
    ],
)
def test_a_job_is_one_line(job: JobSpec, line: str) -> None:
    assert shell_line(job) == line


def test_a_core_is_busy_for_a_bounded_time() -> None:
    begin = time.monotonic()
    assert shell(JobSpec("a", 50_000_000, work="cpu")).returncode == 0
    assert time.monotonic() - begin >= 0.05


def test_a_command_is_run_as_it_is_written() -> None:
    done = shell(JobSpec("a", command=("printf", "%s|", "a b", "$(id)", "'"), work="command"))
    assert (done.returncode, done.stdout) == (0, "a b|$(id)|'|")
    assert shell(JobSpec("a", command=("false",), work="command")).returncode == 1


@pytest.mark.parametrize(
    ("job", "code"),
    [
        (JobSpec("a", 1, files={"f": b"x"}), 0),
        (JobSpec("a", 50_000_000, work="cpu", files={"f": b"x"}), 0),
        (JobSpec("a", command=("grep", "-q", "x", "f"), work="command", files={"f": b"x"}), 0),
        (JobSpec("a", command=("grep", "-q", "y", "f"), work="command", files={"f": b"x"}), 1),
        (JobSpec("a", command=("sh", "-c", "kill -TERM $$"), work="command", files={"f": b"x"}), 143),
    ],
)
def test_a_job_with_files_ends_as_its_work_and_leaves_no_folder(
    job: JobSpec, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert shell(job).returncode == code
    assert list(tmp_path.iterdir()) == []


def test_a_job_with_files_leaves_no_folder_when_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = ["/bin/sh", "-c", shell_line(JobSpec("a", 60 * 10**9, files={"f": b"x"}))]
    with subprocess.Popen(command, start_new_session=True) as process:
        end = time.monotonic() + 10
        while not list(tmp_path.glob("*/f")) and time.monotonic() < end:
            time.sleep(0.02)
        assert list(tmp_path.glob("*/f"))
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(10) == 143
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "wrong", [{"work": "command"}, {"command": ("true",)}, {"command": ("true",), "work": "cpu"}], ids=str
)
def test_a_command_and_its_work_belong_together(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"expected a command with work `command`, and none with any other"):
        JobSpec("a", **wrong)  # type: ignore[arg-type]


def test_what_a_system_cannot_do_is_refused() -> None:
    target = Modest("here")
    with pytest.raises(Refused, match=r"kind 'modest' cannot take one back; expected"):
        target.revoke(Delegation("7", 0))
    with pytest.raises(Refused, match=r"user 'eve' cannot be registered.*; expected"):
        target.introduce("eve")


@pytest.mark.parametrize(
    ("reason", "told"),
    [("", "cancelled"), ("CANCELLED by 0", "CANCELLED by 0"), ("ended on request", "cancelled: ended on request")],
)
def test_what_is_told_of_a_cancelled_job_begins_with_that_word_whatever_the_system_says(reason: str, told: str) -> None:
    job = Job("a", "1", JobState.CANCELLED, reason=reason)
    assert job.verdict == (Outcome.FAILED, told)


@pytest.mark.parametrize("files", [{}, {"f": b"x"}])
@pytest.mark.parametrize(("made", "code"), [("printf hi >'out 1'; printf ho >o2", 0), ("printf hi >'out 1'", 1)])
def test_outputs_are_left_where_the_job_began_and_a_job_without_them_fails(
    files: dict[str, bytes], made: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "session").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "session")
    outputs = ("out 1", "o2")
    done = shell(JobSpec("a", command=("sh", "-c", made), work="command", files=files, outputs=outputs))
    assert bool(done.returncode) == bool(code)
    assert list((tmp_path / "tmp").iterdir()) == []
    left = {path.name: path.read_text() for path in (tmp_path / "session").iterdir()}
    assert left["out 1"] == "hi"
    assert left.get("o2") == (None if code else "ho")
    assert "f" not in left
