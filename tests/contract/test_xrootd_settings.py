"""Each setting of a private XRootD does what its name says."""

import os
import pwd
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil
import pytest

from pileup.builtin.xrootd.figures import read_statistics
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.model.suite import Credentials
from pileup.plugin import Failed, Refused, TargetError
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import require_bindings

MEGABYTE = b"x" * 1_000_000


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, where: Path, **settings: Any) -> tuple[Xrootd, XrootdTarget]:
    server = stack.enter_context(xrootd(where / "se", **settings))
    target = XrootdTarget(server.root)
    stack.callback(target.sessions.close)
    return server, target


def read(target: XrootdTarget, times: int) -> float:
    """Return how long it takes to read a megabyte so many times, seconds."""
    begin = time.monotonic()
    for _ in range(times):
        assert sum(map(len, target.read("file"))) == len(MEGABYTE)
    return time.monotonic() - begin


def test_it_listens_on_the_loopback_only_as_an_ordinary_user(stack: ExitStack, tmp_path: Path) -> None:
    server, _ = start(stack, tmp_path)
    process = psutil.Process(server.pid)
    listening = {each.laddr.ip for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    owner = pwd.getpwnam("xrootd").pw_uid if os.geteuid() == 0 else os.geteuid()
    assert set(process.uids()) == {owner}
    home = server.home
    stack.close()
    assert not home.exists()
    assert not psutil.pid_exists(process.pid)


def test_a_bandwidth_is_shared_by_all_reads(stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, bandwidth="2 MB/s")
    server.put("file", MEGABYTE)
    read(target, 2)  # what was saved up at the start
    assert read(target, 4) > 1.0, "4 MB at 2 MB/s"


def test_operations_per_second_are_limited(stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, operations="10 /s")
    server.put("file", b"x")
    begin = time.monotonic()
    for _ in range(25):
        assert list(target.read("file")) == [b"x"]
    assert time.monotonic() - begin > 0.8, "25 reads at 10 a second"


def test_threads_are_limited(stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, threads=6)
    server.put("file", MEGABYTE)
    with ThreadPoolExecutor(24) as pool:
        list(pool.map(lambda _: read_and_leave(target), range(24)))
    assert 3 <= read_statistics(target.statistics()).figures["sched.threads"] <= 6


def read_and_leave(target: XrootdTarget) -> None:
    read(target, 1)
    target.sessions.close()


def test_open_files_of_one_user_are_limited(stack: ExitStack, tmp_path: Path) -> None:
    server, _ = start(stack, tmp_path, open_files=2)
    server.put("file", MEGABYTE)
    require_bindings()
    bindings = import_module("XRootD.client")
    files = [bindings.File() for _ in range(3)]
    answers = [file.open(f"{server.root}file")[0].ok for file in files]
    for file in files:
        if file.is_open():
            file.close()
    assert answers == [True, True, False]


@pytest.mark.parametrize("checksum", ["adler32", "crc32c", "md5"])
def test_the_checksum_is_of_the_kind_asked_for(checksum: str, stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, checksum=checksum)
    server.put("file", b"123456789")
    known = {"adler32": "091e01de", "crc32c": "e3069283", "md5": "25f9e794323b453885f5181f1b624d0b"}
    with target.sessions.session("file") as session:
        assert session.checksum("file") == (checksum, known[checksum])


def test_without_a_checksum_it_says_so(stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, checksum="none")
    server.put("file", b"x")
    with pytest.raises((Failed, Refused)), target.sessions.session("file") as session:
        session.checksum("file")


def test_the_files_can_lie_in_a_folder_that_is_there_and_stay_when_it_ends(stack: ExitStack, tmp_path: Path) -> None:
    disk = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    if os.geteuid() == 0:
        shutil.chown(disk, "nobody")
    server, _ = start(stack, tmp_path, folder=str(disk))
    target = let_in(stack, server)
    target.write("mine", b"content")
    assert (disk / "mine").read_bytes() == b"content"
    assert (disk / "mine").owner() == disk.owner()
    server.supervisor.end_all()
    assert (disk / "mine").exists()


def let_in(stack: ExitStack, server: Xrootd) -> XrootdTarget:
    """Return the target as a run sees it: with what lets pileup in."""
    target = XrootdTarget(server.root, Credentials(token_file=server.token_file))
    stack.callback(target.sessions.close)
    return target


def test_s17_a_folder_is_not_open_to_every_user_of_the_machine(stack: ExitStack, tmp_path: Path) -> None:
    disk = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    if os.geteuid() == 0:
        shutil.chown(disk, "nobody")
    (disk / "theirs").write_text("theirs")
    server, stranger = start(stack, tmp_path, folder=str(disk))
    for act in (
        lambda: b"".join(stranger.read("theirs")),
        lambda: stranger.write("mine", b""),
        lambda: stranger.list(""),
    ):
        with pytest.raises((Refused, Failed), match=r"(?i)permission|denied|not authorized"):
            act()
    with pytest.raises(HTTPError, match="403"):
        urlopen(server.http + "theirs")
    assert b"".join(let_in(stack, server).read("theirs")) == b"theirs"
    server.supervisor.end_all()
    _, anybody = start(stack, tmp_path / "open", folder=str(disk), authorization="none")
    assert b"".join(anybody.read("theirs")) == b"theirs", "when the suite says so"


def test_a_trace_tells_each_request(stack: ExitStack, tmp_path: Path) -> None:
    server, target = start(stack, tmp_path, trace=True)
    server.put("file", b"x")
    target.stat("file")
    assert "req=stat" in (tmp_path / "se.logs/xrootd.log").read_text()


def test_a_directive_that_it_does_not_take_is_told_with_its_own_words(tmp_path: Path) -> None:
    with (
        pytest.raises(TargetError, match=r"did not become ready; it said: .*maxt"),
        xrootd(tmp_path / "se", directives=["xrd.sched maxt many"]),
    ):
        pass
