"""Log files are followed by patterns: each line once, over rotation, truncation, copies and compression."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pileup.builtin.logs.files import PATIENCE, LogFiles, family_of
from pileup.plugin import PluginError


class Log:
    """A log, what follows it, and what was said of it."""

    def __init__(self, folder: Path, pattern: str = "server.log", *, whole: bool = False) -> None:
        self.folder = folder
        self.path = folder / "server.log"
        self.told: list[str] = []
        self.files = LogFiles([str(folder / pattern)], self.told.append, whole=whole)

    def add(self, text: str, name: str = "server.log") -> None:
        with (self.folder / name).open("a") as file:
            file.write(text)

    def look(self) -> list[str]:
        return [line for part in self.files.look() for line in part.lines]

    def looks(self, number: int = PATIENCE + 2) -> list[str]:
        return [line for _ in range(number) for line in self.look()]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    (tmp_path / "server.log").write_text("before\n")
    made = Log(tmp_path)
    yield made
    made.files.close()


def packed(path: Path, opener: Callable[..., object] = gzip.open) -> Path:
    """Compress a file as logrotate does: beside it, then it is removed."""
    made = path.with_name(path.name + (".xz" if opener is lzma.open else ".gz"))
    with opener(made, "wb") as file:  # type: ignore[attr-defined]
        file.write(path.read_bytes())
    path.unlink()
    return made


STEPS = st.lists(
    st.one_of(
        st.integers(1, 60),
        st.sampled_from(["look", "rename", "rename twice", "copy and cut", "compress", "compress at once"]),
    ),
    max_size=25,
)


class Rotated:
    """A log with lines of their own numbers, and what a rotation does with it: files move on by one name."""

    def __init__(self, folder: Path) -> None:
        (folder / "server.log").touch()
        self.log = Log(folder)
        self.written = 0
        self.found: list[str] = []

    def write(self, number: int) -> None:
        lines = range(self.written, self.written + number)
        self.log.add("".join(f"line {each} of the log\n" for each in lines))
        self.written += number

    def look(self) -> None:
        self.found += self.log.look()

    def compress(self) -> None:
        for path in self.log.folder.glob("server.log.?"):
            packed(path)

    def _move(self) -> Path:
        for number in range(30, 0, -1):
            for end in ("", ".gz"):
                old = self.log.folder / f"server.log.{number}{end}"
                if old.exists():
                    old.rename(self.log.folder / f"server.log.{number + 1}{end}")
        return self.log.folder / "server.log.1"

    def rename(self, *, compress: bool = False) -> None:
        moved = self.log.path.rename(self._move())
        if compress:
            packed(moved)
        self.log.path.touch()

    def copy_and_cut(self) -> None:
        shutil.copy(self.log.path, self._move())
        os.truncate(self.log.path, 0)

    def step(self, step: int | str) -> None:
        if isinstance(step, int):
            self.write(step)
        elif step in ("look", "compress"):
            getattr(self, step)()
        elif not self.log.path.stat().st_size:
            return
        elif step == "copy and cut":
            self.copy_and_cut()
        else:
            for _ in range(2 if step == "rename twice" else 1):
                self.rename(compress=step == "compress at once")


@settings(deadline=None)
@given(STEPS)
def test_whatever_rotation_does_each_line_is_given_once(steps: list[int | str]) -> None:
    with TemporaryDirectory() as folder:
        rotated = Rotated(Path(folder))
        for step in steps:
            rotated.step(step)
        rotated.found += rotated.log.looks()
        rotated.log.files.close()
    found = sorted(rotated.found, key=lambda line: int(line.split()[1]))
    assert found == [f"line {number} of the log" for number in range(rotated.written)]


def test_what_a_copy_has_beyond_the_last_look_is_read_from_it(log: Log) -> None:
    log.add("one\n")
    assert log.look() == ["one"]
    log.add("two\n")
    shutil.copy(log.path, log.folder / "server.log.1")
    assert log.look() == ["two"], "not from the copy: the original is still there"
    log.add("three\nfo")
    shutil.copy(log.path, log.folder / "server.log.1")
    os.truncate(log.path, 0)
    log.add("five\n")
    assert sorted(log.looks()) == ["five", "three"]
    log.files.close()
    assert log.told == []


@pytest.mark.parametrize("opener", [gzip.open, lzma.open])
def test_a_compressed_copy_is_read_on_where_the_original_was(log: Log, opener: Callable[..., object]) -> None:
    log.add("one\n")
    assert log.look() == ["one"]
    log.add("two\n")
    shutil.copy(log.path, log.folder / "server.log.1")
    packed(log.folder / "server.log.1", opener)
    os.truncate(log.path, 0)
    assert log.looks() == ["two"]
    assert log.told == []


def test_a_truncation_without_a_copy_is_reported(log: Log) -> None:
    log.add("one\n")
    log.look()
    log.add("lost\n")
    log.path.write_text("new\n")
    assert log.looks() == ["new"]
    assert log.told == [f"{log.path} was truncated: lines that were written after the last look may be missing"]


def test_a_truncation_just_before_the_end_is_reported_when_it_is_closed(log: Log) -> None:
    log.path.write_text("n\n")
    assert log.look() == ["n"]
    log.files.close()
    assert len(log.told) == 1


def test_several_files_by_a_pattern_and_one_that_comes_later(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.log").write_text("before\n")
    log = Log(tmp_path, "*.log")
    log.add("1\n", "a.log")
    log.add("2\n", "b.log")
    log.add("3\n", "c.log")
    parts = {Path(part.family).name: part.lines for part in log.files.look()}
    assert parts == {"a.log": ["1"], "b.log": ["2"], "c.log": ["3"]}
    log.files.close()


def test_what_is_there_is_read_too_if_all_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "server.log.2").write_text("1\n")
    packed(tmp_path / "server.log.2")
    (tmp_path / "server.log").write_text("2\n")
    for whole, lines in ((True, ["1", "2"]), (False, [])):
        log = Log(tmp_path, whole=whole)
        assert sorted(log.look()) == lines
        log.files.close()


def test_a_compressed_file_that_is_damaged_is_reported_and_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = "".join(f"line {number}\n" for number in range(100_000)).encode()
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(whole)[:-1000])
    log = Log(tmp_path, "server.log.gz", whole=True)
    log.look()
    assert len(log.told) == 1
    assert "cannot be read any further" in log.told[0]
    log.files.close()


def test_binary_rubbish_is_lines_too(log: Log) -> None:
    with log.path.open("ab") as file:
        file.write(bytes(range(256)) * 3 + b"\nafter\n")
    assert log.look()[-1] == "after"


def test_no_file_is_said_with_what_to_do(tmp_path: Path) -> None:
    log = Log(tmp_path)
    with pytest.raises(PluginError, match=r"there is no file .*server.log; expected a log that grows .is it written"):
        log.look()
    log.add("first\n")
    assert log.look() == ["first"]
    log.files.close()


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("/a/b.log", "/a/b.log"),
        ("/a/b.log.1", "/a/b.log"),
        ("/a/b.log.12.gz", "/a/b.log"),
        ("/a/b.log-20261125.xz", "/a/b.log"),
        ("/a/b.log-20261125-10", "/a/b.log"),
        ("/a/b-2.csv", "/a/b-2.csv"),
        ("/a/b.log.old", "/a/b.log"),
        ("/a/billing-2026.11.25", "/a/billing"),
    ],
)
def test_names_of_rotated_files(path: str, family: str) -> None:
    assert family_of(path) == family
