"""Tokens, passwords and keys that a run uses are in nothing that it leaves or shows: record, outputs, processes."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import psutil
import pytest

from tests.servers.xrootd import Xrootd, xrootd
from tests.support import pileup

PASSWORD = "correct horse battery staple"
SUITE = """
pileup: 1
title: Nothing secret
targets:
  dav: {kind: webdav, launch: {tls: true, authorization: macaroons}}
  root: {kind: xrootd, launch: {tls: true, authorization: tokens, trace: true}}
  mine: {kind: xrootd, url: "ROOTS", credentials: {token: discover, ca: "CA"}}
  file: {kind: webdav, url: "HTTPS", credentials: {token_file: "FILE", ca: "CA"}}
  wrong: {kind: webdav, url: "HTTPS", credentials: {token: $wrong, ca: "CA"}}
  basic: {kind: http, url: "HTTPS", credentials: {user: me, password: PASSWORD, ca: "CA"}}
variables: {wrong: "WRONG"}
options: {files: 3, size: 10 kB}
tests:
TESTS
  - {name: refused, use: storage.write, target: wrong}
  - {name: knocks, use: http.request, target: basic, options: {path: "put/no"}, load: {times: 2}}
  - {name: python, use: "./prying.py:Prying", target: file, load: {times: 2}}
  - {name: apart, use: "./prying.py:Prying", target: mine, isolate: process, load: {times: 2}}
monitors:
  - {use: xrootd, name: one, target: root, every: 100 ms}
  - {use: xrootd, name: two, url: "ROOTS", token_file: "FILE", ca: "CA", every: 100 ms}
"""
EACH = """
  - {name: fill-NAME, use: storage.write, target: NAME}
  - {name: read-NAME, use: storage.read, target: NAME, after: [fill-NAME], load: {clients: 3, times: 30}}
  - {name: none-NAME, use: storage.stat, target: NAME, options: {names: [nonsuch]}}
"""
PRYING = '''
from pileup.plugin import Op, Test


class Prying(Test):
    """Show everything that Python shows of a target."""

    needs = "files"

    def run(self, op: Op) -> None:
        print(self.target, repr(self.target), self.target.credentials, self.target.client(), self.context)
        print(vars(self.target))
        with op("list"):
            self.target.list("")
        raise RuntimeError(f"{self.target.credentials!r} {self.target.identity!r}")
'''


class Watcher:
    """Looks at the command lines of all processes, and at the secrets of launched servers, while a run goes on."""

    def __init__(self, runs: Path) -> None:
        self._runs = runs
        self._end = threading.Event()
        self.lines: set[str] = set()
        self.secrets: dict[str, str] = {}

    def __enter__(self) -> "Watcher":
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(0.02):
            for process in psutil.process_iter():
                with contextlib.suppress(psutil.Error):
                    self.lines.add("\0".join(process.cmdline()))
            for journal in self._runs.glob("*/journal.jsonl"):
                self._look(journal)

    def _look(self, journal: Path) -> None:
        for line in journal.read_text().splitlines():
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if (entry.get("what"), entry.get("state")) == ("scratch", "made"):
                    self._take(Path(entry["path"]))

    def _take(self, home: Path) -> None:
        for name in ("macaroons", "tokens", "macaroon.key", "key.pem"):
            with contextlib.suppress(OSError):
                if text := (home / name).read_text():
                    self.secrets[str(home / name)] = text


def needles(text: str) -> Iterator[str]:
    """What of a secret must not be seen: it, each long line, and the signature that makes a token worth something."""
    for line in text.split("\n"):
        if len(line) >= 16 and not line.startswith("-----"):
            yield line
            yield line[-32:]


def everything(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file of a folder, tables and archives as they are and as text."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield str(path), path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            yield f"{path} (rows)", repr(duckdb.sql(f"SELECT * FROM '{path}'").fetchall())


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Xrootd]:
    """A server that the run finds there."""
    with xrootd(tmp_path / "site", tls=True, authorization="tokens") as running:
        yield running


def write_suite(folder: Path, site: Xrootd, wrong: str) -> None:
    words = {
        "HTTPS": site.https,
        "ROOTS": site.roots,
        "CA": site.ca,
        "FILE": site.token_file,
        "WRONG": wrong,
        "PASSWORD": PASSWORD,
        "TESTS": "".join(EACH.replace("NAME", name) for name in ("dav", "root", "mine")),
    }
    text = re.sub("|".join(words), lambda found: words[found.group()], SUITE)
    (folder / "s.yaml").write_text(text)
    (folder / "prying.py").write_text(PRYING)


@pytest.mark.long
def test_no_secret_is_in_the_record_in_what_is_shown_or_in_the_list_of_processes(tmp_path: Path, site: Xrootd) -> None:
    wrong = site.token[:-40] + "".join(reversed(site.token[-40:]))
    work, runs = tmp_path / "work", tmp_path / "work/runs"
    work.mkdir()
    write_suite(work, site, wrong)
    environment = {**os.environ, "BEARER_TOKEN": site.token, "PILEUP_RUNS": str(runs)}
    with Watcher(runs) as watcher:
        done = subprocess.run(
            [sys.executable, "-m", "pileup", "run", "s.yaml"],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    (run,) = runs.iterdir()
    info = json.loads((run / "run.json").read_text())
    outcomes = {case["name"]: case["outcome"] for case in info["cases"]}
    assert done.returncode == 1, done.stdout + done.stderr
    assert {name: outcome for name, outcome in outcomes.items() if name.startswith(("fill", "read"))} == dict.fromkeys(
        [f"{what}-{name}" for what in ("fill", "read") for name in ("dav", "root", "mine")], "passed"
    )
    assert outcomes["refused"] == outcomes["python"] == outcomes["apart"] == "failed"
    assert {Path(name).name for name in watcher.secrets} == {"macaroons", "tokens", "macaroon.key", "key.pem"}
    assert not [home for home in watcher.secrets if Path(home).parent.exists()], "the servers' folders go with them"

    shown = [done.stdout, done.stderr]
    for words in (["show", str(run)], ["show", str(run), "--json"], ["verify", str(run)]):
        again = pileup(*words, cwd=work)
        shown += [again.stdout, again.stderr]
    exported = pileup("export", str(run), "--to", "csv", "--out", str(tmp_path / "out"), cwd=work)
    assert exported.returncode == 0, exported.stderr
    seen = [("the terminal", "".join(shown)), ("the processes", "\n".join(watcher.lines))]
    seen += [*everything(run), *everything(tmp_path / "out")]
    assert any("site" in text for name, text in seen), "the search finds what is there"
    secrets = {"password": PASSWORD, "token": site.token, "wrong": wrong, **watcher.secrets}
    found = {
        (name, place)
        for name, secret in secrets.items()
        for needle in needles(secret)
        for place, text in seen
        if needle in text
    }
    assert not found
