"""Tokens that expire in the middle of a load are renewed; what failed meanwhile is compared with the servers' logs."""

import csv
import json
from pathlib import Path

import pytest

import pileup as library
from pileup.builtin.xrootd import launcher
from tests.servers.practice_issuer import practice_issuer
from tests.servers.xrootd import xrootd
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: Tokens that expire
targets:
  se:
    kind: practice-storage
    launch: {keys: ../iam/keys.json}
    credentials: {issuer: {target: iam, client: pileup, secret: $secret, ahead: AHEAD}}
  iam: {kind: practice-issuer, launch: {lifetime: LIFE, service: DELAY, clients: {pileup: $secret}}}
variables: {secret: correct-horse}
options: {files: 5, size: 1 kB}
tests:
  - {name: fill, use: storage.write, target: se}
  - {name: read, use: storage.read, target: se, after: [fill], load: {rate: 50 /s, for: 6 s}, fail_when: never}
  - name: python
    use: "./looking.py:Looking"
    target: se
    after: [fill]
    with: [read]
    load: {rate: 20 /s}
    fail_when: never
"""
LOOKING = '''
from pileup.plugin import Op, Test


class Looking(Test):
    """Look at a file from Python."""

    needs = "files"

    def run(self, op: Op) -> None:
        with op("stat"):
            self.target.list("")
'''


def run(folder: Path, life: str, ahead: str, delay: str = "1 ms") -> Path:
    (folder / "s.yaml").write_text(SUITE.replace("LIFE", life).replace("AHEAD", ahead).replace("DELAY", delay))
    (folder / "looking.py").write_text(LOOKING)
    done = pileup("run", "s.yaml", "--quiet", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    found = folder / run_folder(done)
    assert "correct-horse" not in done.stdout + done.stderr
    for file in found.rglob("*"):
        text = file.read_bytes() if file.is_file() else b""
        assert b"correct-horse" not in text, file
        assert b"eyJ" not in text, f"a token is in {file}"
    return found


def log(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as text:
        return list(csv.DictReader(text))


def rows(folder: Path | str) -> list[tuple[object, ...]]:
    query = "SELECT id, test, outcome, cause FROM caused WHERE test IN ('read', 'python') AND parent = 0"
    return list(library.open(folder).sql(query))


@pytest.mark.long
def test_who_renews_in_time_loses_nothing(tmp_path: Path) -> None:
    found = run(tmp_path, "4 s", "2500 ms")
    assert {(outcome, cause) for _, test, outcome, cause in rows(found) if test == "read"} == {("passed", "")}
    granted = [line["note"] for line in log(found / "servers/iam/practice-issuer.csv") if "granted" in line["note"]]
    tokens = {line["note"] for line in log(found / "servers/se/practice-storage.csv") if line["status"] == "200"}
    assert len(granted) >= 4
    assert len(tokens) >= 4, "each of them was shown"
    assert tokens <= {note.split(" ")[2] for note in granted}


@pytest.mark.long
def test_what_is_refused_while_a_token_is_over_is_told_apart_as_the_server_tells_it(tmp_path: Path) -> None:
    found = run(tmp_path, "2 s", "0 s", "300 ms")
    true = log(found / "servers/se/practice-storage.csv")
    reads = [line for line in true if line["method"] == "GET"]
    expired = {int(line["id"]) for line in reads if line["note"] == "expired"}
    native = [(int(str(row)), outcome, cause) for row, test, outcome, cause in rows(found) if test == "read"]
    assert {row for row, outcome, cause in native if (outcome, cause) == ("refused", "token expired")} == expired
    assert len(expired) > 10
    assert {outcome for row, outcome, _ in native if row not in expired} == {"passed"}
    python = [(outcome, cause) for _, test, outcome, cause in rows(found) if test == "python"]
    assert ("refused", "token expired") in python
    assert ("passed", "") in python
    assert set(python) == {("refused", "token expired"), ("passed", "")}
    results = json.loads((found / "results.json").read_text())
    assert {error["cause"] for error in results["errors"]} == {"token expired"}
    shown = pileup("show", str(found), cwd=tmp_path)
    assert "token expired" in shown.stdout


ROOT = """
pileup: 1
title: Tokens over root
targets:
  root:
    kind: xrootd
    url: "URL"
    credentials: {ca: "CA", issuer: {url: "ISSUER", client: pileup, secret_file: secret, ahead: 1500 ms}}
