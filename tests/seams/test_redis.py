"""Redis by a package outside of pileup: its target, tests, monitor, report and exporter, from one place and several."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pileup.plugin import Accepts, Daemon, Launcher
from pileup.record import RunFolder
from tests.seams.conftest import REDIS, Command, project
from tests.servers.launched import launched
from tests.servers.sshd import Sshd, sshd
from tests.support import give_up, others_long, require_programs, run_folder

__all__ = ["sshd"]

TARGETS = "targets: {near: {kind: redis, launch: {}}, far: {kind: redis, launch: {}}}"
PRESS = f"""pileup: 1
title: Redis
{TARGETS}
delay: 1200 ms  # the log of the server has the second of a command: what it seems to begin early is of no other test
tests:
  - {{name: closed, use: redis.set-get, target: near, load: {{clients: 4, for: 2 s, think: 3 ms}}}}
  - {{name: paced, use: redis.many, target: near, load: {{rate: 100, for: 1 s}}}}
  - {{name: copy, use: redis.copy, target: {{source: near, to: far}}, load: {{clients: 2, times: 100}}}}
monitors: [{{use: redis-log, target: near, every: 100 ms}}]
criteria:
  - {{id: C1, says: "GET is quick in the server", check: p99(redis-log.GET) < 100 ms}}
  - {{id: C2, says: "also for one test", check: "p90(redis-log.GET[client=closed]) < 100 ms"}}
  - {{id: C3, says: "and takes no time for another", check: "max(redis-log.MGET[client=paced]) < 1 us"}}
  - {{id: C4, says: "Nothing fails", check: fraction(copy.failed) == 0 %}}
  - {{id: C5, says: "Every value is stored", check: "min(copy.stored[place=NAME]) > 10 B"}}
  - {{id: C6, says: "The log has room", check: max(redis-log.forgotten) == 0}}
  - {{id: C7, says: "Most find their own values", check: fraction(closed.check.own_value.failed) < 90 %}}
reports: [{{use: nagios, service: REDIS}}, {{use: json}}]
"""
OPERATIONS = {"closed": {"SET": "set", "GET": "get"}, "paced": {"MGET": "batch"}, "copy": {"DUMP": "dump"}}
"""Test -> command of the server -> operation of the client."""
HOLD = """pileup: 1
title: Redis held
targets: {near: {kind: redis, launch: {}}}
tests:
  - name: held
    use: redis.set-get
    target: near
    load:
      hold: {metric: redis-log.commands, at: 600 /s, band: 20 %, by: rate, between: [0, 1000 /s], settle: 9 s}
      for: 4 s
monitors: [{use: redis-log, target: near, every: 1 s}]
"""
FIND = """pileup: 1
title: Connections of Redis
targets: {near: {kind: redis, launch: {maxclients: 6}}}
tests:
  - name: many
    use: redis.set-get
    target: near
    load:
      find:
        raise: clients
        while: fraction(many.passed) > 99.5 %
        between: [4, 12]
        settle: 200 ms
        trial: 1 s
        at_most: 6
      think: 20 ms
      for: 500 ms
