"""Queries that the workers of a fleet run together: the histograms of one worker, wherever files and workers are."""

import json
import os
import random
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from pileup.record import RunFolder
from tests.manifests import plain
from tests.servers.dask import dask_cluster
from tests.support import FIGURES, give_up, others_nightly, run_folder

if find_spec("uproot") is None:
    give_up("uproot is not installed: pip install 'pileup[analysis]'")

pytestmark = pytest.mark.long

DEATHS = tuple(random.Random(20).sample(range(1, 21), 10))
"""Of which packet a worker dies."""
SUITE = """
pileup: 1
title: Together
seed: 7
variables: {storage: ttree}
targets:
  disk: {kind: posix, url: DATA}
options: {folder: /set}
tests:
  - name: make
    use: analysis.generate
    target: disk
    options: {events: 120, cluster: 20, codec: lz4, storage: $storage}
    load: {clients: 2, times: 4}
  - name: all
    use: analysis.query
    target: disk
    after: [make]
    options: {query: proc, together: true, trace: workers}
    load: {clients: 4, times: 8}
  - name: part
    use: analysis.query
    target: disk
    after: [make]
    options: {together: true}
    load: {clients: 2, times: 2}
  - name: none
    use: analysis.query
    target: disk
    after: [make]
    options: {query: noproc, together: true}
    load: {clients: 2, times: 2}
  - name: first
    use: analysis.query
    target: disk
    after: [make]
    options: {events: 50, together: true}
    load: {clients: 2, times: 2}
  - name: own
    use: analysis.query
    target: disk
    after: [make]
    options: {function: "./mine.py:px", together: true}
    load: {clients: 2, times: 2}
"""
MINE = """
import os, pathlib, signal, time
import awkward as ak
import hist

def px(events):
    found = hist.Hist(hist.axis.Regular(128, -8, 8), storage=hist.storage.Int64())
    return {"px": found.fill(ak.ravel(events["Track_px"]))}

def dying(events):
    \"\"\"Fill px; the process that reads the packet whose number is in the file `dies` is killed.\"\"\"
    here = pathlib.Path("HERE")
    with (here / "read").open("ab") as file:
        file.write(b"x")
        number = file.tell()
    time.sleep(0.03)
    if number == int((here / "dies").read_text()):
        os.kill(os.getpid(), signal.SIGKILL)
    return px(events)

def raising(events):
    return {"px": events["Track_pt"]}

def hanging(events):
    while True:
        time.sleep(0.1)

def changing(events):
    return hist.Hist(hist.axis.Regular(int(ak.sum(events["nTrack"])), 0, 1), name="own")
"""


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "pileup", "run", *words, "--quiet", *FIGURES]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "suite.yaml").write_text(SUITE.replace("DATA", str(tmp_path / "data")))
    (tmp_path / "mine.py").write_text(MINE.replace("HERE", str(tmp_path)))
    return tmp_path


def run(folder: Path, *words: str, code: int = 0) -> RunFolder:
    done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return RunFolder.open(folder / run_folder(done))


def rows(record: RunFolder, test: str, operation: str) -> list[tuple[str, int, str]]:
    found = record.operations().connect()
    return found.execute(
        'select "key", client, outcome from operations where test = ? and operation = ?', [test, operation]
    ).fetchall()


def reported(record: RunFolder, test: str, metric: str) -> list[float]:
    return [row.sample.value for row in record.samples() if (row.monitor, row.sample.metric) == (test, metric)]


def held(record: RunFolder) -> None:
    """What holds for queries on any fleet of two places."""
    assert {case["name"]: case["outcome"] for case in plain(record)["cases"]} == dict.fromkeys(
        ("make", "all", "part", "none", "first", "own"), "passed"
    )
    for test, queries, events in (("all", 2, 480), ("part", 1, 480), ("none", 1, 480), ("first", 1, 200)):
        assert len(rows(record, test, "query")) == len(rows(record, test, "tail")) == queries
        assert len(rows(record, test, "file")) == 4 * queries
        again = sum(reported(record, test, "packets_again"))
        assert sum(reported(record, test, "events")) == events * queries or again
        assert sum(reported(record, test, "packet_events")) == sum(reported(record, test, "events"))
        assert len(reported(record, test, "packet_cpu")) == len(rows(record, test, "packet"))
        assert {each for _, each, _ in rows(record, test, "packet")} <= {0, 1, 2, 3}
        assert bool(rows(record, test, "read")) == (test == "all"), "each read is traced where that is asked for"
        clients = 4 if test == "all" else 2
        assert len(rows(record, test, "join")) == clients * queries


