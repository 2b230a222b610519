"""The `posix` target stays inside its folder and says plainly what goes wrong."""

from __future__ import annotations

from pathlib import Path

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


def test_what_is_not_there(target: PosixTarget) -> None:
    for act in (target.stat, target.list, target.delete, lambda each: list(target.read(each))):
        with pytest.raises(Failed, match="there is nothing at 'a/b'"):
            act("a/b")
    with pytest.raises(Failed):
        target.write("a/b", b"")


def test_no_permission_is_a_refusal(target: PosixTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:  # root, who may run the tests, may do everything
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
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
        ("file://host/x", "is no path of this machine"),
        ("http://host/x", "is no path of this machine"),
    ],
)
def test_probe_of_what_is_no_folder(url: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        PosixTarget(url).probe()
