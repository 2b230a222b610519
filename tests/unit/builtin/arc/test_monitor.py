"""The `arc` monitor on an accounting of A-REX; tests/contract/test_batch_monitors.py asks a real one."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pileup.builtin.arc.accounting import Accounting
from pileup.builtin.arc.monitor import ArcMonitor
from pileup.builtin.arc.target import ArcTarget
from pileup.builtin.noop.target import NoopTarget
from pileup.plugin import PluginError
from pileup.plugin.batch import JobState

SCHEMA = """
CREATE TABLE Status (ID INTEGER PRIMARY KEY, Name TEXT);
INSERT INTO Status VALUES (1, 'in-progress'), (2, 'completed'), (3, 'failed');
CREATE TABLE AAR (RecordID INTEGER PRIMARY KEY, JobID TEXT, StatusID INTEGER);
CREATE TABLE JobEvents (RecordID INTEGER, EventKey TEXT, EventTime TEXT);
"""


class Local(ArcTarget):
    """A CE whose accounting is a file of the test."""

    accounting = None  # type: ignore[assignment]

    def counts(self) -> dict[JobState, int]:
        return {JobState.QUEUED: 4, JobState.COMPLETED: 2}


class Book:
    """An accounting that the test writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._do(SCHEMA)

    def _do(self, script: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(f"PRAGMA synchronous = OFF; BEGIN; {script} COMMIT;")

    def event(self, job: int, *states: str, status: int = 1) -> None:
        events = "".join(f"INSERT INTO JobEvents VALUES ({job}, '{state}', '2026-11-21 17:00:00');" for state in states)
        self._do(f"INSERT OR REPLACE INTO AAR VALUES ({job}, 'job{job}', {status}); {events}")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "accounting.db")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moments = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: moments[0])
    return moments


def watching(path: Path | None) -> ArcMonitor:
    target = Local("https://localhost:443/arex")
    target.accounting = Accounting(path) if path else None  # type: ignore[assignment]
    monitor = ArcMonitor(target="ce")
    monitor.attach(lambda: target)
    return monitor


def values(monitor: ArcMonitor) -> dict[str, float]:
    return {f"{each.metric}[{each.labels}]" if each.labels else each.metric: each.value for each in monitor.sample()}


def test_jobs_go_from_state_to_state(book: Book, clock: list[float]) -> None:
    book.event(1, "ACCEPTED", "PREPARING", "SUBMIT", "INLRMS")
    book.event(2, "ACCEPTED", "PREPARING")
    monitor = watching(book.path)
    first = values(monitor)
    assert (first["jobs[state=inlrms]"], first["jobs[state=preparing]"], first["jobs[state=accepted]"]) == (1, 1, 0)
    assert "total[of=accepted]" not in first
    clock[0] += 2
    book.event(2, "SUBMIT")
    book.event(3, "ACCEPTED")
    book.event(1, "FINISHING", "LRMSSTART", "LRMSEND", "FINISHED", status=3)
    found = values(monitor)
    assert (found["jobs[state=inlrms]"], found["jobs[state=submit]"], found["jobs[state=accepted]"]) == (0, 1, 1)
    assert (found["total[of=accepted]"], found["total[of=finished]"], found["total[of=failed]"]) == (1, 1, 1)
    assert (found["rate[state=finished]"], found["rate[state=submit]"], found["rate[state=inlrms]"]) == (0.5, 0.5, 0)
    clock[0] += 2
    found = values(monitor)
    assert (found["total[of=finished]"], found["rate[state=finished]"]) == (1, 0)


def test_a_long_accounting_is_read_in_pieces(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pileup.builtin.arc.monitor.AT_ONCE", 2)
    for job in range(7):
        book.event(job, "ACCEPTED")
    assert values(watching(book.path))["jobs[state=accepted]"] == 7


def test_an_accounting_that_is_not_there_yet_has_no_jobs(tmp_path: Path) -> None:
    assert values(watching(tmp_path / "none.db"))["jobs[state=accepted]"] == 0


def test_of_a_site_counts_are_asked_for() -> None:
    found = values(watching(None))
    assert (found["jobs[state=queued]"], found["jobs[state=running]"], found["jobs[state=completed]"]) == (4, 0, 2)
    assert "only the `jobs` of pileup's users are known" in watching(None).lacks()


def test_the_accounting_of_a_private_one_lacks_nothing(book: Book) -> None:
    assert watching(book.path).lacks() == ""


def test_another_target_is_refused() -> None:
    monitor = ArcMonitor(target="se")
    monitor.attach(NoopTarget)
    with pytest.raises(PluginError, match="a target of kind noop is not an ARC CE; expected a target of kind arc"):
        list(monitor.sample())