"""
SET = """pileup: 1
title: A Redis that is there
targets: {near: {kind: redis, url: URL}}
tests: [{name: full, use: redis.set-get, target: near, load: {clients: 2, times: 20}}]
scan: {near.maxmemory: ["0", "1"]}
monitors: [{use: redis-log, target: near}]
criteria: [{id: C1, says: "Quick", check: p99(redis-log.GET) < 1 s}]
"""
SERVER = ("redis-server", "--bind", "127.0.0.1", "--port", "{port}", "--save", "")
LAUNCHER = Launcher((Daemon(SERVER, Accepts()),), url="redis://127.0.0.1:{port}")


@pytest.fixture(autouse=True, scope="module")
def redis() -> None:
    require_programs({"redis-server": "redis-server --no-install-recommends"})
    if find_spec("redis") is None:
        give_up("the client of Redis is not installed: pip install redis")


def pressed(installed: Command, folder: Path, text: str, *arguments: str, **environment: str) -> RunFolder:
    """Run a suite and return its record."""
    (folder / "suite.yaml").write_text(text)
    done = installed("run", "suite.yaml", "--quiet", *arguments, cwd=folder, **environment)
    assert done.stdout, done.stderr
    return RunFolder.open(folder / run_folder(done))


def cases(run: RunFolder) -> dict[str, Any]:
    found = json.loads((run.path / "results.json").read_text())["cases"]
    return {case["name"]: case for case in found}


def test_it_is_small_and_needs_the_public_surface_alone() -> None:
    files = [path for path in REDIS.rglob("*") if path.suffix in (".py", ".toml", ".yaml", ".md")]
    assert sum(len(path.read_text().splitlines()) for path in files) < 400
    assert project(REDIS)["entry-points"].keys() >= {f"pileup.{kind}s" for kind in ("target", "test", "monitor")}
    for path in REDIS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                own = module.split(".")[0] == "pileup"
                assert not own or f"{module}.".startswith("pileup.plugin."), f"{path.name} imports {module}"


@pytest.mark.long
@pytest.mark.parametrize("fleet", others_long(["processes:2", "ssh"], ["local", "processes:2", "ssh"]))
def test_what_the_server_did_is_what_its_clients_asked_for(
    installed: Command, site: dict[str, str], tmp_path: Path, sshd: Sshd, fleet: str
) -> None:
    python = tmp_path / "python"  # the interpreter of the other host, which has the package
    python.write_text(f'#!/bin/sh\nPYTHONPATH={site["PYTHONPATH"]} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    places = f"{{ssh: [{sshd.host}], python: {python}}}" if fleet == "ssh" else fleet
    text = PRESS.replace("NAME", "0" if fleet == "local" else "1")
    run = pressed(installed, tmp_path, text, "--set", f"places={places}", PILEUP_SSH=sshd.command)
    found = cases(run)
    assert {name: case["outcome"] for name, case in found.items()} == dict.fromkeys(OPERATIONS, "passed"), [
        case["reason"] for case in found.values()
    ]
    results = json.loads((run.path / "results.json").read_text())
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    assert verdicts == {**{f"C{number}": "met" for number in range(1, 8)}, "C3": "not met"}, results["criteria"]
    assert re.match(r"REDIS CRITICAL - C3 not met \| 'C1'=[0-9.e-]+s 'C2'=", (run.path / "nagios.txt").read_text())
    done = installed("export", str(run.path), "--to", "json-lines", "--out", "tables", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(row) for row in (tmp_path / "tables/operations.jsonl").read_text().splitlines()]
    asked = Counter((row["test"], row["operation"]) for row in rows if row["side"] == "client")
    server = [row for row in rows if row["side"] == "server"]
    for test, names in OPERATIONS.items():
        for command, operation in names.items():
            told = [row for row in server if row["operation"] == command and f"client={test}" in row["labels"]]
            assert len(told) == asked[test, operation] > 0, (test, command)
            assert {row["case"] for row in told} == {test}, "by key, else by time"
    joined = [row for row in server if row["parent"] and row["operation"] == "SET"]
    assert joined


@pytest.mark.timed
@pytest.mark.idle
def test_commands_of_the_server_are_held(installed: Command, tmp_path: Path) -> None:
    run = pressed(installed, tmp_path, HOLD)
    case = cases(run)["held"]
    assert case["outcome"] == "passed", case["reason"]
    assert case["held"]["share"] > 0.5, case["held"]
    assert case["operations"][0]["rate"]["value"] == pytest.approx(300, rel=0.25), "two commands of each iteration"


@pytest.mark.long
@pytest.mark.parametrize("fleet", others_long(["processes:2"], ["processes:2", "local"]))
def test_the_most_connections_are_found(installed: Command, tmp_path: Path, fleet: str) -> None:
    run = pressed(installed, tmp_path, FIND, "--fleet", fleet)
    found = cases(run)["many"]["found"]
    told = {trial["level"]: trial["passed"] for trial in found["trials"] if trial["passed"] is not None}
    assert told == {level: level <= 6 for level in told}, found
    assert set(told.values()) == {True, False}
    assert found["low"] <= 6 <= found["high"], found


@pytest.mark.long
def test_a_server_that_is_there_is_set_and_refuses_when_it_is_full(installed: Command, tmp_path: Path) -> None:
    with launched(LAUNCHER, tmp_path / "server") as url:
        run = pressed(installed, tmp_path, SET.replace("URL", url))
        command = ["redis-cli", "-u", url, "config", "get", "maxmemory"]
        asked = subprocess.run(command, check=True, capture_output=True, text=True)
    counts = {case["point"]["near.maxmemory"]: case["operations"][0]["counts"] for case in cases(run).values()}
    assert {value: (of["passed"], of["refused"], of["failed"]) for value, of in counts.items()} == {
        "0": (20, 0, 0),
        "1": (0, 20, 0),
    }
    assert asked.stdout.split() == ["maxmemory", "0"], "as it was before"
    results = json.loads((run.path / "results.json").read_text())
    (error,) = (each for each in results["errors"] if each["outcome"] == "refused")
    assert "OutOfMemoryError" in error["message"], error
    (verdict,) = results["criteria"]
    assert verdict["verdict"] == "not covered", verdict
    assert "only commands of 10000 us or more" in json.dumps(results)
