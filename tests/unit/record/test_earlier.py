"""The last run that passed: of the same suite, on the same machine, before this one."""

from pathlib import Path

from pileup.record import RunFolder
from pileup.record.earlier import last_green
from tests.manifests import run_of

SECOND = 10**9
KNOWN = {
    "title": "t",
    "state": "ended",
    "verdict": "passed",
    "suite": {"text": "pileup: 1\n", "values": {}},
    "hosts": [{"name": "vm", "cpu": "x", "cpus": 2}],
}


def made(base: Path, at: int, **fields) -> RunFolder:
    folder = RunFolder.create(base, "t", at * SECOND)
    folder.save(run_of({**KNOWN, "started": at * SECOND, "ended": (at + 1) * SECOND, **fields}))
    return folder


def test_it_is_the_newest_before_that_passed(tmp_path: Path) -> None:
    made(tmp_path, 10)
    green = made(tmp_path, 20)
    made(tmp_path, 30, verdict="failed")
    made(tmp_path, 35, title="another")
    this = made(tmp_path, 40, verdict="failed")
    made(tmp_path, 50)
    (tmp_path / "notes").mkdir()
    found = last_green(this)
    assert found is not None
    assert (found.path, found.alike) == (green.path, True)


def test_another_machine_or_suite_is_only_named(tmp_path: Path) -> None:
    alike = made(tmp_path, 10)
    made(tmp_path, 20, hosts=[{"name": "other", "cpu": "x", "cpus": 2}])
    made(tmp_path, 30, suite={"text": "pileup: 1\ntitle: t\n"})
    this = made(tmp_path, 40)
    found = last_green(this)
    assert found is not None
    assert (found.path, found.alike) == (alike.path, True)
    alone = made(tmp_path, 45, suite={"text": "new\n"})
    found = last_green(alone)
    assert found is not None
    assert (found.path, found.same_suite, found.same_machine) == (this.path, False, True)


def test_a_value_that_names_the_commit_is_no_other_suite(tmp_path: Path) -> None:
    before = made(tmp_path, 10, suite={"text": "s", "values": {"commit": "a", "clients": "8", "labels.site": "x"}})
    made(tmp_path, 20, suite={"text": "s", "values": {"commit": "b", "clients": "9"}})
    this = made(tmp_path, 30, suite={"text": "s", "values": {"commit": "b", "clients": "8"}})
    found = last_green(this)
    assert found is not None
    assert (found.path, found.alike) == (before.path, True)


def test_the_first_run_has_none(tmp_path: Path) -> None:
    assert last_green(made(tmp_path, 10)) is None
