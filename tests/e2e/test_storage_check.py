"""The suite that a site runs first, by each protocol, on a private XRootD; its counts are those of the server."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.servers.xrootd import ANEW
from tests.support import EXAMPLES, pileup, run_folder

TARGETS = ["kind: xrootd", "kind: webdav", "kind: webdav, launch: {tls: true, authorization: tokens}"]


@pytest.mark.parametrize("words", TARGETS)
def test_a_private_server_passes_it(words: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "storage-check.yaml").read_text()
    launch = (words if "launch" in words else f"{words}, launch: {{}}") + (
        f", options: {json.dumps(ANEW)}" if "webdav" in words else ""
    )
    (tmp_path / "s.yaml").write_text(text.replace("kind: xrootd, launch: {}", launch))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    journal = (run_folder(done) / "journal.jsonl").read_text().splitlines()
    scratch = [entry for line in journal if (entry := json.loads(line))["what"] == "scratch"]
    assert [entry["state"] for entry in scratch] == ["made", "removed"]
    assert not Path(scratch[0]["path"]).exists()


COUNTED = """
pileup: 1
title: Two counts
targets: {se: {kind: KIND, launch: {threads: 64}}}
options: {files: 10, size: 1 MiB}
tests:
  - {name: fill, use: storage.write}
  - {name: read, use: storage.read, after: [fill], load: {clients: 5, times: 200}}
  - {name: rest, use: command, target: se, after: [read], options: {command: sleep 2.5}}
monitors: [{use: xrootd, target: se, every: 200 ms}]
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["xrootd", "webdav"])
def test_what_the_server_counts_is_what_the_record_has(kind: str, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(COUNTED.replace("KIND", kind))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = run_folder(done)
    rows = duckdb.sql(
        f"SELECT operation, count(*), sum(bytes) FROM '{folder}/operations/operations.parquet' "
        "WHERE outcome = 'passed' AND bytes > 0 GROUP BY operation"
    ).fetchall()
    moved = {operation: (number, size) for operation, number, size in rows}
    last = dict(
        duckdb.sql(
            f"SELECT metric, arg_max(value, time) FROM '{folder}/samples/samples.parquet' "
            "WHERE monitor = 'xrootd' GROUP BY metric"
        ).fetchall()
    )
    (written, bytes_in), (read, bytes_out) = moved["write"], moved["read"]
    assert (written, read) == (10, 200)
    assert last["opens"] == written + read
    assert last["writes"] >= written
    assert last["reads"] >= read
    assert bytes_in <= last["in"] < 1.05 * bytes_in + 1_000_000
    assert bytes_out <= last["out"] < 1.05 * bytes_out + 1_000_000
    assert last["threads"] >= 3
