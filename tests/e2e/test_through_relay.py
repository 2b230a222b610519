"""Clients of every kind go through the relay before their target, with the url, the TLS names and the tokens of it."""

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.servers import liars
from tests.servers.liars import lying_xroot
from tests.servers.tls import tls_server
from tests.servers.xrootd import xrootd
from tests.support import pileup, require_bindings, require_program, run_folder

LATENCY = 30
"""ms."""
GETTING = '''
from pileup.plugin import Op, Test


class Getting(Test):
    """Get a page from Python."""

    needs = "http"

    def run(self, op: Op) -> None:
        with op("get"):
            self.target.connections.send("GET", "")
            self.target.connections.close()
'''


def run(
    folder: Path, targets: dict[str, Any], tests: list[dict[str, Any]], **words: Any
) -> tuple[dict[str, Any], Path]:
    """Run tests, each on the target of its name; return results.json and the run folder."""
    plain = {"pileup": 1, "title": "far", "targets": targets, "tests": tests, **words}
    (folder / "s.yaml").write_text(json.dumps(plain))
    done = pileup("run", "s.yaml", "--quiet", cwd=folder)
    found = folder / run_folder(done)
    results: dict[str, Any] = json.loads((found / "results.json").read_text())
    assert done.returncode == 0, (done.stderr, results["cases"])
    return results, found


def relayed(found: Path) -> dict[str, tuple[int, int]]:
    """Return of each relay, by its target: how many connections it took, and how many answers came back."""
    said = (found / "events/events.jsonl").read_text()
    told = re.findall(r"relay before target (\w+) went (\d+) connections?, .*?, (\d+) answers?", said)
    return {name: (int(connections), int(answers)) for name, connections, answers in told}


def quickest(results: dict[str, Any]) -> dict[str, float]:
    """Return the least response time of the iterations of each test, ms."""
    return {each["test"]: each["operations"][0]["response"]["smallest"] / 1e6 for each in results["cases"]}


def urls(found: Path) -> dict[str, str]:
    return {each["name"]: each["url"] for each in json.loads((found / "run.json").read_text())["targets"]}


@pytest.mark.long
def test_url_tls_name_host_and_token_stay_as_they_are(tmp_path: Path) -> None:
    """The certificate is for localhost, at which no relay listens under that port."""
    require_program("curl", "apt-get install curl")
    (tmp_path / "getting.py").write_text(GETTING)
    with tls_server(tmp_path) as server:
        far = {"kind": "http", "url": server.url, "path": {"latency": f"{LATENCY} ms"}}
        far["credentials"] = {"token": "open-sesame", "ca": server.ca}
        anew = {"keep_alive": False}
        targets = {
            "native": far | {"options": anew},
            "curl": far | {"options": {"client": "curl"}},
            "python": far,
        }
        tests = [{"name": name, "use": "http.request", "target": name, "load": {"times": 3}} for name in targets]
        tests[-1]["use"] = "./getting.py:Getting"
        results, found = run(tmp_path, targets, tests)
        loads = [each for each in server.seen if each[2]]
    assert set(loads) == {("localhost", f"localhost:{server.port}", "Bearer open-sesame")}
    assert urls(found) == dict.fromkeys(targets, server.url)
    taken = relayed(found)
    assert taken.keys() == targets.keys()
    for name, (connections, answers) in taken.items():
        assert connections >= 3 and answers >= 6, (name, "a TLS handshake and a request of each iteration")
    for name, least in quickest(results).items():
        assert least >= 3 * LATENCY, (name, "connect, TLS 1.3, request")


@pytest.mark.long
def test_every_client_of_xrootd_goes_through_its_relay(tmp_path: Path) -> None:
    require_bindings()
    require_program("xrdcp", "apt-get install xrootd-client")
    with xrootd(tmp_path / "se", tls=True, authorization="tokens") as server, xrootd(tmp_path / "plain") as plain:
        who = {"credentials": {"ca": server.ca, "token_file": server.token_file}, "path": {"latency": f"{LATENCY} ms"}}
        root = {"kind": "xrootd", "url": server.roots.replace("127.0.0.1", "localhost")}
        dav = {"kind": "webdav", "url": server.https.replace("127.0.0.1", "localhost")}
        trips = {"root": 3, "bindings": 3, "xrdcp": 5, "https": 1, "curl": 3}
        targets = {
            "root": root | who,
            "bindings": root | who | {"options": {"client": "bindings"}},
            "xrdcp": root | {"url": plain.root, "path": who["path"], "options": {"client": "xrdcp"}},
            "https": dav | who,
            "curl": dav | who | {"options": {"client": "curl"}},
        }
        tests = []
        for name in targets:
            files = {"target": name, "options": {"files": 1, "size": "4 KiB", "folder": f"of-{name}"}}
            tests += [
                {"name": f"fill_{name}", "use": "storage.write", **files},
                {"name": name, "use": "storage.read", "after": [f"fill_{name}"], "load": {"times": 2}, **files},
            ]
        results, found = run(tmp_path, targets, tests)
    assert relayed(found).keys() == targets.keys()
    for name, least in quickest(results).items():
        if name in trips:
            assert least >= trips[name] * LATENCY, name
    assert urls(found) == {name: each["url"] for name, each in targets.items()}


