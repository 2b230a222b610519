"""Logs of practice storage, nginx, Apache and XRootD joined with clients: all matched, times as logged."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pileup.builtin.xrootd.launcher import xrootd_launcher
from pileup.plugin import Accepts, Daemon
from pileup.plugin.logs import Tail
from pileup.record import RunFolder
from tests.servers.apache import apache
from tests.servers.launched import supervised
from tests.servers.nginx import nginx
from tests.servers.practice import practice_storage
from tests.servers.xrootd import Xrootd
from tests.support import pileup, require_program, run_folder

S, MS = 10**9, 10**6
OFF = 16 * 60 * S
NGINX = """log_format pileup '$remote_addr - $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" '
        '"$http_user_agent" $request_time $msec $http_x_pileup_id';
    access_log {folder}/access.log pileup;"""
SUITE = """
pileup: 1
title: What the server says
targets: {se: TARGET}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 20, size: 10 kB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 20, size: 10 kB}
    load: {clients: 4, for: 2 s, think: 5 ms}
monitors:
MONITORS
"""


@contextlib.contextmanager
def shifted(log: Path, other: Path) -> Iterator[None]:
    """Write the log of practice storage again, by a clock that is ahead, while it grows."""
    over = threading.Event()

    def line(text: str) -> str:
        fields = text.split(",")
        if fields[0].isdigit():
            fields[3:7] = [str(int(each) + OFF) if int(each) else each for each in fields[3:7]]
        return ",".join(fields)

    def copy() -> None:
        tail = Tail(log, back=1 << 20)
        with other.open("a") as file:
            while not over.wait(0.05):
                file.writelines(f"{line(each)}\n" for each in tail.lines())
                file.flush()
        tail.close()

    thread = threading.Thread(target=copy)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def ran(folder: Path, target: str, monitors: str) -> tuple[RunFolder, dict[str, Any]]:
    """Run the suite; return its record and results."""
    (folder / "suite.yaml").write_text(SUITE.replace("TARGET", target).replace("MONITORS", monitors))
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder)
    made = RunFolder.open(folder / run_folder(done))
    return made, json.loads((made.path / "results.json").read_text())


def shares(results: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    """(monitor, operation of clients) -> how many, and how many matched."""
    return {(each["monitor"], each["operation"]): (each["count"], each["matched"]) for each in results["joined"]}


@pytest.mark.long
def test_practice_storage_and_its_log_by_a_clock_that_is_ahead_by_16_minutes(tmp_path: Path) -> None:
    log, off = tmp_path / "practice.csv", tmp_path / "ahead.csv"
    off.touch()
    monitors = "".join(
        f"  - {{use: log, name: {name}, format: practice, file: {path}, watches: se, every: 100 ms}}\n"
        for name, path in (("here", log), ("ahead", off))
    )
    with practice_storage("--service", "2 ms", "--log", str(log)) as url, shifted(log, off):
        folder, results = ran(tmp_path, f'{{kind: webdav, url: "{url}"}}', monitors)
    found = shares(results)
    assert set(found) == {(name, op) for name in ("here", "ahead") for op in ("write", "read")}
    assert all(count == matched for count, matched in found.values())
    assert not [each for each in results["one_sided"] if each["side"] == "client"]
    truth = {}
    for line in log.read_text().splitlines()[1:]:
        fields = line.split(",")
        truth[int(fields[0])] = int(fields[3]), int(fields[6])
    for name in ("here", "ahead"):
        rows = folder.operations().arrays("parent", "start", "end", where=f"monitor = '{name}' AND parent <> 0")
        times = np.array([truth[parent] for parent in rows["parent"].tolist()])
        assert np.abs(rows["start"] - times[:, 0]).max() < MS
        assert np.abs(rows["end"] - times[:, 1]).max() < MS
    (clock,) = results["clocks"]
    assert clock["monitor"] == "ahead"
    assert abs(clock["ahead"] - OFF) < MS
    assert [each.monitor for each in folder.events() if each.kind == "clock"] == ["ahead"]


@pytest.mark.long
def test_nginx_by_the_ids_in_its_log(tmp_path: Path) -> None:
    with nginx(tmp_path, logs=True, log=NGINX) as url:
        monitor = (
            f"  - {{use: log, name: web, format: nginx, file: {tmp_path}/access.log, watches: se, every: 100 ms}}\n"
        )
        folder, results = ran(tmp_path, f'{{kind: webdav, url: "{url}"}}', monitor)
    found = shares(results)
    assert set(found) == {("web", "write"), ("web", "read")}
    assert all(count == matched for count, matched in found.values())
    lines = (tmp_path / "access.log").read_text().splitlines()
    ends = {int(line.split()[-1]): int(line.split()[-2].replace(".", "")) * MS for line in lines if line[-1] != "-"}
    rows = folder.operations().arrays("parent", "end", where="side = 'server' AND parent <> 0")
    assert all(ends[parent] == end for parent, end in zip(rows["parent"].tolist(), rows["end"].tolist(), strict=True))
    assert results["clocks"] == []


@pytest.mark.long
def test_apache_by_the_ids_in_its_log(tmp_path: Path) -> None:
    with apache(tmp_path, logs=True) as url:
        log = tmp_path / "access.log"
        monitor = f"  - {{use: log, name: web, format: apache, file: {log}, watches: se, every: 100 ms}}\n"
        folder, results = ran(tmp_path, f'{{kind: webdav, url: "{url}"}}', monitor)
    found = shares(results)
    assert set(found) == {("web", "write"), ("web", "read")}
    assert all(count == matched for count, matched in found.values())
    lines = [line.split() for line in (tmp_path / "access.log").read_text().splitlines()]
    times = {int(line[-1]): (int(line[-2]) * 1000, int(line[-3]) * 1000) for line in lines if line[-1] != "-"}
    rows = folder.operations().arrays("parent", "start", "end", where="side = 'server' AND parent <> 0")
    assert [times[parent] for parent in rows["parent"].tolist()] == list(
        zip(rows["start"].tolist(), (rows["end"] - rows["start"]).tolist(), strict=True)
    )
    assert results["clocks"] == []


@pytest.mark.long
def test_xrootd_by_a_login_name_for_each_client(tmp_path: Path, traced: Callable[..., Any]) -> None:
    with traced() as (url, log):
        monitor = f"  - {{use: log, name: xr, format: xrootd, file: {log}, watches: se, every: 100 ms}}\n"
        target = f'{{kind: xrootd, url: "{url}", credentials: {{user: "p{{client}}"}}}}'
        folder, results = ran(tmp_path, target, monitor)
    found = shares(results)
    assert set(found) == {("xr", "write"), ("xr", "read")}
    assert all(count == matched for count, matched in found.values()), results["one_sided"]
    with folder.operations().connect() as connection:
        (strange,) = connection.execute(
            """SELECT count(*) FROM operations s JOIN operations c ON s.parent = c.id
            WHERE s.side = 'server' AND s.client <> c.client"""
        ).fetchone() or (None,)
    assert strange == 0
    reads = next(each for each in results["joined"] if each["operation"] == "read")
    assert reads["requests"] == 3 * reads["matched"], "open, read, close"


@pytest.fixture
def traced(tmp_path: Path) -> Callable[..., Any]:
    """An XRootD that writes its trace with microseconds, which it does into a file alone."""

    @contextlib.contextmanager
    def start() -> Iterator[tuple[str, Path]]:
        require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins")
        made = xrootd_launcher({"directives": ("xrootd.trace request response emsg",)}, "root", "roots")
        *others, daemon = made.processes
        assert isinstance(daemon, Daemon)
        logs = (*daemon.command, "-z", "-l", "={short}/xrootd.log")
        daemon = replace(daemon, command=logs, ready=Accepts(), listen=())
        with supervised(replace(made, processes=(*others, daemon)), tmp_path / "server") as supervisor:
            server = Xrootd(supervisor)
            yield server.root, server.home / "xrootd.log"

    return start
