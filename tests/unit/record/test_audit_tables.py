"""Tables of claims and findings: whole, newest first, bounded in memory, readable while they are written and torn."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pileup.model.record import ClaimRow, FindingRow
from pileup.record import RunFolder
from pileup.record.damage import damage
from tests.golden.make import info
from tests.manifests import run_of


def claims(first: int, count: int) -> list[ClaimRow]:
    """Claims of two tests; each third was not answered."""
    return [
        ClaimRow(number, 1 + number % 2, f"submit{number % 2}", "ce", f"job-{number}", "" if number % 3 == 0 else "7")
        for number in range(first, first + count)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    made = RunFolder.create(tmp_path, "audit", 0)
    made.save(run_of(info("running")))
    yield made
    made.close()


def test_claims_are_read_as_they_were_written(folder: RunFolder) -> None:
    written = claims(0, 5)
    revoked = ClaimRow(9, 1, "submit", "ce", "alice", "d1", "revoked")
    folder.append_claims(written[:2])
    assert list(RunFolder.open(folder.path).claims()) == written[:2], "while the run goes on"
    folder.append_claims([])
    folder.append_claims([*written[2:], revoked])
    assert list(folder.claims()) == [*written, revoked]
    assert list(folder.claims(newest_first=True)) == [revoked, *reversed(written)]
    assert list(damage(folder)) == []


def test_each_session_writes_a_table_of_its_own(folder: RunFolder) -> None:
    folder.append_claims(claims(0, 2))
    folder.close()
    again = RunFolder.open(folder.path)
    assert list(again.claims(mine=True)) == []
    again.append_claims(claims(2, 1))
    assert list(again.claims(mine=True)) == claims(2, 1)
    assert list(again.claims()) == claims(0, 3)
    assert list(again.claims(newest_first=True)) == list(reversed(claims(0, 3)))
    names = sorted(path.name for path in (folder.path / "audit").iterdir())
    assert names == ["claims-0.table", "claims-1.table"]
    again.close()


def test_findings_are_read_as_they_were_written(folder: RunFolder) -> None:
    first, second = claims(1, 2)
    found = [
        FindingRow(0, 5, first, "ran once", 1, "completed", "7", "", 2, 3, 4),
        FindingRow(1, 6, replace(second, id=""), "never"),
    ]
    folder.append_findings(found[:1])
    folder.append_findings(found[1:])
    assert list(folder.findings()) == found


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_torn_tail_is_where_reading_stops(folder: RunFolder, newest_first: bool) -> None:
    for first in (0, 3, 6):
        folder.append_claims(claims(first, 3))
    (path,) = (folder.path / "audit").iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    read = list(folder.claims(newest_first))
    assert sorted(read, key=lambda claim: claim.time) == claims(0, 6)
    assert [where for where, _ in damage(folder)] == ["audit/claims-0.table"]


def test_a_record_of_before_has_no_claims_and_takes_some(folder: RunFolder) -> None:
    (folder.path / "audit").rmdir()
    assert list(folder.claims()) == list(folder.findings()) == []
    folder.append_claims(claims(0, 1))
    assert list(folder.claims()) == claims(0, 1)


@pytest.mark.long
@pytest.mark.parametrize("newest_first", [False, True])
def test_memory_is_that_of_one_append(folder: RunFolder, newest_first: bool) -> None:
    for second in range(50):
        folder.append_claims(claims(second * 400, 400))
    tracemalloc.start()
    try:
        assert sum(1 for _ in folder.claims(newest_first)) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000, "20,000 claims as objects are 5 MB"
