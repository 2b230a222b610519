"""The same tests through the engine, the official bindings and xrdcp: the same operations in the record."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers.xrootd import xrootd
from tests.support import pileup, require_bindings, run_folder

require_bindings()

FILES = {"files": 4, "size": "200 kB"}


def suite(url: str, credentials: dict[str, str], clients: list[str], **more: Any) -> dict[str, Any]:
    targets = {
        client: {"kind": "xrootd", "url": url, "credentials": credentials, "options": {"client": client}}
        for client in clients
    }
    tests = []
    for client in clients:
        options = {**FILES, "folder": f"of-{client}"}
        fill = {"name": f"fill-{client}", "use": "storage.write", "target": client, "options": options}
        load = {"clients": 3, "times": 30} if client != "xrdcp" else {"times": 30}
        read = {**fill, "name": f"read-{client}", "use": "storage.read", "after": [fill["name"]], "load": load}
        gone = {**read, "name": f"gone-{client}", "options": {**FILES, "folder": "nowhere"}, "load": {"times": 3}}
        tests += [fill, read, gone]
    return {"pileup": 1, "title": "clients", "targets": targets, "tests": tests, **more}


def run(folder: Path, suite: dict[str, Any], code: int) -> dict[str, Any]:
    (folder / "suite.yaml").write_text(json.dumps(suite))
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    record = folder / run_folder(done)
    results: dict[str, Any] = json.loads((record / "results.json").read_text())
    return {**results, "run": json.loads((record / "run.json").read_text())}


def told(results: dict[str, Any], client: str, *words: str) -> Any:
    """Return what the results report on the operations of a client, without times."""
    found = []
    for case in results["cases"]:
        if case["name"].endswith(f"-{client}"):
            operations = [[each[word] for word in ("operation", "counts", *words)] for each in case["operations"]]
            found.append((case["name"].removesuffix(client), case["outcome"], case["reason"], operations))
    return found


def engines(results: dict[str, Any], client: str) -> set[str]:
    return {case["engine"] for case in results["run"]["cases"] if case["name"].endswith(f"-{client}")}


@pytest.mark.long
@pytest.mark.parametrize("places", [None, {"processes": 2}])
def test_operations_are_the_same_whoever_does_them(tmp_path: Path, places: Any) -> None:
    with xrootd(tmp_path / "se", tls=True, authorization="tokens") as server:
        credentials = {"ca": server.ca, "token_file": server.token_file}
        more = {"places": places} if places else {}
        results = run(tmp_path, suite(server.roots, credentials, ["native", "bindings"], **more), 1)
    native = told(results, "native", "bytes", "calls")
    assert [case[1] for case in native] == ["passed", "passed", "failed"]
    assert told(results, "bindings", "bytes", "calls") == native
    assert (engines(results, "native"), engines(results, "bindings")) == ({"native"}, {"python"})


@pytest.mark.long
def test_xrdcp_copies_whole_files(tmp_path: Path) -> None:
    with xrootd(tmp_path / "se") as server:
        results = run(tmp_path, suite(server.root, {}, ["native", "xrdcp"]), 1)
    native = told(results, "native", "bytes")
    assert [case[1] for case in native] == ["passed", "passed", "failed"]
    assert told(results, "xrdcp", "bytes") == native


REFUSALS = {
    "stat": ("xrdcp", {"use": "storage.stat"}, "`client: xrdcp` has no stat"),
    "a part": ("xrdcp", {"use": "storage.read", "options": {"length": "1 kB"}}, "copies whole files"),
    "vectors": (
        "bindings",
        {"use": "storage.read", "options": {"access": "vector", "pieces": 2, "length": "3 MB", "size": "9 MB"}},
        "reads vectors of larger pieces; expected at most 2097136 bytes",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_a_client_cannot_do_is_refused_before_the_run(tmp_path: Path, what: str) -> None:
    client, test, words = REFUSALS[what]
    target = {"kind": "xrootd", "url": "root://127.0.0.1:1//data", "options": {"client": client}}
    plain = {"pileup": 1, "title": "clients", "targets": {"se": target}, "tests": [{"name": "t", **test}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(plain))
    done = pileup("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "suite.yaml:1:" in done.stderr and "test 't' on target 'se': `client: " in done.stderr
    assert words in done.stderr
    assert "expected" in done.stderr
