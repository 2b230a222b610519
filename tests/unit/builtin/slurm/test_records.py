"""What became of jobs, read in pages from a completion log and from what the controller remembers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.builtin.slurm.commands import Commands
from pileup.builtin.slurm.records import CompletionRecords, SacctRecords, login_of
from pileup.model.errors import Failed, TargetError
from pileup.plugin.batch import Job, JobState

LINE = (
    "JobId={id} UserId=slurm(64030) GroupId=slurm(64030) Name={name} JobState=COMPLETED Partition=batch "
    "TimeLimit=UNLIMITED StartTime=2 EndTime=3 NodeList=n1 NodeCnt=1 SubmitTime=1 EligibleTime=1 "
    "DerivedExitCode=0:0 ExitCode=0:0 \n"
)


def ended(first: int, last: int) -> str:
    return "".join(LINE.format(id=number, name=f"job-{number}") for number in range(first, last + 1))


def running(*numbers: int) -> Callable[[], list[Job]]:
    return lambda: [Job(f"job-{number}", str(number), JobState.RUNNING, 1, 2) for number in numbers]


def nothing() -> list[str]:
    return []


def follow(records: CompletionRecords, cursor: str, most: int) -> tuple[list[str], str]:
    """Return the ids of one look, page by page, and the cursor behind it."""
    ids: list[str] = []
    while True:
        page = records.changes(cursor, nothing, most)
        assert len(page.jobs) <= most
        ids += [job.id for job in page.jobs]
        cursor = page.cursor
        if not page.more:
            return ids, cursor


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 100])
def test_pages_of_any_size_tell_each_once(tmp_path: Path, most: int) -> None:
    log = tmp_path / "completions"
    log.write_text(ended(1, 5))
    records = CompletionRecords(str(log), running(12, 9, 10), every=0)
    ids, cursor = follow(records, "", most)
    assert ids == ["1", "2", "3", "4", "5", "9", "10", "12"]
    late = ended(10, 10)
    with log.open("a") as more:
        more.write(ended(9, 9) + late[:50])
        more.flush()
        ids, cursor = follow(records, cursor, most)
        assert ids == ["9", "9", "10", "12"], "half a line waits for the rest"
        more.write(late[50:])
    assert follow(CompletionRecords(str(log), running(), every=0), cursor, most)[0] == ["10"]


def test_what_runs_is_asked_for_now_and_then_and_what_ended_each_time(tmp_path: Path) -> None:
    log = tmp_path / "completions"
    records = CompletionRecords(str(log), running(7), every=3600)
    ids, cursor = follow(records, "", 5)
    assert ids == ["7"]
    log.write_text(ended(7, 7))
    ids, cursor = follow(records, cursor, 5)
    assert ids == ["7"]
    assert follow(records, cursor, 5)[0] == []


def test_another_log_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "completions"
    records = CompletionRecords(str(log), running(), every=0)
    assert follow(records, "", 10)[0] == []
    log.write_text(ended(1, 5))
    _, cursor = follow(records, "", 10)
    log.write_text(ended(1, 2))
    ids, cursor = follow(records, cursor, 10)
    assert ids == ["1", "2"]
    assert follow(records, cursor, 10)[0] == []


def test_history_is_looked_up_by_name(tmp_path: Path) -> None:
    log = tmp_path / "completions"
    records = CompletionRecords(str(log), running(), every=0)
    assert records.history(["job-1"]) == []
    log.write_text(ended(1, 3) + "something else\n" + ended(2, 2))
    assert [job.id for job in records.history(["job-2", "job-9"])] == ["2", "2"]


def test_what_the_controller_forgot_is_asked_of_sacct(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    class Told(Commands):
        def lines(self, *words: str, code: bool = True) -> list[str]:
            asked.append(list(words))
            return ["3|COMPLETED|0:0|1|2|3|slurm|n1|gone", "4|RUNNING|0:0|1|2|Unknown|slurm|n1|not-over"]

    known = [
        Job("waits", "5", JobState.QUEUED, 1),
        Job("runs", "6", JobState.RUNNING, 1, 2),
        Job("over", "7", JobState.CANCELLED, 1, 0, 3),
    ]
    records = SacctRecords(Told("", {}, 5), lambda: known)
    told = records.changes("", lambda: ["waits", "runs", "gone"], 100)
    assert [job.name for job in told.jobs] == ["gone", "runs", "over"]
    assert asked[0][-1] == "--name=gone"
    asked.clear()
    assert [job.name for job in records.changes("", lambda: ["waits"], 100).jobs] == ["runs", "over"]
    assert not asked
    first = records.changes("", nothing, 1)
    assert (first.more, first.jobs[0].name) == (True, "runs")
    assert [job.name for job in records.changes(first.cursor, nothing, 1).jobs] == ["over"]


def test_without_an_accounting_it_knows_the_ends_that_it_has_seen_until_the_controller_forgot() -> None:
    asked: list[list[str]] = []

    class Disabled(Commands):
        def lines(self, *words: str, code: bool = True) -> list[str]:
            asked.append(list(words))
            raise Failed("sacct: Slurm accounting storage is disabled")

    known = [Job("mine", "1", JobState.COMPLETED, 1, 2, 3), Job("theirs", "2", JobState.COMPLETED, 1, 2, 3)]
    records = SacctRecords(Disabled("", {}, 5), lambda: known)
    assert records.account is None
    records.changes("", lambda: ["mine", "unseen"], 100)
    assert (records.account, len(asked)) == (False, 1)
    known.clear()
    assert [job.id for job in records.history(["mine", "theirs", "unseen"])] == ["1"]
    told = records.changes("", lambda: ["mine", "unseen", "late"], 100).jobs
    assert [(job.name, job.state) for job in told] == [
        ("unseen", JobState.CANCELLED),
        ("mine", JobState.COMPLETED),
    ], "a drain need not wait for what two looks missed; `late` may have come since the controller answered"
    assert len(asked) == 1, "it was asked once"
    assert records.history(["unseen"]) == [], "how it ended is not known"


def test_an_accounting_that_does_not_answer_now_is_one() -> None:
    class Slow(Commands):
        def lines(self, *words: str, code: bool = True) -> list[str]:
            raise Failed("sacct: Connection refused")

    records = SacctRecords(Slow("", {}, 5), lambda: [Job("mine", "1", JobState.COMPLETED, 1, 2, 3)])
    assert len(records.changes("", lambda: ["mine"], 100).jobs) == 1
    assert records.account is None
    with pytest.raises(Failed, match="Connection refused"):
        records.history(["mine"])


def test_a_password_file_that_is_none_is_told() -> None:
    assert not login_of(None).given
    with pytest.raises(TargetError, match="there is no file /nowhere"):
        login_of("/nowhere")
