"""The engine's own XRootD client against the official bindings, on a real server: answers, errors, bytes, requests."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pileup._core._native import Session
from pileup.builtin.xrootd.bindings import XrootdBindings, library
from pileup.builtin.xrootd.words import failure
from pileup.model.loads.load import Load
from pileup.model.program import ClientSpec, Content, Expect, Keys, Program, Step
from pileup.plugin import Failed, NotThere, Refused, ThereAlready
from tests.programs import Row, by_engine, by_python
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import require_bindings

require_bindings()

SIZE = 300_000
KEYS = Keys("set/f", 4)
CONTENT = Content(7, SIZE)
READ = Step("read", "read", KEYS, content=CONTENT)
WRITE = Step("write", "write", KEYS, repeat=4, content=CONTENT)
FOUR = Load(times=4)
STAT = Step("stat", "stat", KEYS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xrootd]:
    with xrootd(tmp_path_factory.mktemp("se"), checksum="adler32") as running:
        (running.put("set/mark", b"")).unlink()
        yield running


@pytest.fixture
def both(server: Xrootd, tmp_path: Path) -> Iterator["Both"]:
    settings = {"url": server.root}
    two = Both(tmp_path, settings, XrootdBindings(settings, 0))
    assert {row["outcome"] for row in two.engine(Program((WRITE,)), Load())} == {"passed"}
    yield two
    two.bindings.close()


class Both:
    """The two clients."""

    def __init__(self, folder: Path, settings: dict[str, Any], bindings: XrootdBindings) -> None:
        self.folder = folder
        self.settings = settings
        self.bindings = bindings

    def engine(self, program: Program, load: Load = FOUR) -> list[Row]:
        return by_engine(self.folder, program, ClientSpec("xroot", self.settings), load)

    def oracle(self, program: Program, load: Load = FOUR) -> list[Row]:
        return by_python(self.folder, program, self.bindings, load)


PROGRAMS = {
    "stat": replace(STAT, content=CONTENT),
    "stat of another size": replace(STAT, content=Content(7, 1)),
    "stat of a folder": replace(STAT, keys=Keys.fixed("set")),
    "stat of nothing": replace(STAT, keys=Keys.fixed("nothing")),
    "open": Step("open", "open", KEYS),
    "open of nothing": Step("open", "open", Keys.fixed("nothing")),
    "open of a folder": Step("open", "open", Keys.fixed("set")),
    "read": READ,
    "read by a buffer": replace(READ, buffer=70_000),
    "read unverified": replace(READ, content=None),
    "read a part": replace(READ, offset=1000, length=5000),
    "read the end": replace(READ, offset=SIZE - 10, length=100),
    "read behind the end": replace(READ, offset=SIZE + 10, length=100),
    "read other content": replace(READ, content=Content(8, SIZE)),
    "read what is longer": replace(READ, content=Content(7, SIZE - 1)),
    "read nothing": replace(READ, keys=Keys.fixed("nothing")),
    "read at drawn places": replace(READ, length=1000, span=SIZE, keep=True),
    "read vectors": replace(READ, length=1000, span=SIZE, pieces=7),
    "read a long vector": replace(READ, length=100, span=SIZE, pieces=1500),
    "read sparsely": replace(READ, length=1000, span=SIZE, fraction=0.05),
    "read a vector behind the end": replace(READ, content=None, length=1000, span=2 * SIZE, pieces=3),
    "write": replace(WRITE, repeat=1),
    "write by a buffer": replace(WRITE, repeat=1, buffer=70_000),
    "write nothing": replace(WRITE, repeat=1, content=Content(7, 0)),
    "write and compare": replace(WRITE, repeat=1, checksum="adler32"),
    "write where no folder is": replace(WRITE, keys=Keys("no/such/f", 4), repeat=1),
    "write over a folder": replace(WRITE, keys=Keys.fixed("set"), repeat=1),
    "list": Step("list", "list", Keys.fixed("set"), expect=Expect(entries=4)),
    "list another number": Step("list", "list", Keys.fixed("set"), expect=Expect(entries=5)),
    "list a file": Step("list", "list", KEYS),
    "list nothing": Step("list", "list", Keys.fixed("nothing")),
    "mkdir what is there": Step("mkdir", "mkdir", Keys.fixed("set")),
    "mkdir where a file is": Step("mkdir", "mkdir", KEYS),
    "mkdir what may be there": Step("mkdir", "mkdir", KEYS, missing_ok=True),
    "mkdir where no folder is": Step("mkdir", "mkdir", Keys.fixed("no/such/folder")),
    "delete nothing": Step("delete", "delete", Keys.fixed("nothing")),
    "delete what may be gone": Step("delete", "delete", Keys.fixed("nothing"), missing_ok=True),
    "delete a folder with files": Step("delete", "delete", Keys.fixed("set/")),
    "rename nothing": Step("rename", "rename", Keys.fixed("nothing"), to="+"),
    "checksum": Step("sum", "checksum", KEYS, content=CONTENT),
    "checksum of other content": Step("sum", "checksum", KEYS, content=Content(8, SIZE)),
    "checksum of nothing": Step("sum", "checksum", Keys.fixed("nothing")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_operation(both: Both, name: str) -> None:
    program = Program((PROGRAMS[name],))
    assert both.engine(program) == both.oracle(program)


WAYS = {
    "there and back": (Step("away", "rename", KEYS, to="+"), Step("back", "rename", replace(KEYS, suffix="+"), to="")),
    "in and gone": (replace(WRITE, repeat=1), Step("delete", "delete", KEYS), Step("stat", "stat", KEYS)),
    "a folder comes and goes": (
        Step("mkdir", "mkdir", Keys("set/d", 3)),
        Step("delete", "delete", Keys("set/d", 3, suffix="/")),
    ),
    "what was read": (READ, Step("sum", "checksum", KEYS)),
    "what was written": (replace(WRITE, repeat=1), Step("sum", "checksum", KEYS)),
}


@pytest.mark.parametrize("name", WAYS)
def test_several_operations(both: Both, name: str) -> None:
    program = Program(WAYS[name], repeat=2)
    assert both.engine(program) == both.oracle(program)


def test_what_one_has_written_the_other_reads(both: Both, server: Xrootd) -> None:
    for write, read in ((both.engine, both.oracle), (both.oracle, both.engine)):
        for number in range(4):
            server.put(f"set/f{number:06d}", b"")
        assert {row["outcome"] for row in write(Program((WRITE,)), Load())} == {"passed"}
        assert [row["bytes"] for row in read(Program((READ,)))] == [SIZE] * 4
        assert {row["outcome"] for row in read(Program((READ,)))} == {"passed"}


def test_one_wrong_byte(both: Both, server: Xrootd) -> None:
    data = bytearray((server.data / "set/f000002").read_bytes())
    data[222_222] ^= 1
    server.put("set/f000002", bytes(data))
    found = both.engine(Program((READ,)))
    assert found == both.oracle(Program((READ,)))
    assert [row["error"] for row in found if row["error"]] == ["wrong content at offset 222222"]


def test_no_permission(both: Both, server: Xrootd) -> None:
    path = server.put("set/closed", b"secret")
    path.chmod(0)
    closed = Keys.fixed("set/closed")
    for step in (replace(READ, keys=closed), Step("open", "open", closed)):
        found = both.engine(Program((step,)))
        assert found == both.oracle(Program((step,)))
        assert {row["outcome"] for row in found} == {"refused"}
    path.unlink()


def test_nobody_is_let_out_of_what_is_exported(both: Both, server: Xrootd) -> None:
    both.settings["url"] = server.root.replace("//data", "//etc")
    outside = XrootdBindings(both.settings, 1)
    step = Step("stat", "stat", Keys.fixed("passwd"))
    found = both.engine(Program((step,)))
    assert found == by_python(both.folder, Program((step,)), outside, FOUR)
    assert {row["outcome"] for row in found} == {"refused"}
    outside.close()


CLASSES = {NotThere: FileNotFoundError, ThereAlready: FileExistsError, Refused: PermissionError, Failed: OSError}
"""What the control plane raises in Python, for what the bindings' status means to a load."""


