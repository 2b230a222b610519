"""A whole run against servers that lie: each lie is an error of its own name and class, and none holds the run up."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.servers.liars import HTTP_LIES, LIES, SEED, SIZE, lying_http, lying_xroot
from tests.support import require_bindings

TIMEOUT = 1.0
"""Seconds of an operation."""
LATE = 3.0
"""Seconds that an operation may be late in ending, on a machine that others use too."""
MEMORY = 400 << 20
"""Bytes that pileup may take, whatever lengths it is told."""

NO_XROOT = "the answer is not xroot: "
NO_ANSWER = ("ambiguous", "no answer within 1 s")
HALF = "the answer was incomplete after 1 s: 50 % of 50000 bytes had come"
CLOSED = ("ambiguous", "connection closed (in|before) the answer")
WAIT = ("refused", "the server asks to wait, longer than the timeout of 1 s allows")
XROOT = {
    "honest": ("passed", ""),
    "short": ("failed", "truncated: 25000 of 50000 bytes"),
    "empty": ("failed", "truncated: 0 of 50000 bytes"),
    "long": ("failed", NO_XROOT + "more data than was asked for"),
    "wrong-byte": ("failed", "wrong content at offset 25000"),
    "truncated": CLOSED,
    "closed": CLOSED,
    "silent": NO_ANSWER,
    "stalled": ("ambiguous", HALF),
    "redirect": ("failed", "redirected more than 16 times"),
    "redirect-nowhere": ("failed", NO_XROOT + "a redirect that leads nowhere"),
    "wait": ("refused|ambiguous", f"{WAIT[1]}|{NO_ANSWER[1]}"),  # by whether it waits or asks when its time is up
    "wait-long": WAIT,
    "wait-for-news": NO_ANSWER,
    "garbage": ("failed", NO_XROOT + "an unknown status"),
    "huge": ("failed", NO_XROOT + "more data than was asked for"),
    "negative": ("failed", NO_XROOT + "a negative length"),
    "other-stream": ("failed", NO_XROOT + "an answer to nothing that was asked"),
    "unknown-status": ("failed", NO_XROOT + "an unknown status"),
    "unknown-error": ("failed", "xroot 4999 an unknown error"),
    "bare-error": ("failed", NO_XROOT + "an error without a number"),
    "refusal": ("refused", "xroot 3010 NotAuthorized: permission denied"),
}
HTTP = {
    "honest": ("passed", ""),
    "short": ("failed", "size 25000, expected 50000"),
    "long": ("failed", "size 100000, expected 50000"),
    "wrong-byte": ("failed", "wrong content at offset 25000"),
    "truncated": ("failed", "truncated: 25000 of 50000 bytes"),
    "closed": ("ambiguous", "connection closed before the answer"),
    "silent": NO_ANSWER,
    "stalled": ("failed", HALF),
    "surplus": ("failed", "the server sent more than its answer"),
    "twice": ("failed", "the server sent more than its answer"),
    "contradiction": ("failed", "the answer states another length than its chunks have"),
    "redirect": ("failed", "redirected more than 5 times, the last time by HTTP 302"),
    "redirect-nowhere": ("failed", "HTTP 302 to what is not a url of an HTTP server"),
    "garbage": ("failed", r"the answer is not HTTP/1: it begins with \"(\\xa5Z){8}\""),
    "huge": ("failed", "size 4611686018427387904, expected 50000"),
    "negative": ("failed", "the answer is not HTTP/1"),
    "no-number": ("failed", "the answer is not HTTP/1"),
    "unknown-status": ("failed", "HTTP 742"),
    "endless-head": ("failed", "the head of the answer is larger than 64 KiB"),
    "huge-chunk": ("failed", "truncated: the answer ended after 50000 bytes"),
    "endless-body": ("failed", "size: more than the 50000 bytes expected"),
    "refusal": ("refused", "HTTP 403 Forbidden"),
}
GIVEN_UP = ("ambiguous|unfinished", r"no answer within 1 s|still going at the end, in '\w+'")
"""The official client mends what it can, and comes back when it likes: it looks at its timeouts once a second."""
BINDINGS = {
    "honest": ("passed", ""),
    "empty": ("failed", "truncated: 0 of 50000 bytes"),
    "wrong-byte": ("failed", "wrong content at offset 25000"),
    "truncated": GIVEN_UP,
    "silent": GIVEN_UP,
    "stalled": GIVEN_UP,
    "redirect": ("failed", "redirected too often"),
    "wait-long": WAIT,
    "unknown-error": ("failed", "xroot 4999 an unknown error"),
    "refusal": ("refused", "xroot 3010 NotAuthorized: permission denied"),
    "negative": GIVEN_UP,
    "garbage": GIVEN_UP,  # last: it may hold up whatever the library does from then on
}


def run(folder: Path, target: dict[str, Any], lies: list[str]) -> tuple[dict[str, Any], int]:
    """Read one file by each lie; return outcome, error and seconds by lie, and the most memory that it took, bytes."""
    options = {"size": f"{SIZE} B"}
    tests = [
        {
            "name": lie,
            "use": "storage.read",
            "target": "se",
            "timeout": "1 s",
            "options": {**options, "folder": f"/{lie}"},
        }
        | {"load": {"times": 1}}
        for lie in lies
    ]
    suite = {"pileup": 1, "title": "lies", "seed": SEED, "targets": {"se": target}, "tests": tests}
    (folder / "suite.yaml").write_text(json.dumps(suite))
    words = [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--out", "runs"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)
        most = 0
        while process.poll() is None:
            most = max(most, high_water(process.pid))
            time.sleep(0.02)
    assert process.returncode == 1, (folder / "log").read_text()
    pieces = f"{next((folder / 'runs').iterdir())}/operations/*.parquet"
    told = f'select test, outcome, error, ("end" - start) / 1e9 from {pieces!r}'
    return {row[0]: row[1:] for row in duckdb.sql(told).fetchall()}, most


def high_water(pid: int) -> int:
    """Return the most memory of a process since it was executed, bytes; `ru_maxrss` begins with that of its parent."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


def check(found: dict[str, Any], expected: dict[str, tuple[str, str]], late: float) -> None:
    assert found.keys() == expected.keys()
    for lie, (outcome, error) in expected.items():
        assert re.fullmatch(outcome, found[lie][0]), (lie, found[lie])
        assert re.fullmatch(error, found[lie][1] or ""), (lie, found[lie])
        assert found[lie][2] < TIMEOUT + late, (lie, found[lie])


@pytest.mark.long
def test_xroot(tmp_path: Path) -> None:
    assert XROOT.keys() == LIES.keys()
    with lying_xroot() as url:
        found, memory = run(tmp_path, {"kind": "xrootd", "url": url}, list(XROOT))
    check(found, XROOT, LATE)
    assert memory < MEMORY


@pytest.mark.long
def test_http(tmp_path: Path) -> None:
    assert HTTP.keys() == HTTP_LIES.keys()
    with lying_http() as url:
        found, memory = run(tmp_path, {"kind": "webdav", "url": url}, list(HTTP))
    check(found, HTTP, LATE)
    assert memory < MEMORY


@pytest.mark.long
def test_the_official_bindings_hold_no_run_up(tmp_path: Path) -> None:
    require_bindings()
    with lying_xroot() as url:
        target = {"kind": "xrootd", "url": url, "options": {"client": "bindings"}}
        found, _ = run(tmp_path, target, list(BINDINGS))
    check(found, BINDINGS, 2 * LATE)
