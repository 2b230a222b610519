"""Small disks of launched servers: mounted, filled, kept full, taken away, also after a crash; root alone can."""

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.model.errors import TargetError
from pileup.plugin import Daemon, File, Launcher, Line
from pileup.record import RunFolder
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.undo import mend
from pileup.run.recovery.undo_kinds import UndoReach
from pileup.run.servers import disks
from pileup.run.servers.supervisor import Supervisor
from tests.component.run.servers.test_supervisor import READY, URL, python, states, until
from tests.manifests import run_of

SIZE = 2 << 20


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    try:
        disks.mount(path, SIZE, "")
    except TargetError as problem:
        pytest.skip(str(problem))
    yield path
    disks.unmount(path)


def room(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def test_a_disk_is_full_until_it_is_over_and_what_others_free_is_taken(disk: Path) -> None:
    (disk / "theirs").write_bytes(bytes(1 << 20))
    over = threading.Event()
    filler = threading.Thread(target=disks.keep_full, args=(disk, over.wait))
    filler.start()
    until(lambda: room(disk) == 0)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (disk / "more").write_bytes(bytes(1 << 16))
    (disk / "theirs").unlink()
    until(lambda: (disk / disks.FILLING).stat().st_size > SIZE * 9 // 10)
    over.set()
    filler.join()
    assert not (disk / disks.FILLING).exists()
    (disk / "more").write_bytes(bytes(1 << 16))


def test_no_other_folder_is_filled_or_unmounted(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="no disk of pileup's"):
        disks.keep_full(tmp_path, lambda seconds: True)
    assert list(tmp_path.iterdir()) == []
    disks.unmount(Path("/proc"))
    assert Path("/proc/self").exists()


@pytest.mark.usefixtures("disk")  # this host mounts
def test_a_server_has_its_disk_before_its_files_and_over_restarts(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs", "t", 0)
    supervisor = Supervisor(folder)
    stack = Launcher(
        (Daemon(python(READY), Line(URL), name="a"),),
        files=(File("{short}/state/key", "k", keep=True),),
        disk="{short}/state",
    )
    supervisor.launch("ce", stack, tmp_path / "ce", SIZE)
    path = supervisor.disk("ce")
    assert disks.mounted(path)
    assert room(path) < SIZE
    assert (path / "key").read_text() == "k"
    (path / "job").touch()
    supervisor.restart("ce")
    assert (path / "job").exists()
    supervisor.end("ce")
    assert not disks.mounted(path)
    assert not path.parent.exists()
    assert states(folder, "disk") == ["made", "removed"]


def test_a_server_without_one_says_so(tmp_path: Path) -> None:
    supervisor = Supervisor()
    with pytest.raises(TargetError, match="its kind has no folder for `disk`"):
        supervisor.launch("ce", Launcher((Daemon(python(READY), Line(URL)),)), tmp_path / "ce", SIZE)
    supervisor.launch("se", Launcher((Daemon(python(READY), Line(URL)),)), tmp_path / "se")
    with pytest.raises(TargetError, match="target se has no disk of its own; expected a target with `disk: SIZE`"):
        supervisor.disk("se")
    supervisor.end_all()


def test_without_root_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TargetError, match=r"a disk of 2 MiB on \S+ cannot be mounted: pileup does not run as root"):
        disks.mount(tmp_path / "disk", SIZE, "")
    assert not (tmp_path / "disk").exists()


def test_a_disk_that_a_crash_left_is_taken_away(disk: Path, tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "runs", "t", 0)
    folder.save(run_of({"targets": [], "cases": []}))
    other = folder.journal("disk", "made", target="ce", path=str(disk))
    (told,) = mend(folder, Trust(None, given=True), UndoReach.OWN)
    assert f"{disk} is not a disk of this run" in told.problem
    folder.journal("disk", "removed", of=other)
    disk = folder.path / "servers" / "ce" / "disk"
    disk.parent.mkdir(parents=True)
    disks.mount(disk, SIZE, "")
    folder.journal("disk", "made", target="ce", path=str(disk))
    (disk / "job").touch()
    with (disk / "job").open():  # somebody still looks at it
        assert [str(each) for each in mend(folder, Trust(None, given=True), UndoReach.OWN)] == [
            f"the disk {disk} of target ce is unmounted"
        ]
    assert not disks.mounted(disk)
    assert list(open_intents(folder)) == []
    assert mend(folder, Trust(None, given=True), UndoReach.OWN) == []
