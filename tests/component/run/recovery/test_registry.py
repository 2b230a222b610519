"""The registry of a user's runs: who may be in it, and whose it is."""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.model.errors import UsageError
from pileup.model.surroundings import introduce, surroundings
from pileup.record import RunFolder
from pileup.run.recovery import leftovers, lock, registry
from pileup.suite import load
from tests.manifests import plain, run_of


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    introduce({"XDG_STATE_HOME": str(tmp_path / "state")}, os.geteuid())
    yield tmp_path / "state" / "pileup"
    introduce(os.environ, os.geteuid())


@pytest.fixture
def run(tmp_path: Path, state: Path) -> RunFolder:
    folder = RunFolder.create(tmp_path / "runs", "t", 0)
    folder.save(run_of({"cases": [], "targets": []}))
    return folder


def test_s5_a_run_is_known_by_its_folder_and_nonce(run: RunFolder, state: Path, tmp_path: Path) -> None:
    assert registry.entry_of(run) is None
    registry.add(run, "digest", {"/x.py": "sum"})
    found = registry.entry_of(run)
    assert found is not None
    assert (found.folder, found.digest, found.plugins, found.user) == (
        str(run.path),
        "digest",
        {"/x.py": "sum"},
        os.geteuid(),
    )
    assert [entry.nonce for entry in registry.entries()] == [run.nonce]
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    copy = RunFolder.open(shutil.copytree(run.path, tmp_path / "copy"))
    assert registry.entry_of(copy) is None, "another inode"
    moved = RunFolder.open(run.path.rename(tmp_path / "moved"))
    assert registry.entry_of(moved) is not None, "the same folder of another name"
    moved.save(moved.manifest())
    (moved.path / "run.json").write_text(json.dumps({**plain(moved), "nonce": "0" * 32}))
    assert registry.entry_of(RunFolder.open(moved.path)) is None, "another nonce"
    registry.remove(run.nonce)
    assert list(registry.entries()) == []


def test_a_run_whose_folder_is_gone_is_struck_and_one_of_another_host_is_not(run: RunFolder, state: Path) -> None:
    registry.add(run, "", {})
    (entry,) = state.iterdir()
    other = json.loads(entry.read_text()) | {"host": "elsewhere", "nonce": "1" * 32}
    (state / f"{'1' * 32}.json").write_text(json.dumps(other))
    shutil.rmtree(run.path)
    assert list(registry.entries()) == []
    assert [path.name for path in state.iterdir()] == [f"{'1' * 32}.json"]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_s5_a_registry_that_others_can_write_to_is_refused(run: RunFolder, state: Path, mode: int) -> None:
    registry.add(run, "", {})
    state.chmod(mode)
    assert registry.entry_of(run) is None
    with pytest.raises(UsageError, match=r"others can write to .*, the registry of your runs; expected mode 0700"):
        list(registry.entries())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give it to another user")
def test_s5_a_registry_of_another_user_is_refused(run: RunFolder, state: Path) -> None:
    registry.add(run, "", {})
    os.chown(state, 65534, -1)
    assert registry.entry_of(run) is None
    with pytest.raises(UsageError, match="belongs to user 65534, you are 0"):
        registry.add(run, "", {})
    os.chown(state, 0, -1)
    os.chown(run.path, 65534, -1)
    assert registry.entry_of(run) is None, "nor is a folder of another user ours"


def test_s5_a_registry_or_an_entry_that_is_a_link_is_none(run: RunFolder, state: Path, tmp_path: Path) -> None:
    registry.add(run, "", {})
    (entry,) = state.iterdir()
    entry.rename(tmp_path / "entry")
    entry.symlink_to(tmp_path / "entry")
    assert registry.entry_of(run) is None
    entry.unlink()
    registry.add(run, "", {})
    state.rename(tmp_path / "there")
    state.symlink_to(tmp_path / "there")
    assert registry.entry_of(run) is None
    assert list(registry.entries()) == []
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        registry.add(run, "", {})


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"folder": 1}', "{}", "\0" * 100])
def test_s6_entries_that_are_none_are_passed_over(run: RunFolder, state: Path, text: str) -> None:
    registry.add(run, "", {})
    (state / f"{'2' * 32}.json").write_text(text)
    os.mkfifo(state / f"{'3' * 32}.json")
    assert [entry.nonce for entry in registry.entries()] == [run.nonce]


def test_the_state_is_where_the_account_says(monkeypatch: pytest.MonkeyPatch) -> None:
    introduce({"XDG_STATE_HOME": "relative"}, os.geteuid())
    monkeypatch.setenv("HOME", "/of/another")
    assert surroundings().state() == Path(f"~{os.environ.get('USER', 'root')}").expanduser() / ".local/state"
    introduce(os.environ, os.geteuid())


def test_s7_a_lock_is_held_until_it_is_let_go(run: RunFolder) -> None:
    assert not lock.held(run.path)
    held = lock.take(run.path)
    assert held is not None
    assert lock.held(run.path)
    assert lock.take(run.path) is None
    held.release(done=False)
    assert not lock.held(run.path)
    assert (run.path / lock.MARKER).exists()
    again = lock.take(run.path)
    assert again is not None
    again.release(done=True)
    again.release(done=True)
    assert not (run.path / lock.MARKER).exists()


def test_without_a_place_for_the_registry_a_run_goes_on_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "suite.yaml").write_text("pileup: 1\ntitle: t\ntests: [{name: a, use: noop}]\n")
    introduce({"XDG_STATE_HOME": str(tmp_path / "file")}, os.geteuid())
    try:
        folder = RunFolder.create(tmp_path / "runs", "t", 0)
        folder.save(run_of({"cases": [], "targets": []}))
        held = leftovers.register(folder, load(tmp_path / "suite.yaml"))
        assert leftovers.alive(folder)
        leftovers.unregister(held)
        assert leftovers.sweep() == []
    finally:
        introduce(os.environ, os.geteuid())
    (event,) = folder.events()
    assert "the registry of runs cannot be written" in event.text


def test_a_run_whose_folder_was_removed_meanwhile_ends(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("pileup: 1\ntitle: t\ntests: [{name: a, use: noop}]\n")
    held = leftovers.register(run, load(tmp_path / "suite.yaml"))
    shutil.rmtree(run.path)
    leftovers.unregister(held)
    assert list(registry.entries()) == []
