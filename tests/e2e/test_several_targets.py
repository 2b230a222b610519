"""A Python test that needs several targets: all of them are opened, guarded, given a folder, and kept secret."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

MOVE = '''
from pileup.plugin import Op, Refused, Test, option


class Move(Test):
    """Copy what a storage holds to another."""

    needs = {"source": "files", "to": "files"}
    out: str = option("", help="folder there, in the place of the run's own")

    def run(self, op: Op) -> None:
        source, to = self.targets["source"], self.targets["to"]
        self.expect(self.target is source, "the first is not the target")
        with op("read", "a") as reading:
            data = b"".join(source.read("a"))
            reading.bytes = len(data)
        there = self.out or self.context.owns["to"]
        with op("write", "a") as writing:
            to.write(f"{there}/a{op.number}".lstrip("/"), data)
            writing.bytes = len(data)
        self.expect(b"".join(to.read(f"{there}/a{op.number}".lstrip("/"))) == data, "another content")


class Shut(Move):
    """Write where it reads from."""

    def run(self, op: Op) -> None:
        self.targets["source"].write("a", b"mine")


class Both(Move):
    """Write to each, and read it back."""

    def run(self, op: Op) -> None:
        for word, target in self.targets.items():
            name = f"{self.context.owns[word]}/a{op.number}"
            with op(f"write to {word}", name):
                target.write(name, b"content")
            self.expect(b"".join(target.read(name)) == b"content", "another content")
'''
SUITE = """
pileup: 1
title: Several targets
targets:
  near: {kind: posix, url: NEAR}
  far: {kind: posix, url: FAR}
  web: {kind: http, url: "http://127.0.0.1:1"}
tests:
  - {name: move, use: "./move.py:Move", target: {to: far, source: near}, load: {times: 3}}
"""
MANY = "places={processes: 2}"
TOKENS = {"first": "token-of-the-first-3b1", "second": "token-of-the-second-9f4"}
GUARDED = "{kind: practice-storage, launch: {threads: 4, token: TOKEN}, credentials: {token: TOKEN}}"
"""A server that answers 401 to any other token."""
SECRETS = f"""
pileup: 1
title: Two secrets
targets:
  first: {GUARDED.replace("TOKEN", TOKENS["first"])}
  second: {GUARDED.replace("TOKEN", TOKENS["second"])}
tests:
  - {{name: both, use: "./move.py:Both", target: {{source: first, to: second}}, load: {{clients: 2, times: 4}}}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The suite with its test, and two folders."""
    text = SUITE
    for name in ("near", "far"):
        (tmp_path / name).mkdir()
        text = text.replace(f"url: {name.upper()}", f"url: {tmp_path / name}")
    (tmp_path / "near/a").write_bytes(b"content")
    (tmp_path / "move.py").write_text(MOVE)
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    return path


def case(run: Path) -> dict[str, object]:
    """Return what run.json says of the only case."""
    found: dict[str, object] = json.loads((run / "run.json").read_text())["cases"][0]
    return found


def test_both_are_open_and_what_is_made_goes_with_the_run(suite: Path) -> None:
    run = run_folder(pileup("run", str(suite), "--quiet", cwd=suite.parent, drawn=True))
    told = case(run)
    assert (told["outcome"], told.get("reason", "")) == ("passed", "")
    assert (told["target"], told["targets"]) == ("near", {"source": "near", "to": "far"})
    assert [each.name for each in (suite.parent / "near").iterdir()] == ["a"]
    assert list((suite.parent / "far").iterdir()) == []
    assert "source: near, to: far" in (run / "report.html").read_text()


@pytest.mark.long
def test_launched_servers_are_reached_from_other_places_and_each_with_its_own_secret(suite: Path) -> None:
    suite.write_text(SECRETS)
    done = pileup("run", str(suite), "--set", MANY, cwd=suite.parent)
    run = run_folder(done)
    assert case(run)["outcome"] == "passed", case(run)
    said = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    kept = {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert {"run.json", "results.json", "journal.jsonl"} <= set(kept)
    for name, content in (*said.items(), *kept.items()):
        assert [word for word, token in TOKENS.items() if token.encode() in content] == [], name


@pytest.mark.long
def test_a_token_of_one_does_not_open_the_other(suite: Path) -> None:
    given = "credentials: {{token: {second}}}"
    suite.write_text(SECRETS.replace(given.format(**TOKENS), given.replace("second", "first").format(**TOKENS)))
    done = pileup("run", str(suite), "--quiet", cwd=suite.parent)
    told = case(run_folder(done))
    assert told["outcome"] != "passed"
    assert "401" in str(told["reason"]), told
    assert TOKENS["first"] not in done.stdout + done.stderr + json.dumps(told)


@pytest.mark.long
def test_each_is_guarded(suite: Path) -> None:
    done = pileup("run", str(suite), "--quiet", "--set", "limits.inside=/nowhere", cwd=suite.parent)
    assert "outside /nowhere" in json.dumps(case(run_folder(done)))
    value = "tests.move.use=./move.py:Shut"
    done = pileup("run", str(suite), "--quiet", "--set", value, cwd=suite.parent)
    told = case(run_folder(done))
    assert "exists already; this run did not make it" in str(told["reason"]), told
    assert (suite.parent / "near/a").read_bytes() == b"content"


def test_one_that_is_not_there_makes_the_test_unavailable(suite: Path) -> None:
    shutil.rmtree(suite.parent / "far")
    done = pileup("run", str(suite), "--quiet", cwd=suite.parent)
    assert done.returncode == 5, done.stderr
    assert case(run_folder(done))["outcome"] == "unavailable"