@pytest.mark.long
def test_a_redirect_past_the_relay_is_counted_and_told(tmp_path: Path) -> None:
    require_program("curl", "apt-get install curl")
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with tls_server(tmp_path / "a") as door, tls_server(tmp_path / "b") as disk:
        door.elsewhere = f"{disk.url}x"
        far = {"kind": "webdav", "url": door.url, "path": {"latency": "5 ms"}}
        targets = {name: far | {"options": {"client": name, "insecure": True}} for name in ("native", "curl")}
        asked = {"use": "storage.stat", "options": {"folder": "/f", "files": 1}, "load": {"times": 3}}
        results, _ = run(tmp_path, targets, [{"name": name, "target": name, **asked} for name in targets])
        assert len([each for each in disk.seen if each[1].endswith(str(disk.port))]) >= 6
    for case in results["cases"]:
        past = [each for each in case["operations"] if each["operation"] == "beside-relay"]
        assert [each["counts"]["passed"] for each in past] == [3], case["test"]
        assert "3 redirects led to servers past the relay of `path`" in json.dumps(case), case["test"]


@pytest.mark.parametrize("client", ["native", pytest.param("bindings", marks=pytest.mark.long)])
def test_a_redirect_of_xrootd_past_the_relay_is_counted_and_told(
    tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_bindings()
    with lying_xroot() as door, xrootd(tmp_path / "se") as disk:
        to = struct.pack(">i", disk.port) + b"127.0.0.1"
        monkeypatch.setitem(liars.LIES, "redirect", lambda request: request.answer(liars.REDIRECT, to))
        targets = {
            "disk": {"kind": "xrootd", "url": disk.root},
            "door": {"kind": "xrootd", "url": door, "path": {"latency": "5 ms"}},
        }
        targets["door"]["options"] = {"client": client}
        files = {"folder": "/redirect", "files": 1, "size": "1 KiB"}
        tests = [
            {"name": "fill", "use": "storage.write", "target": "disk", "options": files},
            {"name": "read", "use": "storage.read", "target": "door", "after": ["fill"], "options": files},
        ]
        results, _ = run(tmp_path, targets, tests)
    read = next(each for each in results["cases"] if each["test"] == "read")
    past = [each["counts"]["passed"] for each in read["operations"] if each["operation"] == "beside-relay"]
    assert past == [1] and "1 redirect led to servers past the relay" in json.dumps(read)


@pytest.mark.long
def test_the_relay_of_an_issuer_is_in_the_way_of_its_tokens(tmp_path: Path) -> None:
    launch = {"clients": {"pileup": "open-sesame"}}
    issuer = {"kind": "practice-issuer", "launch": launch, "path": {"latency": f"{LATENCY} ms"}}
    issuer["credentials"] = {"user": "pileup", "password": "open-sesame"}
    test = {"name": "fetch", "use": "token.fetch", "load": {"times": 3}}
    results, _ = run(tmp_path, {"iam": issuer}, [test])
    assert quickest(results)["fetch"] >= LATENCY


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({"kind": "slurm", "launch": {}}, "unix sockets"),
        ({"kind": "database", "url": "mariadb://me@127.0.0.1:1/jobs"}, "drivers"),
        ({"kind": "posix", "url": "/tmp"}, "no connection to relay"),
    ],
)
def test_kinds_without_a_relay_say_why(tmp_path: Path, target: dict[str, Any], said: str) -> None:
    test = {"name": "t", "use": "noop"}
    plain = {"pileup": 1, "title": "x", "targets": {"se": target | {"path": {"latency": "5 ms"}}}, "tests": [test]}
    (tmp_path / "s.yaml").write_text(json.dumps(plain))
    done = pileup("validate", "s.yaml", cwd=tmp_path)
    assert done.returncode == 3 and said in done.stderr and "expected" in done.stderr, done.stderr