@pytest.mark.parametrize("storage", ["ttree", "rntuple"])
def test_two_processes_run_each_query_together(suite: Path, storage: str) -> None:
    record = run(suite, "suite.yaml", "--fleet", "processes:2", "--set", f"storage={storage}")
    held(record)
    places = record.operations().arrays("place", where="operation = 'packet'")["place"]
    assert set(places) == {1, 2}, "both places read"


def test_two_threads_here_run_each_query_together(suite: Path) -> None:
    held(run(suite, "suite.yaml"))


def test_two_workers_of_dask_run_each_query_together(suite: Path) -> None:
    with dask_cluster() as dask:
        held(run(suite, "suite.yaml", "--fleet", dask.fleet))


def test_the_benchmark_has_its_charts_and_its_law(tmp_path: Path) -> None:
    small = [word for value in ("repeats=2", "events=200", "cluster=20") for word in ("--set", value)]
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "run", "suite:proof-bench", "--quiet", *small],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / run_folder(done) / "report.html").read_text()
    for heading in ("Scaling of noproc", "Scaling of procopt", "Scaling of proc", "Active workers"):
        assert heading in page
    for name in ("packets", "events", "nodes", "latency", "processing", "cpu"):
        assert f"query-workers-0-{name}" in page
    assert "2 at a place: T(1) = " in page
    assert re.search(r"The longest: \S+ s in \S+: worker \d+ read event-\S+ \d+-\d+ last; ", page)
    assert "alone, one file: " in page


HOST = """#!/bin/sh
# An ssh to a host of its own: another name, and another disk at DATA.
while [ "$1" != -- ]; do shift; done
exec unshare --mount --uts sh -c 'hostname "$0" && mount --bind "DISKS/$0" DATA && eval "$1"' "$2" "$3"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a process a disk of its own")
def test_hosts_with_disks_of_their_own_read_their_own_files(suite: Path) -> None:
    data = suite / "data"
    for host in ("n1", "n2"):
        (suite / "disks" / host).mkdir(parents=True)
    ssh = suite / "ssh"
    ssh.write_text(HOST.replace("DISKS", str(suite / "disks")).replace("DATA", str(data)))
    ssh.chmod(0o755)
    with (suite / "suite.yaml").open("a") as text:
        text.write(f"places: {{ssh: [n1, n2], command: {ssh}}}\n")
    record = run(suite, "suite.yaml")
    held(record)
    made = {host: {path.name for path in (suite / "disks" / host / "set").glob("*.root")} for host in ("n1", "n2")}
    assert [len(names) for names in made.values()] == [2, 2]
    assert not list(data.glob("set/*.root")), "none is here"
    known = json.loads((data / "set/dataset.json").read_text())
    assert known["events"] == 480
    assert {(file["place"], file["name"]) for file in known["files"]} == {
        (host, name) for host, names in made.items() for name in names
    }
    for place, host in ((1, "n1"), (2, "n2")):
        read = record.operations().arrays("key", where=f"operation = 'open' and place = {place}")["key"]
        assert set(read) <= made[host]
    (next((suite / "disks/n1/set").glob("*.root"))).write_bytes(b"")
    broken = run(suite, "suite.yaml", "--set", "tests.make.options.folder=/other", code=1)
    reasons = {case["name"]: case["reason"] for case in plain(broken)["cases"]}
    assert "truncated: it has 0 bytes; expected" in reasons["all"]


QUERY = """
pileup: 1
title: One query
seed: 7
targets:
  disk: {kind: posix, url: DATA}
tests:
  - name: query
    use: analysis.query
    target: disk
    options: {folder: /set, function: "./mine.py:FUNCTION", together: true}
    load: {clients: 4, times: 4}
