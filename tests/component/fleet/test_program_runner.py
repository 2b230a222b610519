"""Programs done in Python: the same objects, bytes, outcomes and rows as the engine gives for the same files."""

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pileup.model.loads.load import Load
from pileup.model.program import ClientSpec, Content, Expect, Keys, Program, Step
from pileup.plugin import Ambiguous, Call, NotThere, ProgramClient, Refused, ThereAlready
from tests.programs import SECOND, Row, by_engine, by_python

SIZE = 10_000


class Disk(ProgramClient):
    """Files below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.slow = 0.0

    def _path(self, call: Call, must: bool = True) -> Path:
        call.leaves()
        time.sleep(self.slow)
        path = self.root / call.key
        if must and not path.exists():
            raise NotThere("there is nothing")
        return path

    def stat(self, call: Call) -> int:
        return self._path(call).stat().st_size

    def list(self, call: Call) -> int:
        return len(list(self._path(call).iterdir()))

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        data = self._path(call).read_bytes()[offset:]
        data = data if length is None else data[:length]
        yield from (data[begin : begin + 3000] for begin in range(0, len(data), 3000))

    def read_pieces(self, call: Call, ranges: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        data = self._path(call).read_bytes()
        return (data[offset : offset + length] for offset, length in ranges)

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        data = b"".join(pieces)
        assert len(data) == size
        self._path(call, must=False).write_bytes(data)

    def delete(self, call: Call) -> None:
        self._path(call).unlink()

    def mkdir(self, call: Call) -> None:
        if (path := self._path(call, must=False)).exists():
            raise ThereAlready("it is there")
        path.mkdir()

    def rename(self, call: Call, to: str) -> None:
        self._path(call).rename(self.root / to)

    def checksum(self, call: Call) -> int:
        return zlib.adler32(self._path(call).read_bytes())

    def open_file(self, call: Call) -> None:
        self._path(call)


class Silent(Disk):
    """Waits for an answer as long as it may."""

    def stat(self, call: Call) -> int:
        if call.key.endswith("1"):
            call.leaves()
        time.sleep(call.seconds)
        raise TimeoutError


KEYS = Keys("f", 4)
CONTENT = Content(7, SIZE, sizes=((1, SIZE), (1, 5000)), entropy=0.5)
READ = Step("read", "read", KEYS, content=CONTENT)
WRITE = Step("write", "write", KEYS, repeat=4, content=CONTENT, buffer=4096)
MANY = Load(clients=3, times=12)


def posix(root: Path) -> ClientSpec:
    return ClientSpec("posix", {"root": str(root)})


PROGRAMS = {
    "nothing": (Program((Step("noop", "noop", KEYS),)), MANY),
    "write": (Program((WRITE,)), Load(times=2)),
    "read": (Program((READ,)), MANY),
    "read drawn": (Program((replace(READ, keys=replace(KEYS, order="random")),)), MANY),
    "read by client": (Program((replace(READ, keys=replace(KEYS, order="client")),)), Load(times=4)),
    "read a part": (Program((replace(READ, offset=4000, length=3500),)), MANY),
    "read behind the end": (Program((replace(READ, offset=20_000, length=10),)), MANY),
    "read at drawn places": (Program((replace(READ, length=100, span=SIZE),)), Load(times=12)),
    "read vectors": (Program((replace(READ, length=100, span=SIZE, pieces=7),)), Load(times=12)),
    "read sparsely": (Program((replace(READ, length=100, span=SIZE, fraction=0.3),)), Load(times=12)),
    "read what is not there": (Program((replace(READ, keys=Keys("no", 4)),)), MANY),
    "stat": (Program((Step("stat", "stat", KEYS, repeat=2, content=CONTENT),)), MANY),
    "stat another size": (Program((Step("stat", "stat", KEYS, content=Content(7, 1)),)), MANY),
    "list": (Program((Step("list", "list", Keys.fixed("."), expect=Expect(entries=4)),)), MANY),
    "list another number": (Program((Step("list", "list", Keys.fixed("."), expect=Expect(entries=5)),)), Load()),
    "rename there and back": (
        Program((Step("away", "rename", KEYS, to="+"), Step("back", "rename", replace(KEYS, suffix="+"), to=""))),
        Load(times=8),
    ),
    "sum of what was read": (Program((READ, Step("sum", "checksum", KEYS, content=CONTENT)), repeat=2), Load(times=4)),
    "delete": (Program((Step("delete", "delete", KEYS, repeat=4),)), Load(times=2)),
    "delete what may be gone": (Program((Step("delete", "delete", KEYS, repeat=4, missing_ok=True),)), Load(times=2)),
    "mkdir": (Program((Step("mkdir", "mkdir", Keys.fixed("d")),)), Load(times=2)),
    "mkdir of what may be there": (Program((Step("mkdir", "mkdir", Keys.fixed("d"), missing_ok=True),)), Load(times=2)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_those_of_the_engine(tmp_path: Path, name: str) -> None:
    program, load = PROGRAMS[name]
    found: list[list[Row]] = []
    for kind in ("native", "python"):
        root = tmp_path / kind
        root.mkdir()
        by_engine(tmp_path, Program((WRITE,)), posix(root), Load())
        found.append(
            by_engine(tmp_path, program, posix(root), load)
            if kind == "native"
            else by_python(tmp_path, program, Disk(root), load)
        )
    engine, ours = ([{**row, "calls": 0, "error": bool(row["error"])} for row in rows] for rows in found)
    assert ours == engine


def test_one_wrong_byte_is_found_by_its_place(tmp_path: Path) -> None:
    by_engine(tmp_path, Program((WRITE,)), posix(tmp_path), Load())
    data = bytearray((tmp_path / "f000002").read_bytes())
    data[4321] ^= 1
    (tmp_path / "f000002").write_bytes(data)
    found = by_python(tmp_path, Program((READ,)), Disk(tmp_path), Load(times=4))
    assert [row["error"] for row in found if row["error"]] == ["wrong content at offset 4321"]


def test_what_the_server_states_is_compared(tmp_path: Path) -> None:
    class Wrong(Disk):
        def checksum(self, call: Call) -> int:
            return super().checksum(call) ^ 1

    both = Program((replace(WRITE, repeat=1), Step("sum", "checksum", KEYS, content=CONTENT)))
    found = by_python(tmp_path, both, Wrong(tmp_path), Load())
    told = "checksum: the adler32 that the server states is not that of what went over the wire"
    assert [(row["operation"], row["outcome"], row["error"]) for row in found if row["error"]] == [
        ("iteration", "failed", told),
        ("sum", "failed", told),
    ]


def test_no_answer_in_time_is_ambiguous_when_the_request_had_left(tmp_path: Path) -> None:
    program = Program((Step("stat", "stat", KEYS),))
    found = by_python(tmp_path, program, Silent(tmp_path), Load(times=2), SECOND // 20)
    assert [(row["key"], row["outcome"], row["error"]) for row in found] == [
        ("f000000", "failed", "could not be sent within 50 ms"),
        ("f000001", "ambiguous", "no answer within 50 ms"),
    ]


def test_an_answer_after_the_timeout_is_ambiguous(tmp_path: Path) -> None:
    by_engine(tmp_path, Program((WRITE,)), posix(tmp_path), Load())
    disk = Disk(tmp_path)
    disk.slow = 0.06
    found = by_python(tmp_path, Program((Step("stat", "stat", KEYS),)), disk, Load(), SECOND // 20)
    assert [(row["outcome"], row["error"]) for row in found] == [("ambiguous", "took longer than its timeout of 50 ms")]


@pytest.mark.parametrize(("problem", "outcome"), [(Refused("no"), "refused"), (Ambiguous("?"), "ambiguous")])
def test_verdicts_of_a_client_are_recorded(tmp_path: Path, problem: Exception, outcome: str) -> None:
    class Says(Disk):
        def open(self) -> None:
            raise problem

        def stat(self, call: Call) -> int:
            raise problem

    found = by_python(tmp_path, Program((Step("stat", "stat", KEYS),)), Says(tmp_path), Load(times=3))
    assert [(row["outcome"], row["error"]) for row in found] == [(outcome, str(problem))] * 3