@pytest.fixture
def session(server: Xrootd) -> Iterator[Session]:
    session = Session("xroot", json.dumps({"url": server.root}))
    yield session
    session.close()


@pytest.fixture
def system(server: Xrootd) -> Any:
    return library()[0].FileSystem(f"root://oracle@127.0.0.1:{server.port}")


def test_answers_of_the_control_plane(both: Both, session: Session, system: Any) -> None:
    _, flags = library()
    stat = system.stat("/data/set/f000001")[1]
    assert session.stat("set/f000001") == (stat.size, stat.flags, stat.modtime)
    listing = system.dirlist("/data/set", flags.DirListFlags.STAT)[1]
    entries = [(each.name, each.statinfo.size, each.statinfo.flags, each.statinfo.modtime) for each in listing]
    assert sorted(session.list("set")) == sorted(entries)
    for asked in ("version", "readv_iov_max", "chksum", "no such thing"):
        assert session.query(7, asked) == system.query(flags.QueryCode.CONFIG, asked)[1]
    kind, value = session.checksum("set/f000001")
    assert system.query(flags.QueryCode.CHECKSUM, "/data/set/f000001")[1].rstrip(b"\0") == f"{kind} {value}".encode()


ERRORS = {
    "stat of nothing": ("stat", ("nothing",)),
    "list of nothing": ("dirlist", ("nothing",)),
    "list of a file": ("dirlist", ("set/f000001",)),
    "rm of nothing": ("rm", ("nothing",)),
    "rmdir with files": ("rmdir", ("set",)),
    "mkdir on a file": ("mkdir", ("set/f000001",)),
    "mv of nothing": ("mv", ("nothing", "else")),
}
OURS = {"dirlist": "list", "rm": "delete", "rmdir": "delete", "mv": "rename"}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_the_control_plane(both: Both, session: Session, system: Any, name: str) -> None:
    call, paths = ERRORS[name]
    status, _ = getattr(system, call)(*(f"/data/{path}" for path in paths))
    expected = failure(status.code, status.errno, status.message)
    with pytest.raises(OSError) as caught:
        getattr(session, OURS.get(call, call))(*(f"{path}/" if call == "rmdir" else path for path in paths))
    assert type(caught.value) is CLASSES[type(expected)]  # type: ignore[index]
    assert str(expected) in str(caught.value)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xrootd]:
    """A server that asks for tokens."""
    with xrootd(tmp_path_factory.mktemp("guarded"), authorization="tokens") as running:
        yield running


@pytest.mark.parametrize("way", ["good", "none", "of nobody", "garbage"])
def test_tokens(guarded: Xrootd, tmp_path: Path, way: str) -> None:
    forged = guarded.token.rpartition(".")[0] + "." + "A" * 86
    token = {"good": guarded.token, "none": None, "of nobody": forged, "garbage": "garbage"}[way]
    settings = {"url": guarded.root} | ({"token": token} if token else {})
    bindings = XrootdBindings(settings, 0)
    both = Both(tmp_path, settings, bindings)
    for step in (
        replace(WRITE, keys=Keys("f", 4), repeat=1),
        replace(READ, keys=Keys("f", 4)),
        replace(STAT, keys=Keys("f", 4)),
    ):
        found = both.engine(Program((step,)))
        assert found == both.oracle(Program((step,)))
        assert {row["outcome"] for row in found} == {"passed" if way == "good" else "refused"}
    bindings.close()
