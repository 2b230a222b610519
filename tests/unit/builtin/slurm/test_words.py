"""What Slurm says is read as it is meant."""

import pytest

from pileup.builtin.slurm.words import (
    completion_job,
    history_job,
    judged,
    moment,
    problem_of,
    queue_job,
    row_job,
    state_of,
    why,
)
from pileup.model.errors import Ambiguous, Failed, Refused
from pileup.plugin.batch import Job, JobState

SECOND = 10**9
COMPLETION = (
    "JobId=2 UserId=slurm(64030) GroupId=slurm(64030) Name=b 2 JobState={state} Partition=batch TimeLimit=UNLIMITED "
    "StartTime=1795281264 EndTime=1795281265 NodeList={nodes} NodeCnt=1 ProcCnt=1 WorkDir=/tmp ReservationName= "
    "Tres=cpu=1,mem=1M,node=1,billing=1 Account= QOS= WcKey= Cluster=unknown SubmitTime=1795281261 "
    "EligibleTime=1795281261 DerivedExitCode=0:0 ExitCode={code} \n"
)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("PENDING", JobState.QUEUED),
        ("REQUEUED", JobState.QUEUED),
        ("RUNNING", JobState.RUNNING),
        ("COMPLETING", JobState.RUNNING),
        ("COMPLETED", JobState.COMPLETED),
        ("CANCELLED by 64030", JobState.CANCELLED),
        ("CANCELLED+", JobState.CANCELLED),
        ("NODE_FAIL", JobState.FAILED),
        ("OUT_OF_MEMORY", JobState.FAILED),
        ("something new", JobState.FAILED),
        ("", JobState.FAILED),
    ],
)
def test_states(word: str, state: JobState) -> None:
    assert state_of(word) is state


def test_times_are_seconds_or_local_time_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert moment("1795281261") == moment("2026-11-21T17:14:21") == 1795281261 * SECOND
    assert [moment(text) for text in ("N/A", "Unknown", "NONE", "")] == [0, 0, 0, 0]
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("word", "code", "signal", "told", "reason"),
    [
        ("COMPLETED", 0, 0, "None", ""),
        ("FAILED", 3, 0, "", "exit code 3"),
        ("FAILED", 0, 9, "", "signal 9"),
        ("FAILED", 0, 0, "NonZeroExitCode", "NonZeroExitCode"),
        ("FAILED", 0, 0, "", "FAILED"),
        ("TIMEOUT", 0, 15, "TimeLimit", "TIMEOUT"),
        ("CANCELLED by 7", 0, 0, "", "CANCELLED"),
    ],
)
def test_why_a_job_failed(word: str, code: int, signal: int, told: str, reason: str) -> None:
    assert why(word, code, signal, told) == reason


def test_lines_of_squeue() -> None:
    waits = queue_job("7|PENDING|1795281261|1795289999|1795299999|slurm||Resources|a | b")
    assert waits == Job("a | b", "7", JobState.QUEUED, 1795281261 * SECOND, reason="Resources", user="slurm")
    runs = queue_job("8|RUNNING|1795281261|1795281264|1826817213|slurm|n1|None|c")
    assert runs == Job("c", "8", JobState.RUNNING, 1795281261 * SECOND, 1795281264 * SECOND, user="slurm")
    over = queue_job("9|FAILED|1|2|3|slurm|n1|NonZeroExitCode|d")
    assert over == Job("d", "9", JobState.FAILED, SECOND, 2 * SECOND, 3 * SECOND, "NonZeroExitCode", "slurm")
    never = queue_job("5|CANCELLED|1|3|3|slurm||BeginTime|e")
    assert never == Job("e", "5", JobState.CANCELLED, SECOND, 0, 3 * SECOND, "CANCELLED", "slurm")
    assert queue_job("6_3|RUNNING|1|2|N/A|slurm|n1|None|task") is not None
    for line in ("", "slurm_load_jobs error", "6_[1-9]|PENDING|1|N/A|N/A|slurm||None|array"):
        assert queue_job(line) is None


def test_lines_of_the_completion_log() -> None:
    told = completion_job(COMPLETION.format(state="FAILED", nodes="n1", code="3:0"))
    times = (1795281261 * SECOND, 1795281264 * SECOND, 1795281265 * SECOND)
    assert told == Job("b 2", "2", JobState.FAILED, *times, "exit code 3", "slurm")
    never = completion_job(COMPLETION.format(state="CANCELLED", nodes="(null)", code="0:0"))
    assert never is not None
    assert (never.state, never.started, never.reason) == (JobState.CANCELLED, 0, "CANCELLED")
    assert completion_job("JobId=2 UserId=slurm(64030) Grou") is None


def test_lines_of_sacct() -> None:
    told = history_job("4|CANCELLED by 64030|0:0|1|2|3|slurm|n1|x|y")
    assert told == Job("x|y", "4", JobState.CANCELLED, SECOND, 2 * SECOND, 3 * SECOND, "CANCELLED", "slurm")
    waits = history_job("4|PENDING|0:0|1|Unknown|Unknown|slurm|None assigned|x")
    assert waits == Job("x", "4", JobState.QUEUED, SECOND, user="slurm")
    assert history_job("Slurm accounting storage is disabled") is None


def test_rows_of_the_data_base() -> None:
    assert row_job((3, "b", 5, 768, 1, 2, 3, 0, "n1")) == Job(
        "b", "3", JobState.FAILED, SECOND, 2 * SECOND, 3 * SECOND, "exit code 3", "root"
    )
    assert row_job((3, "b", 5, 9, 1, 2, 3, 4_000_000_000, "n1")).reason == "signal 9"
    assert row_job((3, "b", 4, 0, 1, 3, 3, 4_000_000_000, "None assigned")).started == 0
    assert row_job((3, "b", 0x4000 | 1, 0, 1, 2, 0, 4_000_000_000, "n1")).state is JobState.RUNNING
    assert row_job((3, "b", 99, 0, 1, 2, 3, 4_000_000_000, "n1")).user == "4000000000"


def test_errors_in_answers_of_either_form() -> None:
    assert problem_of(b'{"errors": [{"error_code": 11, "error": "Resource temporarily unavailable"}]}') == (
        11,
        "Resource temporarily unavailable",
    )
    assert problem_of(b'{"errors": [{"description": "unable", "error_number": 2017}]}') == (2017, "unable")
    assert problem_of(b'{"errors": []}') == (0, "")
    assert problem_of(b"Authentication failure") == (-1, "Authentication failure")
    assert problem_of(b"") == (0, "")
    assert problem_of(b'["odd"]')[0] == -1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Resource temporarily unavailable (error 11)", Refused),
        ("Slurm temporarily unable to accept job, sleeping and retrying", Refused),
        ("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", Refused),
        ("Access/permission denied", Refused),
        ("Socket timed out on send/recv operation", Ambiguous),
        ("Zero Bytes were transmitted or received (error 5005)", Ambiguous),
        ("Unable to contact slurm controller (receive failure)", Ambiguous),
        ("Unable to contact slurm controller (connect failure) (error 1800)", Failed),
        ("Invalid partition name specified", Failed),
    ],
)
def test_what_an_error_means(text: str, kind: type[Exception]) -> None:
    found = judged(text, "sbatch")
    assert type(found) is kind
    assert str(found).startswith(f"sbatch: {text}")
