"""Bytes of ROOT files as pileup counts them, against what servers count: XRootD by monitoring, nginx by its log."""

import json
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Context
from pileup.plugin.credentials import Credentials
from pileup.plugin.testing import run_once
from tests.servers.nginx import nginx
from tests.servers.xrootd import xrootd
from tests.support import give_up
from tests.truth.servers.fstream import file_stream
from tests.unit.builtin.analysis.conftest import generate

BODIES = """log_format bodies '$request_method $status $body_bytes_sent $uri';
    access_log {folder}/access.log bodies;"""
QUERIES = ({"query": "procopt"}, {"query": "proc", "branches": 0.1}, {"query": "proc", "events": 30})


@pytest.fixture(scope="module", params=["ttree", "rntuple"])
def data(request, tmp_path_factory):
    """The files of a data set, by name."""
    root = tmp_path_factory.mktemp("made")
    assert all(done.passed for done in generate(root, events=400, cluster=100, storage=request.param))
    return {path.name: path.read_bytes() for path in (root / "set").iterdir() if path.suffix in {".root", ".json"}}


def queried(target, **options):
    """Return what a query says that it has read: bytes, reads, vector reads."""
    if options.get("engine") == "rdataframe" and find_spec("ROOT") is None:
        give_up("ROOT is not installed: pip install 'pileup[root]'")
    done = run_once(AnalysisQuery, target, context=Context(), folder="set", check_files="size", **options)
    assert done.passed, done.error
    numbers = {sample.metric: int(sample.value) for sample in done.numbers}
    assert sum(operation.bytes for operation in done.operations) == numbers["read"]
    assert sum(operation.calls for operation in done.operations) == numbers["reads"]
    return numbers["read"], numbers["reads"], numbers["vector_reads"]


APART = """
import json, sys
from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Context
from pileup.plugin.credentials import Credentials
from pileup.plugin.testing import run_once
url, given, options = json.loads(sys.argv[1])
target = XrootdTarget(url, Credentials(**given))
done = run_once(AnalysisQuery, target, context=Context(), folder="set", check_files="size", **options)
print(done.error)
print(json.dumps({sample.metric: sample.value for sample in done.numbers}))
"""


def queried_apart(url, given, **options):
    """Return the same of a process of its own: the library of XRootD reads once in a process whom to trust."""
    words = [sys.executable, "-c", APART, json.dumps([url, given, options])]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=100)
    error, numbers = done.stdout.splitlines()
    assert not error
    return tuple(int(json.loads(numbers)[name]) for name in ("read", "reads", "vector_reads"))


def settled(stream, expected):
    """Return what the server has told of .root files once that is as expected, or after 10 s."""
    end = time.monotonic() + 10
    while stream.sent(".root") != expected and time.monotonic() < end:
        time.sleep(0.1)
    return stream.sent(".root")


@pytest.mark.long
@pytest.mark.parametrize("engine", ["uproot", "rdataframe"])
@pytest.mark.parametrize("tls", [False, True])
def test_over_root(data, tmp_path, engine, tls):
    with file_stream() as stream:
        settings = {"tls": True, "authorization": "tokens"} if tls else {}
        with xrootd(tmp_path, directives=stream.directives, **settings) as server:
            for name, content in data.items():
                server.put(f"set/{name}", content)
            given = {"token_file": server.token_file, "ca": server.ca} if tls else {}
            total = vectors = 0
            for options in QUERIES if engine == "uproot" else QUERIES[:1]:
                if tls:
                    read, _, vectored = queried_apart(server.roots, given, engine=engine, **options)
                else:
                    read, _, vectored = queried(XrootdTarget(server.root), engine=engine, **options)
                total, vectors = total + read, vectors + vectored
                assert settled(stream, total) == total
            assert (stream.vectored(".root") > 0) == (vectors > 0)


@pytest.mark.long
def test_over_https_with_a_token(data, tmp_path):
    with file_stream() as stream:
        settings = {"tls": True, "authorization": "tokens", "directives": stream.directives}
        with xrootd(tmp_path, **settings) as server:
            for name, content in data.items():
                server.put(f"set/{name}", content)
            given = Credentials(token_file=server.token_file, ca=server.ca)
            total = sum(queried(WebDavTarget(server.https, given), **options)[0] for options in QUERIES)
            assert settled(stream, total) == total


def logged(log, reads):
    """Return the lines of a log and the sizes of its ranges, once they are as many as the reads, or after 5 s.

    nginx writes a line when the client has the answer already.
    """
    until = time.monotonic() + 5
    while True:
        lines = [line.split() for line in log.read_text().splitlines()]
        sent = [int(size) for method, status, size, uri in lines if status == "206"]
        if len(sent) >= reads or time.monotonic() > until:
            return lines, sent
        time.sleep(0.02)


def test_over_http(data, tmp_path):
    with nginx(tmp_path, logs=True, log=BODIES) as url:
        (tmp_path / "data" / "set").mkdir()
        for name, content in data.items():
            (tmp_path / "data" / "set" / name).write_bytes(content)
        for options in QUERIES:
            (tmp_path / "access.log").write_text("")
            read, reads, vectors = queried(WebDavTarget(url), **options)
            lines, sent = logged(tmp_path / "access.log", reads)
            assert (sum(sent), len(sent), vectors) == (read, reads, 0)
            others = {
                (method, size) for method, status, size, uri in lines if status != "206" and uri.endswith(".root")
            }
            assert all(method != "GET" for method, _ in others), "no body beside the ranges"
