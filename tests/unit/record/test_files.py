"""Files of a run folder: plain ones alone, new ones when written, their names on the disk."""

import os
from pathlib import Path

import pytest

from pileup.model.errors import NotARun, RecordError
from pileup.record import RunFolder, files, sums
from tests.manifests import run_of


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "runs", "t", 0)
    made.save(run_of({"cases": [], "targets": []}))
    return made


def test_s10_a_file_that_is_written_is_a_new_one(folder: RunFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    (folder.path / "report.html").symlink_to(outside)
    (folder.path / ".report.html.part").symlink_to(outside)
    folder.write_report("report.html", b"ours")
    assert outside.read_text() == "theirs"
    assert not (folder.path / "report.html").is_symlink()
    assert (folder.path / "report.html").read_bytes() == b"ours"


@pytest.mark.parametrize("name", ["journal.jsonl", "events/events.jsonl"])
def test_s10_nothing_is_appended_through_a_link(folder: RunFolder, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    (folder.path / name).symlink_to(outside)
    with pytest.raises((RecordError, OSError)):
        folder.journal("a", "b") if name == "journal.jsonl" else folder.event("a", "b")
    assert outside.read_text() == "theirs"


@pytest.mark.parametrize("name", ["run.json", "events/x", "output/a/b.txt", "operations/0.table", ".running"])
def test_s10_a_folder_with_a_link_is_refused(folder: RunFolder, name: str) -> None:
    path = folder.path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to("/etc/passwd")
    with pytest.raises(NotARun, match=f"{name} is a symbolic link; expected plain files and folders"):
        RunFolder.open(folder.path)


def test_what_servers_keep_is_theirs(folder: RunFolder) -> None:
    (folder.path / "servers" / "se").mkdir(parents=True)
    (folder.path / "servers" / "se" / "link").symlink_to("/etc/passwd")
    assert RunFolder.open(folder.path).manifest().cases == ()


def test_s24_names_are_synced_after_files(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino))
    folder.save(run_of({"cases": []}))
    assert synced == [(folder.path / "run.json").stat().st_ino, folder.path.stat().st_ino]
    synced.clear()
    parquet = folder.path / "operations" / "operations.parquet"
    parquet.write_bytes(b"PAR1")
    sums.add(parquet)
    assert synced == [(folder.path / sums.NAME).stat().st_ino, folder.path.stat().st_ino]
    synced.clear()
    made = RunFolder.create(folder.path.parent, "another", 0)
    assert synced == [made.path.stat().st_ino, folder.path.parent.stat().st_ino]


def test_a_folder_beneath_is_reached_by_no_link_and_no_dots(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/tmp")
    for names in (("link",), ("..",), ("link", "deep")):
        with (
            pytest.raises(OSError, match=r"it leads out|Not a directory|Too many levels"),
            files.folder_beneath(tmp_path, names),
        ):
            pass
    with files.folder_beneath(tmp_path, ("a", "b")) as descriptor:
        files.put(descriptor, "file", b"x", 0o640)
    assert (tmp_path / "a/b/file").stat().st_mode & 0o777 == 0o640


def test_s5_a_run_folder_can_be_written_to_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = RunFolder.create(tmp_path / "runs", "t", 0)
        folder.save(run_of({"cases": []}))
        folder.journal("a", "b")
        folder.event("a", "b")
    finally:
        os.umask(before)
    open_ones = [path for path in (folder.path, *folder.path.rglob("*")) if path.stat().st_mode & 0o022]
    assert open_ones == []
