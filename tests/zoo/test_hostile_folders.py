"""Hostile run folders before every command that reads one: nothing of them is done, and each is reported in a line."""

import json
import os
import re
import resource
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.model.surroundings import introduce
from tests.support import others_long
from tests.zoo import hostile_folders
from tests.zoo.hostile_folders import Victim

SUITE = """
pileup: 1
title: evil
targets:
  se:
    kind: posix
    url: OUTSIDE
    settings: {level: {set: "touch OUTSIDE/executed {value}", get: "touch OUTSIDE/executed"}}
tests:
  - {name: own, use: "./evil.py:Evil"}
  - {name: fill, use: storage.write, target: se, options: {files: 1, size: 1 B}}
"""
PLUGIN = "from pathlib import Path\nPath('OUTSIDE/executed').touch()\n"
QUIET = "pileup: 1\ntitle: quiet\ntests: [{name: nothing, use: noop}]\n"
SLOWEST = 5.0
"""Seconds of CPU that any command may take with any folder."""
LARGEST = 1 << 31
"""Bytes by which they may let this process grow, all together."""
CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8}
WORDS_OF_OURS = re.compile(r"fault of pileup|internal error of pileup|Traceback|Error\(|TypeError|KeyError")
"""What nobody who reads a message can use."""
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
COMMANDS: dict[str, Callable[[Path, Path], list[str]]] = {
    "show": lambda run, out: ["show", str(run)],
    "report": lambda run, out: ["report", str(run), "--to", "junit"],
    "export": lambda run, out: ["export", str(run), "--to", "json", "--out", str(out)],
    "compare": lambda run, out: ["compare", str(run.with_name("harmless")), str(run)],
    "merge": lambda run, out: ["merge", str(run), str(run.with_name("harmless")), "--out", str(out)],
    "verify": lambda run, out: ["verify", str(run)],
    "resume": lambda run, out: ["resume", str(run), "--quiet"],
    "clean": lambda run, out: ["clean", str(run)],
    "dry-run": lambda run, out: ["clean", str(run), "--dry-run"],
}
ACTS = ("server", "scratch", "pause", "fault", "disk", "objects", "jobs", "delegations", "setting")
"""How the names of folders begin that are after what `clean` does: their records are reported and exported alike."""


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    base = tmp_path_factory.mktemp("victim")
    outside = base / "outside"
    nonce = secrets.token_hex(16)
    for name in ("pileup-scratch/deep", f"pileup-{nonce[:12]}-1/deep"):
        (outside / name).mkdir(parents=True)
        (outside / name / "file").write_text("mine")
    (outside / "precious").write_text("mine")
    (base / "evil.yaml").write_text(SUITE.replace("OUTSIDE", str(outside)))
    (base / "evil.py").write_text(PLUGIN.replace("OUTSIDE", str(outside)))
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        yield Victim(outside, process.pid, base / "evil.yaml", nonce)
        process.kill()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, victim: Victim) -> list[Path]:
    return hostile_folders.make(tmp_path_factory.mktemp("runs"), victim)


@pytest.fixture(autouse=True)
def nothing_happened_outside(victim: Victim) -> Iterator[None]:
    before = state(victim)
    yield
    assert state(victim) == before


def state(victim: Victim) -> list[object]:
    paths = sorted([*victim.outside.rglob("*"), victim.outside.parent])
    files = [(str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths]
    return [*files, Path(f"/proc/{victim.pid}/stat").read_bytes().rpartition(b")")[2].split()[0]]


def test_there_are_many(runs: list[Path]) -> None:
    assert len(runs) >= 40


@pytest.mark.long
@pytest.mark.parametrize("command", others_long(COMMANDS.keys() - {"compare", "verify", "merge"}, COMMANDS))
def test_s5_s6_s10_s20_a_hostile_folder_is_told_and_nothing_else(
    command: str, runs: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen = [run for run in runs if command not in ("export", "report") or not run.name.startswith(ACTS)]
    wrong = [
        f"{run.name}: {problem}" for run in chosen for problem in problems(command, run, tmp_path / run.name, capfd)
    ]
    assert wrong == []


def problems(command: str, run: Path, out: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[str]:
    """Yield what a command does that it should not."""
    out.mkdir()
    begin = time.process_time()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = main(COMMANDS[command](run, out))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - grown
    said = capfd.readouterr()
    if (took := time.process_time() - begin) > SLOWEST:
        yield f"it took {took:.1f} s"
    if grown * 1024 > LARGEST:
        yield f"it took {grown} KiB"
    if code not in CODES or WORDS_OF_OURS.search(said.err.partition("please report")[0]):
        yield f"code {code}: {said.err}"
    if code not in (0, 1, 4, 8) and not said.err.startswith(("error: ", "note: ")):
        yield f"code {code} without a word: {said.err}"
    if len(said.err) > 2000 or said.err.count("\n") > 8:
        yield f"it says too much: {len(said.err)} bytes, {said.err[:300]}"
    if found := RAW.search(said.out + said.err):
        yield f"it prints {found[0]!r}"
    if command in ("resume", "clean", "dry-run") and code == 0 and said.out != "nothing to clean up\n":
        yield f"it does something: {said.out}"


@pytest.mark.long
def test_s5_s6_a_run_beside_hostile_folders_looks_at_none_of_them(
    runs: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "quiet.yaml").write_text(QUIET)
    code = main(["run", str(tmp_path / "quiet.yaml"), "--out", str(runs[0].parent), "--quiet"])
    said = capfd.readouterr()
    assert (code, said.err) == (0, "")


@pytest.mark.long
def test_s6_hostile_folders_in_the_registry_hinder_nobody(
    victim: Victim, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs of this user whose folders others could change: still nothing outside is touched, and all is reported."""
    folders = hostile_folders.make(tmp_path / "runs", victim)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    registry = tmp_path / "state" / "pileup"
    registry.mkdir(parents=True, mode=0o700)
    for path in folders:
        enter(registry, path)
    (tmp_path / "quiet.yaml").write_text(QUIET)
    begin = time.process_time()
    code = main(["run", str(tmp_path / "quiet.yaml"), "--out", str(tmp_path / "runs"), "--quiet"])
    said = capfd.readouterr()
    monkeypatch.undo()
    introduce(os.environ, os.geteuid())
    assert code == 0, said.err
    assert "Traceback" not in said.err
    assert not RAW.search(said.err)
    assert all(line.startswith("left by ") for line in said.err.splitlines()), said.err
    assert time.process_time() - begin < 2 * SLOWEST


def enter(registry: Path, run: Path) -> None:
    """Enter a folder as a run of ours, with a nonce of its own."""
    nonce = secrets.token_hex(16)
    try:
        info = json.loads((run / "run.json").read_bytes() if (run / "run.json").is_file() else b"{}")
        if "format" in info and not (run / "run.json").is_symlink():
            (run / "run.json").write_text(json.dumps(info | {"nonce": nonce}))
    except (ValueError, TypeError, RecursionError, OverflowError, MemoryError):
        pass
    found = run.lstat()
    entry = {"folder": str(run), "device": found.st_dev, "inode": found.st_ino, "nonce": nonce, "digest": "0" * 64}
    entry |= {"plugins": {}, "host": os.uname().nodename, "user": os.geteuid(), "boot": "", "namespace": 0}
    (registry / f"{nonce}.json").write_text(json.dumps(entry | {"pid": 1, "ticks": 1, "time": 1}))
