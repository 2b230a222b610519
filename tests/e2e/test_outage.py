"""A server that is killed in the middle of a load and comes back: what did not pass, when it was back, nothing lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.support import pileup, require_program, run_folder

RATE, SECONDS = 150, 4
AWAY = 10**9
"""How long the server is away, ns."""
TARGETS = {
    "root": {"kind": "xrootd", "launch": {}},
    "https": {"kind": "webdav", "launch": {"tls": True}},
}
SUITE: dict[str, Any] = {
    "pileup": 1,
    "title": "outage",
    "tests": [
        {"name": "fill", "use": "storage.write", "options": {"files": 10, "size": "20 kB"}},
        {
            "name": "read",
            "use": "storage.read",
            "after": ["fill"],
            "timeout": "2 s",
            "options": {"files": 10, "size": "20 kB"},
            "load": {"rate": f"{RATE} /s", "for": f"{SECONDS} s"},
            "fail_when": "never",
        },
    ],
    "faults": [{"at": "1 s", "do": "kill", "target": "se", "for": "1 s"}],
}


@pytest.mark.long
@pytest.mark.parametrize("scheme", TARGETS)
def test_a_server_is_killed_and_comes_back(tmp_path: Path, scheme: str) -> None:
    require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins")
    (tmp_path / "suite.yaml").write_text(json.dumps({**SUITE, "targets": {"se": TARGETS[scheme]}}))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    record = tmp_path / run_folder(done)
    results = json.loads((record / "results.json").read_text())
    read = next(case for case in results["cases"] if case["name"] == "read")
    assert read["outcome"] == "passed", (
        done.stdout + done.stderr
    )  # under a rate that some fail is the criteria's matter
    (fault,) = [event for event in results["events"] if event["kind"] == "fault"]
    (outage,) = fault["outages"]
    assert outage["case"] == "read"
    assert outage["failed"] > 0
    assert AWAY <= outage["recovery"] < SECONDS * AWAY
    assert fault["begin"] < fault["gone"] < fault["begin"] + outage["recovery"]
    assert outage["refused"] == outage["lost"] == 0
    assert f"read: {outage['failed']} failed" in fault["text"]
    counts = read["operations"][0]["counts"]
    assert {word: counts[word] for word in ("failed", "ambiguous", "unfinished")} == {
        word: outage[word] for word in ("failed", "ambiguous", "unfinished")
    }
    assert sum(counts.values()) == RATE * SECONDS, "every iteration that was due is reported"
    with RunFolder(record).operations().connect() as table:
        rows, ids, passed = table.sql(
            "select count(*), count(distinct id), count(*) filter (outcome = 'passed') from operations "
            "where test = 'read' and phase = 'measure' and operation <> 'reconnect-pause'"
        ).fetchall()[0]
    assert (rows + counts["missed"], ids, passed) == (RATE * SECONDS, rows, counts["passed"])
