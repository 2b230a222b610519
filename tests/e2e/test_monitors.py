"""Metrics scraped and databases asked beside a load, here and at another host; no secret is in the record."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from pileup.record import RunFolder
from tests.servers.databases import PASSWORD, mariadb
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

SUITE = """
pileup: 1
title: Beside
variables: {word: "PASSWORD"}
tests: [{name: press, use: noop, load: {rate: 10, for: 5 s}}]
monitors:
  - {use: prometheus, name: here, every: 200 ms, url: "METRICS", metrics: [queue], rates: ["*_total"]}
  - {use: prometheus, name: there, every: 200 ms, url: "METRICS", metrics: [queue], host: "ssh://HOST"}
  - {use: prometheus, name: silent, every: 100 ms, url: "http://127.0.0.1:1/metrics", metrics: [queue]}
  - {use: sql, name: by_file, every: 200 ms, url: "DATABASE", password_file: FILE, query: "SELECT 'a' AS s, 7 AS n"}
  - {use: sql, name: by_word, every: 200 ms, url: "DATABASE", password: $word, query: "SELECT 8 AS n", host: "ssh://HOST"}
criteria:
  - {id: C1, says: The queue stays short, check: "max(here.queue[pool=tape]) < 6"}
  - {id: C2, says: Nothing is sent, check: "max(here.sent_bytes_total) < 1 B/s"}
  - {id: C3, says: There are jobs, check: "last(by_file.n[s=a]) == 7"}
"""


@pytest.mark.long
def test_metrics_and_databases_beside_a_load(tmp_path: Path, sshd: Sshd) -> None:
    registry = CollectorRegistry()
    Gauge("queue", "Waiting", ["pool"], registry=registry).labels("tape").set(5)
    Counter("sent_bytes", "Sent", registry=registry).inc(100)
    server, thread = start_http_server(0, "127.0.0.1", registry)
    (tmp_path / "password").write_text(PASSWORD + "\n")
    words = {"METRICS": f"http://127.0.0.1:{server.server_port}/metrics", "HOST": sshd.host}
    words |= {"PASSWORD": PASSWORD, "FILE": str(tmp_path / "password")}
    try:
        with mariadb(tmp_path / "database") as database:
            text = SUITE
            for word, value in {**words, "DATABASE": database.url}.items():
                text = text.replace(word, value)
            (tmp_path / "beside.yaml").write_text(text)
            done = pileup("run", "beside.yaml", "--quiet", cwd=tmp_path, PILEUP_SSH=sshd.command)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert done.returncode == 0, done.stdout + done.stderr
    run = RunFolder.open(tmp_path / run_folder(done))
    values: dict[str, set[tuple[str, str, float]]] = {}
    for row in run.samples():
        values.setdefault(row.monitor, set()).add((row.sample.metric, row.sample.labels, row.sample.value))
    tape = ("queue", "pool=tape", 5.0)
    assert values["here"] == {tape, ("sent_bytes_total", "", 0.0)}
    assert values["there"] == {tape}
    assert values["by_file"] == {("n", "s=a", 7.0)}
    assert values["by_word"] == {("n", "", 8.0)}
    told = [event.text for event in run.events() if event.kind == "monitor" and "slow" not in event.text]
    assert [text.partition(":")[0] for text in told] == ["monitor silent"], told
    assert "127.0.0.1:1/metrics cannot be read" in told[0]
    kept = [path for path in run.path.rglob("*") if path.is_file()]
    assert [path for path in kept if b"(secret)" in path.read_bytes()], "the suite is there without them"
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in done.stdout + done.stderr
