"""The same promises of every storage protocol, on every server that can be started here."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.servers.apache import apache
from tests.servers.nginx import nginx
from tests.servers.practice import practice_storage
from tests.servers.rclone import rclone
from tests.support import others_long, pileup, run_folder


class Storage:
    """A server with a way to reach behind it."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url

    def put(self, path: str, data: bytes) -> None:
        if self.kind == "posix":
            (Path(self.url) / path).write_bytes(data)
            return
        with contextlib.closing(urlopen(Request(self.url + path, data, method="PUT"))):
            pass

    def get(self, path: str) -> bytes:
        if self.kind == "posix":
            return (Path(self.url) / path).read_bytes()
        with contextlib.closing(urlopen(self.url + path)) as answer:
            return bytes(answer.read())


@pytest.fixture(params=others_long(("posix", "apache", "rclone"), ("posix", "practice", "nginx", "apache", "rclone")))
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    match request.param:
        case "posix":
            (tmp_path / "disk").mkdir()
            yield Storage("posix", str(tmp_path / "disk"))
        case "practice":
            with practice_storage() as url:
                yield Storage("webdav", url)
        case name:
            with {"nginx": nginx, "apache": apache, "rclone": rclone}[name](tmp_path) as url:
                yield Storage("webdav", url)


def run(storage: Storage, tmp_path: Path, *tests: dict[str, Any], code: int = 0) -> dict[str, dict[str, Any]]:
    """Run a suite of these tests and return its cases by name."""
    target = {"kind": storage.kind, "url": storage.url}
    suite = {"pileup": 1, "title": "contract", "targets": {"se": target}, "tests": list(tests)}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    cases = json.loads((tmp_path / run_folder(done) / "results.json").read_text())["cases"]
    return {case["name"]: case for case in cases}


FILL = {
    "name": "fill",
    "use": "storage.write",
    "options": {"folder": "/pileup", "files": 5, "size": "100 kB"},
    "cleanup": "never",
}


def test_what_is_written_is_read_back_verified(storage: Storage, tmp_path: Path) -> None:
    read = {
        "name": "read",
        "use": "storage.read",
        "after": ["fill"],
        "options": {"folder": "/pileup", "files": 5, "size": "100 kB"},
    }
    part = {
        "name": "part",
        "use": "storage.read",
        "options": {"folder": "/pileup", "files": 5, "size": "100 kB", "offset": "10 kB", "length": "7 kB"},
    }
    stat = {"name": "stat", "use": "storage.stat", "options": {"folder": "/pileup", "files": 5, "size": "100 kB"}}
    listing = {"name": "list", "use": "storage.list", "options": {"folder": "/pileup", "entries": 5}}
    cases = run(storage, tmp_path, FILL, read, part, stat, listing)
    assert {name: case["outcome"] for name, case in cases.items()} == dict.fromkeys(cases, "passed")
    moved = {name: case["operations"][0]["bytes"] for name, case in cases.items()}
    assert (moved["fill"], moved["read"], moved["part"]) == (500_000, 500_000, 35_000)


def test_one_wrong_byte_is_found(storage: Storage, tmp_path: Path) -> None:
    run(storage, tmp_path, FILL)
    name = "pileup/f000003"
    data = bytearray(storage.get(name))
    data[77_777] ^= 1
    storage.put(name, bytes(data))
    cases = run(
        storage,
        tmp_path,
        {"name": "read", "use": "storage.read", "options": {"folder": "/pileup", "files": 5, "size": "100 kB"}},
        code=1,
    )
    assert cases["read"]["outcome"] == "failed"
    assert "wrong content at offset 77777" in cases["read"]["reason"]


def test_a_file_of_another_size_is_found(storage: Storage, tmp_path: Path) -> None:
    run(storage, tmp_path, FILL)
    storage.put("pileup/f000000", storage.get("pileup/f000000")[:-1])
    stat = {"name": "stat", "use": "storage.stat", "options": {"folder": "/pileup", "files": 5, "size": "100 kB"}}
    read = {"name": "read", "use": "storage.read", "options": {"folder": "/pileup", "files": 5, "size": "100 kB"}}
    cases = run(storage, tmp_path, stat, read, code=1)
    for case in cases.values():
        assert case["outcome"] == "failed"
        assert "99999" in case["reason"].replace(" ", "").replace(",", "")


def test_what_is_not_there_fails_and_what_is_deleted_is_gone(storage: Storage, tmp_path: Path) -> None:
    delete = {
        "name": "delete",
        "use": "storage.delete",
        "after": ["fill"],
        "options": {"folder": "/pileup", "files": 5},
    }
    gone = {"name": "gone", "use": "storage.stat", "after": ["delete"], "options": {"folder": "/pileup", "files": 5}}
    empty = {"name": "empty", "use": "storage.list", "options": {"folder": "/pileup", "entries": 0}}
    cases = run(storage, tmp_path, FILL, delete, gone, empty, code=1)
    outcomes = {name: case["outcome"] for name, case in cases.items()}
    assert outcomes == {"fill": "passed", "delete": "passed", "gone": "failed", "empty": "passed"}


def test_under_load_every_byte_is_counted(storage: Storage, tmp_path: Path) -> None:
    read = {
        "name": "read",
        "use": "storage.read",
        "after": ["fill"],
        "options": {"folder": "/pileup", "files": 5, "size": "100 kB", "order": "random"},
        "load": {"clients": 8, "times": 400},
    }
    cases = run(storage, tmp_path, FILL, read)
    figures = cases["read"]["operations"][0]
    assert figures["counts"]["passed"] == 400
    assert figures["bytes"] == 400 * 100_000
