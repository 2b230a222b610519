"""Following a log that grows: whole lines, each once, over rotation and truncation, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pileup.plugin import PluginError, logs
from pileup.plugin.logs import Log, Splitter, Tail, by_line

ACTS = st.lists(
    st.one_of(
        st.text(alphabet="ab\n", min_size=1, max_size=12),
        st.sampled_from(["look", "rotate", "copy and cut"]),
    ),
    max_size=30,
)


def add(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@settings(deadline=None)
@given(ACTS)
def test_every_whole_line_is_given_once_whatever_becomes_of_the_file(acts: list[str]) -> None:
    """Looks between the acts of whoever writes; before a file is cut somebody looks, as what is gone is gone."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.touch()
        tail, found, files = Tail(path), [], [""]
        for number, act in enumerate(acts):
            if act in ("look", "copy and cut"):
                found += tail.lines()
            if act == "copy and cut":
                os.truncate(path, 0)
                files.append("")
            elif act == "rotate" and files[-1]:
                found += tail.lines()  # of several rotations between two looks only the last file is read
                path.rename(Path(folder) / "log.1")
                path.touch()
                files.append("")
            elif act not in ("look", "rotate"):
                add(path, f"{number}{act}")  # a file that has again what it had is no other file
                files[-1] += f"{number}{act}"
        found += tail.lines()
        tail.close()
    assert found == [line for text in files for line in text.split("\n")[:-1]]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[Path, Tail]]:
    """A log with a line that was there before, and what follows it."""
    path = tmp_path / "server.log"
    path.write_text("before\n")
    tail = Tail(path)
    yield path, tail
    tail.close()


def test_what_was_there_before_is_left_out_and_a_line_that_goes_on_waits(log: tuple[Path, Tail]) -> None:
    path, tail = log
    assert tail.lines() == []
    add(path, "one\r\ntw")
    assert tail.lines() == ["one"]
    add(path, "o\nthree\n")
    assert tail.lines() == ["two", "three"]


@pytest.mark.parametrize(
    ("back", "lines"),
    [
        (0, []),
        (4, ["fourth"]),
        (9, ["fourth"]),
        (10, ["third", "fourth"]),
        (99, ["first", "second", "third", "fourth"]),
    ],
)
def test_it_begins_with_the_first_whole_line(tmp_path: Path, back: int, lines: list[str]) -> None:
    path = tmp_path / "server.log"
    path.write_text("first\nsecond\nthird\nfour")
    tail = Tail(path, back=back)
    add(path, "th\n")
    assert tail.lines() == lines
    tail.close()


def test_the_last_lines_of_a_file_that_was_moved_away_are_read(log: tuple[Path, Tail]) -> None:
    path, tail = log
    add(path, "old\n")
    path.rename(path.with_suffix(".1"))
    path.touch()
    assert tail.lines() == ["old"]
    add(path.with_suffix(".1"), "older\n")  # the server writes there until it is told
    assert tail.lines() == ["older"]
    add(path, "new\n")
    add(path.with_suffix(".1"), "oldest\n")
    assert list(tail.parts()) == [logs.Part(["oldest"], False), logs.Part(["new"], True)]
    add(path, "newer\n")
    assert list(tail.parts()) == [logs.Part(["newer"], False)]


def test_a_file_that_was_cut_and_is_longer_than_before_begins_anew(log: tuple[Path, Tail]) -> None:
    path, tail = log
    add(path, "one\n")
    assert tail.lines() == ["one"]
    path.write_text("another one\nand\nmore\n")
    assert tail.lines() == ["another one", "and", "more"]


def test_memory_is_bounded(log: tuple[Path, Tail], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "AT_ONCE", 10)
    monkeypatch.setattr(logs, "LONGEST", 12)
    path, tail = log
    add(path, "0123456789abcdefghijklmnopqrstuvwxyz\n" + "x\n" * 6)
    path.rename(path.with_suffix(".1"))
    path.write_text("new\n")
    looks = [tail.lines() for _ in range(6)]
    assert [line for look in looks for line in look] == ["0123456789ab", *"xxxxxx", "new"]
    assert all(sum(map(len, look)) <= 2 * 12 for look in looks), "what is behind the bound waits for the next look"
    assert looks[0] == []


@pytest.mark.parametrize("kind", ["none", "folder", "pipe"])
def test_what_cannot_be_followed_is_said_with_what_to_do(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "server.log"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    tail = Tail(path, what="the log of the server")
    told = (
        r"there is no file .*; expected the log of the server" if kind == "none" else "is not a file; expected the log"
    )
    with pytest.raises(PluginError, match=told):
        tail.lines()


def test_a_file_that_is_gone_is_an_error_and_nothing_of_it_is_lost(log: tuple[Path, Tail]) -> None:
    path, tail = log
    add(path, "last\n")
    path.unlink()
    with pytest.raises(PluginError, match="there is no file"):
        tail.lines()
    path.write_text("new\n")
    assert tail.lines() == ["last", "new"]


def test_entries_of_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.touch()

    def took(line: str) -> float | None:
        return float(line.removeprefix("took ")) if line.startswith("took ") else None

    log: Log[float] = Log(path, by_line(took))
    add(path, "hello\ntook 1.5\ntook 0\n")
    assert list(log.entries()) == [1.5, 0]
    assert list(log.entries()) == []
    log.close()


def test_an_entry_of_several_lines_does_not_run_on_into_another_file(tmp_path: Path) -> None:
    class Pairs:
        def __init__(self) -> None:
            self.first = ""

        def entries(self, lines: Sequence[str]) -> Iterator[str]:
            for line in lines:
                if self.first:
                    yield f"{self.first}+{line}"
                self.first = "" if self.first else line

    path = tmp_path / "server.log"
    path.touch()
    log: Log[str] = Log(path, lambda: Pairs().entries)
    add(path, "a\nb\nc\n")
    assert list(log.entries()) == ["a+b"]
    add(path, "d\ne\n")
    assert list(log.entries()) == ["c+d"]
    path.rename(path.with_suffix(".1"))
    path.write_text("x\ny\n")
    assert list(log.entries()) == ["x+y"]
    log.close()


def test_a_line_that_comes_in_several_pieces_is_one_line() -> None:
    splitter = Splitter()
    assert [splitter.lines(data) for data in (b"a", b"b", b"c\r\nd", b"e", b"\n")] == [[], [], ["abc"], [], ["de"]]
    within = Splitter(within=True)
    assert [within.lines(data) for data in (b"a", b"b", b"c\nd", b"\n")] == [[], [], [], ["d"]]
