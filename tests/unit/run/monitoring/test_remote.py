"""S15: another host that samples a monitor is told of that monitor alone."""

import pickle
import re
from pathlib import Path

from pileup.run.monitoring.remote import of_monitors
from pileup.suite import load

SUITE = """
pileup: 1
title: t
variables: {mine: known-of-a-variable}
environment: {set: {MODE: known-of-the-environment}}
targets: {a: {kind: http, url: http://127.0.0.1/, credentials: {token: known-of-the-target}}}
tests: [{name: x, use: http.request, target: a, options: {headers: {X-Key: known-of-the-test}}}]
monitors:
  - {use: sql, name: one, url: "mysql://me@db/x", query: select 1, password: known-of-monitor-one, host: "ssh://db"}
  - {use: sql, name: two, url: "mysql://me@db/x", query: select 1, password: known-of-monitor-two}
"""


def test_s15_a_host_is_told_of_its_monitors_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    plan = of_monitors(load(path), [0])
    assert [monitor.name for monitor in plan.suite.monitors] == ["one"]
    sent = pickle.dumps(plan)
    assert b"known-of-monitor-one" in sent
    told = re.findall(rb"known-of-[a-z-]+", sent)
    assert set(told) == {b"known-of-monitor-one"}
