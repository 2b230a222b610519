"""What pileup writes for a server of another user: nothing is reached by a link that this user has put there."""

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from pileup.model.errors import TargetError
from pileup.plugin import File
from pileup.run.servers import disks
from pileup.run.servers.placeholders import PlaceholderValues
from pileup.run.servers.scratch import is_of, remove
from tests.support import give_up

USER = "nobody"


@pytest.fixture
def filling(tmp_path: Path) -> PlaceholderValues:
    """The folder of a server of another user, where pileup is root; else of our own."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("theirs")
    (tmp_path / "outside" / "file").chmod(0o644)
    return PlaceholderValues(tmp_path / "se", USER)


def state(folder: Path) -> list[tuple[str, int, int, bytes]]:
    found = [folder, *sorted(folder.rglob("*"))]
    return [
        (str(path), path.stat().st_mode, path.stat().st_uid, path.read_bytes() if path.is_file() else b"")
        for path in found
    ]


@pytest.mark.parametrize(
    ("link", "file"),
    [
        ("conf", File("{folder}/conf", mode=0o700)),
        ("conf", File("conf/file", "mine", mode=0o600)),
        ("a/conf", File("{folder}/a/conf/file", "mine", mode=0o600)),
        ("bin", File("bin", mode=0o777, keep=False)),
    ],
)
def test_s8_nothing_is_written_or_given_away_through_a_link(
    filling: PlaceholderValues, tmp_path: Path, link: str, file: File
) -> None:
    filling.write(())
    (filling.folder / link).parent.mkdir(exist_ok=True)
    (filling.folder / link).symlink_to(tmp_path / "outside")
    before = state(tmp_path / "outside")
    with pytest.raises(TargetError, match="cannot be written: "):
        filling.write((file,))
    assert state(tmp_path / "outside") == before


def test_s8_a_link_in_the_place_of_a_file_goes_and_what_it_led_to_stays(
    filling: PlaceholderValues, tmp_path: Path
) -> None:
    filling.write(())
    (filling.folder / "key").symlink_to(tmp_path / "outside" / "file")
    before = state(tmp_path / "outside")
    filling.write((File("key", "mine", mode=0o400),))
    assert state(tmp_path / "outside") == before
    found = (filling.folder / "key").lstat()
    assert (found.st_mode & 0o7777, (filling.folder / "key").read_text()) == (0o400, "mine")
    assert found.st_uid == (pwd.getpwnam(USER).pw_uid if os.geteuid() == 0 else os.geteuid())


def test_files_that_are_kept_stay_and_folders_get_their_mode(filling: PlaceholderValues) -> None:
    filling.write((File("deep/er/key", "one", keep=True), File("deep/bin", mode=0o711)))
    filling.write((File("deep/er/key", "two", keep=True), File("deep/bin", mode=0o700)))
    assert (filling.folder / "deep/er/key").read_text() == "one"
    assert (filling.folder / "deep/bin").stat().st_mode & 0o7777 == 0o700


def test_the_short_folder_bears_the_nonce_and_is_removed(tmp_path: Path) -> None:
    nonce = "0123456789abcdef" * 2
    filling = PlaceholderValues(tmp_path / "se", USER, nonce)
    path = Path(filling.fill("{short}"))
    assert path.name.startswith("pileup-0123456789ab-")
    assert path == Path(filling.fill("{short}"))
    assert is_of(path / "disk", nonce)
    assert not is_of(path / ".." / "other", nonce)
    assert not is_of(path, "f" * 32)
    with pytest.raises(TargetError, match="is not a folder that this run has made"):
        remove(path, "f" * 32)
    filling.remove()
    assert not path.exists()


def test_the_short_folder_has_no_space_wherever_temporary_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, where in (("plain", tmp_path / "plain"), ("a space", Path("/tmp")), ('a"quote', Path("/tmp"))):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / name))
        filling = PlaceholderValues(tmp_path / "se", USER)
        path = Path(filling.fill("{short}"))
        assert path.parent == where
        assert path.is_dir()
        filling.remove()
        assert not path.exists()


def test_s8_a_disk_is_mounted_on_no_link_and_filled_through_none(filling: PlaceholderValues, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        give_up("only root may mount")
    filling.write(())
    disk = filling.folder / "disk"
    disk.symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        disks.mount(disk, 2 << 20, USER)
    assert not disks.mounted(tmp_path / "outside")
    disk.unlink()
    disks.mount(disk, 2 << 20, USER)
    try:
        (disk / disks.FILLING).symlink_to(tmp_path / "outside" / "file")
        before = state(tmp_path / "outside")
        disks.keep_full(disk, lambda seconds: True)
        assert state(tmp_path / "outside") == before
    finally:
        disks.unmount(disk)