options: {files: 5, size: 1 kB}
tests:
  - {name: fill, use: storage.write, target: root}
  - {name: read, use: storage.read, target: root, after: [fill], load: {rate: 40 /s, for: 6 s}}
  - {name: python, use: "./looking.py:Looking", target: root, after: [fill], with: [read], load: {rate: 10 /s}}
"""


@pytest.mark.long
def test_the_engine_shows_xrootd_each_new_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"lifetime": "3 s", "iss": launcher.ISSUER, "token_audience": launcher.AUDIENCE}
    with practice_issuer(tmp_path, **words) as issuer:
        keys = json.loads(issuer.keys.read_text())
        monkeypatch.setattr("pileup.builtin.credentials.private_ca.TokenIssuer.public_keys", lambda _: keys)
        with xrootd(tmp_path / "site", tls=True, authorization="tokens") as site:
            text = ROOT.replace("URL", site.roots).replace("CA", site.ca).replace("ISSUER", issuer.url)
            (tmp_path / "s.yaml").write_text(text)
            (tmp_path / "secret").write_text("open-sesame\n")
            (tmp_path / "looking.py").write_text(LOOKING)
            done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
            assert done.returncode == 0, done.stdout + done.stderr
    granted = [line["note"] for line in log(issuer.log) if "granted" in line["note"]]
    assert len(granted) >= 4
    assert {outcome for _, _, outcome, _ in rows(run_folder(done))} == {"passed"}


def test_an_issuer_that_is_down_or_none_is_an_unreachable_target(tmp_path: Path) -> None:
    issuer = "issuer: {url: 'http://127.0.0.1:9/', client: a, secret: not-shown-anywhere}"
    text = f"""
pileup: 1
title: No issuer
targets: {{se: {{kind: webdav, url: "http://127.0.0.1:9/", credentials: {{{issuer}}}}}}}
tests: [{{name: look, use: storage.list}}]
"""
    (tmp_path / "s.yaml").write_text(text)
    done = pileup("run", "s.yaml", cwd=tmp_path)
    assert done.returncode == 5, done.stdout + done.stderr
    told = " ".join((done.stdout + done.stderr).split())
    assert "http://127.0.0.1:9/ gives the client 'a' no token: no connection to 127.0.0.1:9" in told
    assert "expected a token" in told
    assert "not-shown-anywhere" not in told


def test_an_issuer_by_name_is_another_target_that_can_give_tokens(tmp_path: Path) -> None:
    text = """
pileup: 1
title: Wrong issuers
targets:
  a: {kind: webdav, url: "http://127.0.0.1:9/", credentials: {issuer: {target: imm, client: a, secret: b}}}
  b: {kind: webdav, url: "http://127.0.0.1:9/", credentials: {issuer: {target: a, client: a, secret: b}}}
  c: {kind: webdav, url: "http://127.0.0.1:9/", credentials: {issuer: {client: a, secret: b}}}
  iam: {kind: practice-issuer, launch: {}}
tests: [{name: look, use: storage.list, target: a}]
"""
    (tmp_path / "s.yaml").write_text(text)
    done = pileup("validate", "s.yaml", cwd=tmp_path)
    assert done.returncode == 3
    told = " ".join((done.stdout + done.stderr).split())
    assert "the issuer of target 'a' is 'imm'" in told
    assert "'iam'" in told
    assert "the issuer of target 'b' is 'a', of kind 'webdav'" in told
    assert "neither a url nor a target" in told


@pytest.mark.long
def test_an_issuer_that_dies_in_mid_run_is_felt_when_its_last_token_ends(tmp_path: Path) -> None:
    text = SUITE.replace("AHEAD", "500 ms").replace("DELAY", "1 ms").replace("LIFE", "3 s")
    fault = "faults: [{at: 1 s, do: kill, target: iam}]\n"
    (tmp_path / "s.yaml").write_text(text + fault)
    (tmp_path / "looking.py").write_text(LOOKING)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    found = tmp_path / run_folder(done)
    reads = [(outcome, cause) for _, test, outcome, cause in rows(found) if test == "read"]
    assert set(reads) == {("passed", ""), ("refused", "token expired")}
    assert reads.count(("refused", "token expired")) > 50
