"""XRootD's monitoring stream in a run: operations are joined, what its whole seconds cannot say is left out."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.support import pileup, require_program, run_folder

S = 10**9
FILES = 50
SUITE = """
pileup: 1
title: What the server counted
targets: {se: {kind: xrootd, launch: {monitoring: PORT}, credentials: {user: "p{client}"}}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: FILES, size: 10 kB}}
  - {name: wait, use: noop, after: [fill], load: {rate: 20 /s, for: 3 s}}
monitors: [{use: xrootd-stream, name: server, port: PORT, prefix: /data/, watches: se, every: 100 ms}]
criteria:
  - {id: C1, says: It wrote each file, check: "count(server.file) == FILES"}
  - {id: C2, says: No packet was lost, check: "max(server.lost) < 1"}
  - {id: C3, says: The stream came, check: "sum(server.packets) > 0"}
"""


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Any]:
    """Results of writing some files, each once."""
    require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "suite.yaml").write_text(SUITE.replace("PORT", str(port)).replace("FILES", str(FILES)))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    folder = tmp_path / run_folder(done)
    found: dict[str, Any] = json.loads((folder / "results.json").read_text())
    found["screen"] = pileup("show", str(folder), cwd=tmp_path).stdout
    return found


def test_operations_are_matched_and_times_of_whole_seconds_say_nothing(results: dict[str, Any]) -> None:
    (found,) = results["joined"]
    assert (found["test"], found["operation"], found["count"], found["matched"]) == ("fill", "write", FILES, FILES)
    assert found["requests"] >= FILES
    assert found["resolution"] == S
    assert [found[name] for name in ("served", "served_p50", "served_p99", "rest_p50", "rest_p99")] == [None] * 5
    assert not [each for each in results["one_sided"] if each["side"] == "client"]
    assert "not known: the times of server are in steps of 1 s" in results["screen"]


def test_numbers_of_the_monitor_are_judged_beside_operations(results: dict[str, Any]) -> None:
    """`lost` is a number of samples here, a field of operations elsewhere."""
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == dict.fromkeys(("C1", "C2", "C3"), "met")
