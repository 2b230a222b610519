"""session.trace: what it counts and times against servers whose truth is known, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.tls import tls_server
from tests.servers.xrootd import xrootd
from tests.support import pileup, require_program, run_folder


def written(folder: Path, target: dict[str, Any], test: dict[str, Any], **words: Any) -> None:
    plain = {"pileup": 1, "title": "t", "targets": {"se": target}, "tests": [test], **words}
    (folder / "s.yaml").write_text(json.dumps(plain))


def run(folder: Path, target: dict[str, Any], *, code: int = 0, **words: Any) -> dict[str, Any]:
    """Run a suite of one trace; return results.json."""
    test = {"name": "trace", "use": "session.trace", "load": {"times": 3}, **words.pop("test", {})}
    written(folder, target, test, **words)
    done = pileup("run", "s.yaml", "--quiet", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / run_folder(done) / "results.json").read_text())
    return found


def judged(**checks: str) -> list[dict[str, str]]:
    return [{"id": name, "says": name, "check": check} for name, check in checks.items()]


def verdicts(results: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["verdict"].partition(",")[0] for each in results["criteria"]}


def times(results: dict[str, Any], operation: str) -> dict[str, float]:
    (case,) = results["cases"]
    (found,) = (each for each in case["operations"] if each["operation"] == operation)
    response: dict[str, float] = found["response"]
    return response


@pytest.mark.long
def test_criteria_judge_round_trips_and_think_times(tmp_path: Path) -> None:
    target = {"kind": "practice-storage", "launch": {"service": "40 ms"}}
    criteria = judged(
        trips="max(trace.round_trips) == 2",
        few="max(trace.round_trips) < 2",
        turns="min(trace.turns) == 1",
        plain="max(trace.tls_full) < 1",
        there="min(trace.bytes_there) > 100 B",
        server="min(trace.server) > 39 ms",
        quick="min(trace.server) < 39 ms",
    )
    found = run(tmp_path, target, code=4, criteria=criteria)
    no = {"few", "quick"}
    assert verdicts(found) == {each["id"]: "not met" if each["id"] in no else "met" for each in criteria}
    assert times(found, "session")["smallest"] >= (40 + 2 * 20) * 1e6


@pytest.mark.long
def test_over_tls_it_counts_full_and_resumed_handshakes(tmp_path: Path) -> None:
    with tls_server(tmp_path) as server:
        target = {"kind": "http", "url": server.url, "credentials": {"ca": server.ca}}
        whole = judged(full="min(trace.tls_full) == 1", trips="max(trace.round_trips) == 3")
        full = run(tmp_path, target, criteria=whole)
        again = judged(resumed="min(trace.tls_resumed) == 1", full="max(trace.tls_full) < 1")
        resumed = run(tmp_path, target, test={"options": {"resume": True}}, criteria=again)
    assert set(verdicts(full).values()) | set(verdicts(resumed).values()) == {"met"}


@pytest.mark.long
def test_a_command_is_traced_on_xrootd(tmp_path: Path) -> None:
    require_program("xrdfs", "apt-get install xrootd-client")
    criteria = judged(trips="min(trace.round_trips) >= 4", one="max(trace.connections) == 1")
    with xrootd(tmp_path / "se") as server:
        target = {"kind": "xrootd", "url": server.root}
        options = {"options": {"command": "xrdfs {address} ls /data"}}
        by_command = run(tmp_path, target, test=options, criteria=criteria)
        by_engine = run(tmp_path, target, criteria=judged(trips="max(trace.round_trips) == 4"))
    assert set(verdicts(by_command).values()) | set(verdicts(by_engine).values()) == {"met"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"added": "-1 ms"}, "negative"),
        ({"added": "2 h"}, "at most 1 min"),
        ({"command": "ls", "resume": True}, "`command` beside"),
        ({"command": "'"}, "quotation"),
        ({"operation": "write"}, "operation"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    target = {"kind": "webdav", "url": "http://127.0.0.1:1/"}
    test = {"name": "trace", "use": "session.trace", "options": options}
    (tmp_path / "s.yaml").write_text(
        json.dumps({"pileup": 1, "title": "t", "targets": {"se": target}, "tests": [test]})
    )
    done = pileup("validate", "s.yaml", cwd=tmp_path)
    assert done.returncode == 3 and said in done.stderr and "expected" in done.stderr, done.stderr


def test_a_target_without_a_connection_is_refused(tmp_path: Path) -> None:
    test = {"name": "trace", "use": "session.trace"}
    target = {"kind": "posix", "url": str(tmp_path)}
    (tmp_path / "s.yaml").write_text(
        json.dumps({"pileup": 1, "title": "t", "targets": {"se": target}, "tests": [test]})
    )
    done = pileup("validate", "s.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "'session.trace' needs 'connection', 'se' of kind 'posix' does not have it" in done.stderr


@pytest.mark.long
def test_a_target_with_a_path_has_a_relay_already(tmp_path: Path) -> None:
    target = {"kind": "practice-storage", "launch": {}, "path": {"latency": "5 ms"}}
    (case,) = run(tmp_path, target, code=1)["cases"]
    assert "the target has a `path`" in case["reason"] and "`added`" in case["reason"]