"""


@pytest.fixture
def made(suite: Path) -> Path:
    """A data set of 24 clusters, and a query of it."""
    whole = (suite / "suite.yaml").read_text()
    (suite / "make.yaml").write_text(whole[: whole.index("  - name: all")])
    run(suite, "make.yaml", "--fleet", "processes:2")
    (suite / "query.yaml").write_text(QUERY.replace("DATA", str(suite / "data")))
    return suite


def with_function(folder: Path, name: str, *more: str) -> "subprocess.CompletedProcess[str]":
    (folder / "query.yaml").write_text((folder / "query.yaml").read_text().replace("FUNCTION", name))
    words = command("query.yaml", *more)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_root_beside_the_workers_of_dask_reads_together_and_ends(made: Path) -> None:
    if find_spec("ROOT") is None:
        give_up("ROOT is not installed: pip install 'pileup[root]'")
    query = (made / "query.yaml").read_text().replace('function: "./mine.py:FUNCTION"', "engine: rdataframe")
    (made / "query.yaml").write_text(query)
    with dask_cluster() as dask:
        record = run(made, "query.yaml", "--fleet", dask.fleet)
        left = [each.cmdline() for each in psutil.Process(dask.pid).children(recursive=True)]
    assert [outcome for *_, outcome in rows(record, "query", "query")] == ["passed"], "as the truth says"
    assert not [each for each in left if each[-1].endswith("root/worker.py")]


@pytest.mark.parametrize("numbers", others_nightly([DEATHS[:4]], [DEATHS[:4], DEATHS[4:]]), ids=["four", "the rest"])
def test_a_worker_that_is_killed_changes_no_bin_ten_times(made: Path, numbers: tuple[int, ...]) -> None:
    for number in numbers:
        (made / "read").write_text("")
        (made / "dies").write_text(str(number))
        done = with_function(made, "dying", "--fleet", "processes:2")
        assert done.returncode == 1, done.stdout + done.stderr
        record = RunFolder.open(made / run_folder(done))
        (case,) = plain(record)["cases"]
        assert "was lost: it ended by SIGKILL" in case["reason"], "the loss is named"
        assert [outcome for *_, outcome in rows(record, "query", "query")] == ["passed"], "as the truth says"
        iterations = [outcome for *_, outcome in rows(record, "query", "iteration")]
        assert sorted(iterations) == ["lost", "lost", "passed", "passed"], number
        assert reported(record, "query", "packets_lost")[0] >= 1


def test_a_scheduler_that_is_killed_fails_the_run(made: Path) -> None:
    (made / "read").write_text("")
    (made / "dies").write_text("1000000")
    (made / "query.yaml").write_text((made / "query.yaml").read_text().replace("FUNCTION", "dying"))
    with dask_cluster() as dask:
        words = command("query.yaml", "--fleet", dask.fleet)
        with subprocess.Popen(words, cwd=made, stdout=subprocess.PIPE, text=True) as running:
            until = time.monotonic() + 60
            while not (made / "read").stat().st_size and time.monotonic() < until:
                time.sleep(0.01)
            psutil.Process(dask.pid).kill()
            told = running.communicate(timeout=60)[0]
    assert running.returncode == 1
    record = RunFolder.open(made / Path(told.strip().splitlines()[-1]))
    (case,) = plain(record)["cases"]
    assert case["outcome"] == "failed"
    assert "the Dask scheduler" in case["reason"] and "is gone" in case["reason"]
    assert not rows(record, "query", "query"), "no result is claimed"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("raising", "Track_pt"),
        ("changing", "mine.py:changing returned the histogram 'own' with"),
        ("hanging", "still going at the end, in 'packet' (mine.py:"),
    ],
)
def test_a_function_that_goes_wrong_fails_the_query_and_says_why(made: Path, function: str, reason: str) -> None:
    done = with_function(made, function, "--fleet", "processes:2", "--set", "tests.query.timeout=4 s")
    assert done.returncode == 1, done.stdout + done.stderr
    record = RunFolder.open(made / run_folder(done))
    (case,) = plain(record)["cases"]
    assert reason in case["reason"], case["reason"]
    assert not [outcome for *_, outcome in rows(record, "query", "iteration") if outcome == "passed"]


def test_a_changed_file_is_found_before_the_first_query(made: Path) -> None:
    file = next((made / "data/set").glob("*.root"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    done = with_function(made, "px", "--fleet", "processes:2")
    (case,) = plain(RunFolder.open(made / run_folder(done)))["cases"]
    assert "has changed: its sha256 is" in case["reason"]


def test_a_worker_with_another_uproot_is_refused(made: Path) -> None:
    other = made / "other/uproot-9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: uproot\nVersion: 9.9\n")
    with dask_cluster({"PYTHONPATH": str(other.parent)}) as dask:
        done = with_function(made, "px", "--fleet", dask.fleet)
    (case,) = plain(RunFolder.open(made / run_folder(done)))["cases"]
    assert "has uproot 9.9; expected" in case["reason"], case["reason"]
