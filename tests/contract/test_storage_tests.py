"""The storage tests beyond whole files in turn keep the same promises over every protocol."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pileup.model.program import Content
from tests.servers.nginx import nginx
from tests.servers.xrootd import ANEW, xrootd
from tests.support import others_long, pileup, run_folder

Options = dict[str, Any]
FILES = 12
SET: Options = {
    "folder": "/pileup",
    "files": FILES,
    "size": {"mix": [{"size": "2 KiB", "weight": 2}, {"size": "100 KiB"}]},
    "entropy": 0.5,
}
CONTENT = Content(1, 102400, ((2, 2048), (1, 102400)), 0.5)
"""The same, as the engine gets it; 1 is the seed of a suite that says none."""
SIZES = [CONTENT.size_of(number) for number in range(FILES)]
MANY: Options = {"clients": 4, "times": 40}


@dataclass
class Storage:
    kind: str
    url: str
    data: Path
    """Its files, behind its back."""
    checksums: bool
    sessions: bool
    options: Options = field(default_factory=dict)


@pytest.fixture(params=others_long(("posix", "root"), ("posix", "nginx", "root", "http")))
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    match request.param:
        case "posix":
            (tmp_path / "disk").mkdir()
            yield Storage("posix", str(tmp_path / "disk"), tmp_path / "disk", checksums=True, sessions=False)
        case "nginx":
            with nginx(tmp_path) as url:
                yield Storage("webdav", url, tmp_path / "data", checksums=False, sessions=True)
        case "root":
            with xrootd(tmp_path) as server:
                yield Storage("xrootd", server.root, server.data, checksums=True, sessions=True)
        case "http":
            with xrootd(tmp_path) as server:
                yield Storage("webdav", server.http, server.data, checksums=True, sessions=True, options=ANEW)


def run(storage: Storage, tmp_path: Path, *tests: dict[str, Any], code: int = 0) -> dict[str, dict[str, Any]]:
    """Run a suite of these tests and return its cases by name."""
    target = {"kind": storage.kind, "url": storage.url, "options": storage.options}
    suite = {"pileup": 1, "title": "contract", "targets": {"se": target}, "tests": list(tests)}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    cases = json.loads((tmp_path / run_folder(done) / "results.json").read_text())["cases"]
    return {case["name"]: case for case in cases}


def spec(name: str, use: str, load: Options | None = None, **options: Any) -> Options:
    return {"name": name, "use": use, "options": options, "load": load or {"once": True}}


FILL = spec("fill", "storage.write", **SET) | {"cleanup": "never"}


@pytest.mark.long
def test_everything_that_a_storage_can_do(storage: Storage, tmp_path: Path) -> None:
    """One run for all: starting one takes longer than most of its tests."""
    checksum = "adler32" if storage.checksums else "none"
    part: Options = {**SET, "length": "100 B"}
    first: Options = {"files": 1, "size": "100 KiB", "folder": "/one", "checksum": checksum}
    layers = ["control", "data", "noop", *(["session"] if storage.sessions else [])]
    cases = run(
        storage,
        tmp_path,
        FILL,
        spec("random", "storage.read", MANY, access="random", **part),
        spec("vector", "storage.read", MANY, access="vector", pieces=5, **part),
        spec("sparse", "storage.read", access="sparse", fraction="25 %", pieces=4, **part),
        spec("named", "storage.read", names=["f*"], verify=False),
        spec("looked", "storage.stat", folder="/pileup", files=FILES, size=SET["size"]),
        spec("listed", "storage.list", folder="/pileup", entries=FILES),
        spec("out", "storage.copy", {"clients": 3, "times": 24}, checksum=checksum, **SET),
        spec("in", "storage.copy", direction="in", **first) | {"cleanup": "never"},
        *[spec(each, "storage.read", MANY, layers=each, size="100 KiB", folder="/one") for each in layers],
        spec("rename", "storage.rename", MANY, folder="/pileup", files=FILES, order="client"),
        spec("mkdir", "storage.mkdir", MANY, files=50, folder="/pileup"),
        spec("contend", "storage.contend", MANY, files=50, folders=3, folder="/other", size="10 B"),
        spec("still", "storage.stat", folder="/pileup", files=FILES, size=SET["size"]),
    )
    assert {name: case["outcome"] for name, case in cases.items()} == dict.fromkeys(cases, "passed")
    look_at_bytes({name: case["operations"][0]["bytes"] for name, case in cases.items()})
    look_at_operations(cases, storage)
    look_at_files(storage)


def look_at_bytes(moved: dict[str, int]) -> None:
    assert (moved["random"], moved["vector"]) == (40 * 100, 40 * 500)
    pieces = sum(size // 100 / 4 for size in SIZES)
    assert abs(moved["sparse"] / 100 - pieces) <= FILES / 2, "each file has a whole number of pieces"
    assert moved["fill"] == moved["named"] == sum(SIZES)
    assert (moved["out"], moved["in"], moved["data"]) == (2 * sum(SIZES), 102400, 40 * 102400)
    assert not any(moved.get(each) for each in ("control", "noop", "session", "rename", "mkdir", "looked"))


def look_at_operations(cases: dict[str, Options], storage: Storage) -> None:
    def passed(case: str) -> dict[str, int]:
        return {each["operation"]: each["counts"]["passed"] for each in cases[case]["operations"]}

    asked = {"iteration": 24, "checksum": 24} if storage.checksums else {}
    assert passed("out") == {"copy": 24, **asked}
    assert passed("rename") == {"iteration": 40, "rename": 80}
    assert passed("contend") == {"iteration": 40, "create": 40, "delete": 40}
    assert passed("mkdir") == {"iteration": 40, "mkdir": 40, "delete": 40}


def look_at_files(storage: Storage) -> None:
    found = sorted((storage.data / "pileup").glob("f*"))
    assert [path.stat().st_size for path in found] == SIZES
    assert all(0.45 < path.read_bytes().count(0) / path.stat().st_size < 0.55 for path in found)
    assert not (storage.data / "other").exists(), "the run removes what it has made"
    assert sorted(path.name for path in (storage.data / "one").iterdir()) == [".pileup-set-f", "f000000"]


def test_a_wrong_byte_is_found_by_whoever_reads_it(storage: Storage, tmp_path: Path) -> None:
    run(storage, tmp_path, FILL)
    path = storage.data / "pileup" / f"f{SIZES.index(102400):06}"
    path.write_bytes(path.read_bytes()[:-50] + b"x" * 50)
    copy = spec("copy", "storage.copy", checksum="none", **SET)
    all_of_it = spec("all", "storage.read", access="sparse", fraction="100 %", length="1 KiB", **SET)
    for case in run(storage, tmp_path, copy, all_of_it, code=1).values():
        assert "wrong content at offset 10235" in case["reason"]
