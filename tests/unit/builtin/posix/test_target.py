"""The `posix` target stays inside its folder and says plainly what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.model.program import ClientSpec
from pileup.plugin import Entry, Failed, Refused, TargetError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text("precious")
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def target(root: Path) -> PosixTarget:
    return PosixTarget(str(root))


def test_the_engine_is_told_to_go_around_the_cache_only_when_asked(root: Path) -> None:
    assert PosixTarget(str(root)).client() == ClientSpec("posix", {"root": str(root)})
    assert PosixTarget(str(root), direct=True).client() == ClientSpec("posix", {"root": str(root), "direct": True})


def test_a_file_from_begin_to_end(target: PosixTarget, root: Path) -> None:
    target.mkdir("a")
    target.mkdir("/a")
    target.write("a/b", b"x" * 2_500_000)
    assert target.stat("a/b") == Entry("b", 2_500_000, False)
    assert [len(piece) for piece in target.read("a/b")] == [1 << 20, 1 << 20, 2_500_000 - (2 << 20)]
    assert target.list("") == [Entry("a", 0, True)]
    assert target.list("a") == [Entry("b", 2_500_000, False)]
    with pytest.raises(Failed, match="not empty"):
        target.delete("a")
    target.delete("a/b")
    target.delete("a")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "link", "link/..", "up/outside", "a\0b"])
def test_paths_that_lead_out_are_refused(target: PosixTarget, root: Path, path: str) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "up").symlink_to(root.parent)
    for act in (target.stat, target.list, target.mkdir, lambda each: list(target.read(each))):
        with pytest.raises(Refused, match="leads out of"):
            act(path)
    with pytest.raises(Refused, match="leads out of"):
        target.write(path, b"")
    assert (root.parent / "outside").read_text() == "precious"


def test_deleting_a_link_removes_the_link_alone(target: PosixTarget, root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")
    (root / "up").symlink_to(root.parent)
    target.delete("link")
    with pytest.raises(Refused):
        target.delete("up/outside")
    target.delete("up")
    assert (root.parent / "outside").read_text() == "precious"
    with pytest.raises(Refused, match="is the target itself"):
        target.delete("/")


ACTS: dict[str, Callable[[PosixTarget, str], object]] = {
    "list": lambda target, path: target.list(path.rpartition("/")[0]),
    "stat": lambda target, path: target.stat(path),
    "read": lambda target, path: list(target.read(path)),
    "write": lambda target, path: target.write(path, b"ours"),
    "create": lambda target, path: target.create(path + ".new", b"ours"),
    "delete": lambda target, path: target.delete(path),
    "rmdir": lambda target, path: target.delete(f"{path.rpartition('/')[0]}/empty"),
    "mkdir": lambda target, path: target.mkdir(path + ".d"),
}


@pytest.fixture
def swapped(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has a link put in the place of something as soon as a path has been looked at, before anything is done there."""
    for folder in (root / "a/b", root.parent / "theirs/b"):
        (folder / "empty").mkdir(parents=True)
        (folder / "f").write_text("precious")
    real = os.path.realpath

    def swap(path: str) -> None:
        def look(*args: Any, **more: Any) -> str:
            found = real(*args, **more)
            if Path(found) != root and not (root / path).is_symlink():
                (root / path).rename(root / "before")
                (root / path).symlink_to(root.parent / "theirs" / Path(path).relative_to("a"))
            return found

        monkeypatch.setattr(os.path, "realpath", look)

    return swap


def told(folder: Path) -> dict[str, str]:
    """Return all that a folder holds."""
    return {str(each.relative_to(folder)): each.read_text() if each.is_file() else "" for each in folder.rglob("*")}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("path", ["a", "a/b"])
def test_s9_a_link_put_in_the_place_of_a_folder_is_not_followed(
    target: PosixTarget, root: Path, swapped: Callable[[str], None], act: str, path: str
) -> None:
    theirs = told(root.parent / "theirs")
    swapped(path)
    with pytest.raises(Refused, match=r"'a/b.*' leads out of"):
        ACTS[act](target, "a/b/f")
    assert (root / path).is_symlink(), "it was put there"
    assert told(root.parent / "theirs") == theirs


@pytest.mark.parametrize("act", ["stat", "read", "write"])
def test_s9_a_link_put_in_the_place_of_a_file_is_not_followed(
    target: PosixTarget, root: Path, swapped: Callable[[str], None], act: str
) -> None:
    swapped("a/b/f")
    with pytest.raises(Refused, match="'a/b/f' leads out of"):
        ACTS[act](target, "a/b/f")
    assert (root / "a/b/f").is_symlink()
    assert (root.parent / "theirs/b/f").read_text() == "precious"


def test_s9_of_a_link_put_in_the_place_of_a_file_the_link_is_removed(
    target: PosixTarget, root: Path, swapped: Callable[[str], None]
) -> None:
    swapped("a/b/f")
    target.delete("a/b/f")
    assert not (root / "a/b/f").is_symlink()
    assert (root.parent / "theirs/b/f").read_text() == "precious"


def test_a_link_that_leads_inside_is_followed_and_one_that_leads_to_itself_is_not(
    target: PosixTarget, root: Path
) -> None:
    (root / "a").mkdir()
    (root / "near").symlink_to("a")
    (root / "loop").symlink_to("loop")
    target.write("near/f", b"x")
    assert (root / "a/f").read_bytes() == b"x"
    assert target.stat("near") == Entry("a", 0, True)
    assert target.stat("") == Entry("root", 0, True)
    with pytest.raises(Refused):
        target.stat("loop/f")


def test_what_is_not_there(target: PosixTarget) -> None:
    for act in (target.stat, target.list, target.delete, lambda each: list(target.read(each))):
        with pytest.raises(Failed, match="there is nothing at 'a/b'"):
            act("a/b")
    with pytest.raises(Failed):
        target.write("a/b", b"")


def test_no_permission_is_a_refusal(target: PosixTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:  # root, who may run the tests, may do everything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Refused, match="Permission denied"):
        list(target.read("a"))


def test_a_dangling_link_is_listed(target: PosixTarget, root: Path) -> None:
    (root / "dangling").symlink_to(root / "nonsuch")
    assert [entry.name for entry in target.list("")] == ["dangling"]


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_forms_of_the_url(root: Path, form: str) -> None:
    spaced = root / "a b"
    spaced.mkdir()
    quoted = str(spaced).replace(" ", "%20") if form.startswith("file") else str(spaced)
    target = PosixTarget(form.format(quoted))
    assert target.client() == ClientSpec("posix", {"root": str(spaced)})
    assert target.probe().startswith(f"folder {spaced} with ")


def test_a_relative_path_is_made_absolute(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    assert PosixTarget("root").root == root


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "the target has no url; expected a path"),
        ("/nonsuch/folder", r"/nonsuch/folder: no such folder; expected .* \(make it, or correct the url\)"),
        ("/etc/passwd", "/etc/passwd is a file; expected the path of a folder"),
        ("file://host/x", "is not a path of this machine"),
        ("http://host/x", "is not a path of this machine"),
    ],
)
def test_probe_of_what_is_no_folder(url: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        PosixTarget(url).probe()
