"""The promises of storage over S3, on servers known by their url alone: practice, versitygw, MinIO where they are."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from pileup.plugin import Failed, NotThere, Refused, TargetError, ThereAlready
from tests.servers.s3 import BUCKET, KEYS, KINDS, S3, practice_s3
from tests.support import FIGURES, others_long, pileup, require_program, run_folder

SET = {"folder": "/data", "files": 5, "size": "100 kB"}
PARTS = {"part_size": "5 MiB", "checksum": "crc32c"}


@pytest.fixture(params=others_long(("practice", "versitygw"), KINDS))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[S3]:
    (tmp_path / "server").mkdir()
    with KINDS[request.param](tmp_path / "server") as found:
        yield found


def suite(server: S3, folder: Path, *tests: dict[str, Any], **target: Any) -> None:
    """Write a suite of these tests of a server; `target` are words of its target."""
    told = {"kind": "s3", "url": server.url, "credentials": KEYS} | target
    (folder / "s.yaml").write_text(json.dumps({"pileup": 1, "title": "s3", "targets": {"se": told}, "tests": tests}))


def run(server: S3, folder: Path, *tests: dict[str, Any], code: int = 0, **target: Any) -> dict[str, dict[str, Any]]:
    """Run a suite of these tests and return its cases by name."""
    suite(server, folder, *tests, **target)
    done = pileup("run", "s.yaml", "--quiet", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    cases = json.loads((folder / run_folder(done) / "results.json").read_text())["cases"]
    return {case["name"]: case for case in cases}


def spec(name: str, use: str, after: str = "", **options: Any) -> dict[str, Any]:
    return {"name": name, "use": use, "options": options} | ({"after": [after]} if after else {})


FILL = spec("fill", "storage.write", **SET) | {"cleanup": "never"}


def test_what_is_written_is_there_verified_listed_and_deleted(server: S3, tmp_path: Path) -> None:
    cases = run(
        server,
        tmp_path,
        FILL,
        spec("read", "storage.read", "fill", **SET),
        spec("part", "storage.read", "fill", **SET, offset="10 kB", length="7 kB"),
        spec("stat", "storage.stat", "fill", **SET),
        spec("list", "storage.list", "fill", folder="/data", entries=5),
        spec("load", "storage.read", "list", **SET, order="random") | {"load": {"clients": 4, "times": 100}},
        spec("delete", "storage.delete", "load", folder="/data", files=5),
        spec("gone", "storage.stat", "delete", **SET),
        code=1,
    )
    outcomes = {name: case["outcome"] for name, case in cases.items()}
    assert outcomes == dict.fromkeys(cases, "passed") | {"gone": "failed"}
    moved = {name: cases[name]["operations"][0]["bytes"] for name in ("fill", "read", "part", "load")}
    assert moved == {"fill": 500_000, "read": 500_000, "part": 35_000, "load": 10_000_000}
    assert "HTTP 404" in cases["gone"]["reason"]


def test_one_wrong_byte_and_another_size_are_found(server: S3, tmp_path: Path) -> None:
    run(server, tmp_path, FILL)
    target = server.target()
    data = bytearray(b"".join(target.read("data/f000003")))
    data[77_777] ^= 1
    target.write("data/f000003", bytes(data))
    reads = (spec("read", "storage.read", **SET), spec("stat", "storage.stat", **SET))
    cases = run(server, tmp_path, *reads, code=1)
    assert "wrong content at offset 77777" in cases["read"]["reason"]
    assert cases["stat"]["outcome"] == "passed"
    target.write("data/f000003", bytes(data[:-1]))
    cases = run(server, tmp_path, *reads, code=1)
    assert {case["outcome"] for case in cases.values()} == {"failed"}
    target.sessions.close()


def test_objects_go_in_parts_with_checksums_that_copies_are_held_to(server: S3, tmp_path: Path) -> None:
    large = {"files": 2, "size": "11 MiB"}
    cases = run(
        server,
        tmp_path,
        spec("write", "storage.write", **large),
        spec("read", "storage.read", "write", **large),
        spec("copy", "storage.copy", "write", **large, checksum="adler32"),  # whichever the storage has
        spec("in", "storage.copy", folder="in", direction="in", checksum="adler32", **large),
        options=PARTS,
    )
    assert {name: case["outcome"] for name, case in cases.items()} == dict.fromkeys(cases, "passed")
    assert cases["write"]["operations"][0]["calls"] == 10, "twice a begin, three parts, an end"
    assert server.target().end_uploads("") == 0


def test_nothing_of_others_is_replaced_or_removed(server: S3, tmp_path: Path) -> None:
    target = server.target()
    theirs = {f"{folder}f00000{number}": b"of others" for folder in ("", "data/", "pileup/") for number in range(3)}
    for path, data in theirs.items():
        target.write(path, data)
    done = run(server, tmp_path, FILL, code=1)["fill"]
    assert "exists already, and 2 more; this run did not make it" in done["reason"]
    own = {"files": 3, "size": "10 kB"}
    run(server, tmp_path, spec("write", "storage.write", **own), spec("read", "storage.read", "write", **own))
    assert {path: b"".join(target.read(path)) for path in theirs} == theirs
    names = {entry.name for entry in target.list("")}
    assert names == {"data", "pileup", *(f"f00000{number}" for number in range(3))}, "what the run made is gone"
    with pytest.raises(ThereAlready):
        target.create("f000000", b"mine")
    with target.sessions.session("f000000") as session, pytest.raises(FileExistsError):
        session.write("f000000", b"mine", new=True)
    target.sessions.close()


def test_files_and_prefixes_for_python_tests(server: S3) -> None:
    target = server.target("some/where", checksum="crc32c")
    assert "S3" in target.probe()
    assert target.list("") == []
    with pytest.raises(NotThere):
        target.stat("a")
    target.mkdir("a")
    for name in ("a/1", "a/b c/+&<é", "a/b c/2"):
        target.create(name, name.encode())
    assert [(entry.name, entry.folder) for entry in target.list("a")] == [("1", False), ("b c", True)]
    assert b"".join(target.read("a/b c/+&<é")) == "a/b c/+&<é".encode()
    assert (target.stat("a/1").size, target.stat("a/b c").folder, target.stat("").folder) == (3, True, True)
    with pytest.raises(Failed, match="is not empty"):
        target.delete("a/b c")
    with pytest.raises(Refused, match="the target itself"):
        target.delete("/")
    for name in ("a/1", "a/b c/+&<é", "a/b c/2"):
        target.delete(name)
    with pytest.raises(NotThere):
        target.delete("a/1")
    assert target.list("a") == []
    target.sessions.close()


def test_who_may_not_come_in_is_told_why(server: S3, tmp_path: Path) -> None:
    for changed, told in (
        ({"access_key": "other"}, server.unknown_key),
        ({"secret_key": "other"}, "SignatureDoesNotM"),
    ):
        reason = run(server, tmp_path, FILL, code=5, credentials=KEYS | changed)["fill"]["reason"]
        assert told in reason
        assert "access denied" in reason
    nowhere = server.url.replace(BUCKET, "nobody-has-this")
    assert "NoSuchBucket" in run(server, tmp_path, FILL, code=5, url=nowhere)["fill"]["reason"]


def test_what_s3_cannot_do_is_refused_before_a_run(server: S3, tmp_path: Path) -> None:
    for use, told in (("storage.rename", "S3 has no rename"), ("storage.mkdir", "S3 has no folders to make")):
        suite(server, tmp_path, spec("one", use))
        done = pileup("validate", "s.yaml", cwd=tmp_path)
        assert done.returncode == 3
        assert told in done.stdout + done.stderr


def test_check_and_bench_take_the_keys_of_the_environment(server: S3, tmp_path: Path) -> None:
    keys = {"AWS_ACCESS_KEY_ID": KEYS["access_key"], "AWS_SECRET_ACCESS_KEY": KEYS["secret_key"]}
    done = pileup("check", server.url, cwd=tmp_path, **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    words = ("--read", "--write", "--for", "1s", "--warm-up", "0 s", "--size", "10 kB", "--files", "4")
    done = pileup("bench", server.url, *words, cwd=tmp_path, **keys)
    assert done.returncode == 0, done.stdout + done.stderr
    record = b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "server" not in path.parts
    )
    assert KEYS["secret_key"].encode() not in record
    assert server.target().list("") == []


def begun(server: S3) -> int:
    """Return how many uploads have not ended, where anybody may ask."""
    url = server.url.replace("s3://", "http://")
    with contextlib.closing(urlopen(f"{url}?uploads=")) as answer:
        return int(answer.read().count(b"<Upload>"))


def test_uploads_that_were_broken_off_are_ended_with_the_run(tmp_path: Path) -> None:
    with practice_s3("--bandwidth", "8 MB/s", "--settings", '{"access_key": null}') as server:
        write = spec("write", "storage.write", files=2, size="20 MiB") | {"timeout": "1 s", "load": {"times": 2}}
        suite(server, tmp_path, write, options=PARTS)
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
        cases = json.loads((tmp_path / run_folder(done) / "results.json").read_text())["cases"]
        assert cases[0]["operations"][0]["counts"]["passed"] == 0, done.stdout + done.stderr
        assert begun(server) == 0
        assert server.target().list("") == []


@pytest.mark.long
def test_an_upload_of_a_run_that_was_killed_is_ended_by_clean(tmp_path: Path) -> None:
    with practice_s3("--bandwidth", "4 MB/s", "--settings", '{"access_key": null}') as server:
        suite(server, tmp_path, spec("write", "storage.write", files=1, size="20 MiB"), options=PARTS)
        command = [sys.executable, "-m", "pileup", "run", "s.yaml", "--quiet", *FIGURES]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            until = time.monotonic() + 30
            while not begun(server) and time.monotonic() < until:
                time.sleep(0.05)
            process.kill()
        assert begun(server) == 1
        (folder,) = (tmp_path / "runs").iterdir()
        done = pileup("clean", str(folder), cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert begun(server) == 0
        assert server.target().list("") == []


def test_a_clock_that_is_off_is_told_by_how_much(tmp_path: Path) -> None:
    with practice_s3("--settings", '{"clock_behind": "16 min"}') as server:
        with pytest.raises(TargetError) as caught:
            server.target().probe()
        assert "RequestTimeTooSkewed" in str(caught.value)
        assert "the clock here is 16 min ahead of the server's" in str(caught.value)


def test_a_server_that_has_too_much_to_do_refuses(tmp_path: Path) -> None:
    settings = '{"faults": [{"kind": "refuse", "methods": ["GET"], "paths": ["/pileup/data/f"]}]}'
    with practice_s3("--settings", settings) as server:
        cases = run(
            server, tmp_path, FILL, spec("read", "storage.read", "fill", **SET) | {"load": {"times": 5}}, code=1
        )
        assert cases["read"]["operations"][0]["counts"]["refused"] == 5
        assert "SlowDown (HTTP 503 Service Unavailable)" in cases["read"]["reason"]


def test_rclone_finds_the_practice_s3_right(tmp_path: Path) -> None:
    require_program("rclone", "apt-get install rclone")
    (tmp_path / "f").write_bytes(b"content" * 1000)
    (tmp_path / "none.conf").touch()
    with practice_s3() as server:
        endpoint = server.url.replace("s3://", "http://").rpartition("/")[0]
        words = (
            f"provider=Other,endpoint='{endpoint}',access_key_id={KEYS['access_key']},region=us-east-1,list_version=2"
        )
        remote = f":s3,{words},secret_access_key={KEYS['secret_key']}:{BUCKET}/"
        for command in (["copyto", "f", f"{remote}in/a b+c"], ["cat", f"{remote}in/a b+c"], ["lsf", "-R", remote]):
            done = subprocess.run(
                [
                    shutil.which("rclone") or "rclone",
                    "--config",
                    "none.conf",
                    "--retries",
                    "1",
                    *command,
                ],
                cwd=tmp_path,
                env={name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert command[0] != "cat" or done.stdout == (tmp_path / "f").read_text()
        assert sorted(done.stdout.split("\n"))[-2:] == ["in/", "in/a b+c"]
