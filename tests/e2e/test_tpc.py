"""Third-party copies between practice storages: the record of each copy is what the log of the active storage says."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from pileup.record import RunFolder
from tests.servers.practice import practice_storage
from tests.support import pileup, run_folder

Finished = subprocess.CompletedProcess[str]

FILES, SIZE = 8, 102_400
SUITE = """pileup: 1
title: Copies
targets:
  near: {kind: practice-storage, launch: {faults: [NEAR]}}
  far: {kind: practice-storage, launch: {markers: 1 ms, faults: [FAR]}}
options: {files: 8, size: 100 KiB}
tests:
  - {name: fill, use: storage.write, target: near}
  - {name: tpc, use: storage.tpc, target: {source: near, destination: far}, after: [fill], options: {mode: MODE},
     load: {times: 8, clients: 8}, timeout: 1 s, fail_when: never}
"""
OUTCOMES = {
    "": "passed",
    "error_in_202": "failed",
    "truncate": "ambiguous",
    "ghost": "ambiguous",
    "wrong_byte": "failed",
}
NOTES = {"": "copied", "error_in_202": "not copied", "truncate": "cut off on purpose", "ghost": "copied"} | {
    "wrong_byte": "copied"
}


def copied(tmp_path: Path, mode: str, fault: str = "", *words: str) -> tuple[Finished, RunFolder]:
    """Run the suite with a fault in the storage that makes the copies."""
    told = f"{{kind: {fault}, share: 0.5, methods: [COPY]}}" if fault else ""
    near, far = ("", told) if mode == "pull" else (told, "")
    text = SUITE.replace("NEAR", near).replace("FAR", far).replace("MODE", mode)
    (tmp_path / "tpc.yaml").write_text(text)
    done = pileup("run", "tpc.yaml", "--quiet", *words, cwd=tmp_path)
    return done, RunFolder.open(tmp_path / run_folder(done))


def lines(folder: RunFolder, target: str, method: str) -> list[dict[str, str]]:
    """Return what a storage has logged of requests of a method."""
    (log,) = (folder.path / "servers").glob(f"{target}*/practice-storage.csv")
    with log.open(newline="") as text:
        return [line for line in csv.DictReader(text) if line["method"] == method]


def rows(folder: RunFolder, operation: str) -> list[tuple[int, str, int, str]]:
    """Return id, outcome, bytes and error of operations of the copies, or of iterations."""
    told = """SELECT id, outcome::VARCHAR, bytes, coalesce(error, '') FROM operations
        WHERE test = 'tpc' AND operation = ? ORDER BY id"""
    with folder.operations().connect() as connection:
        return connection.execute(told, [operation]).fetchall()


@pytest.mark.parametrize("mode", ["pull", "push"])
def test_every_byte_goes_from_one_storage_to_the_other_and_none_by_here(tmp_path: Path, mode: str) -> None:
    done, folder = copied(tmp_path, mode)
    assert done.returncode == 0, done.stdout + done.stderr
    made = rows(folder, "copy")
    assert [row[1:] for row in made] == [("passed", SIZE, "")] * FILES
    assert [row[1:] for row in rows(folder, "checksum")] == [("passed", 0, "")] * FILES
    assert sum(row[2] for row in rows(folder, "marker")) == FILES * SIZE
    active, method, passive = ("far", "GET", "near") if mode == "pull" else ("near", "PUT", "far")
    asked = {int(line["id"]): line for line in lines(folder, active, "COPY")}
    assert set(asked) == {row[0] for row in made}
    assert {line["note"] for line in asked.values()} == {f"copied, {SIZE} bytes moved"}
    moved = [int(line["bytes_out" if method == "GET" else "bytes_in"]) for line in lines(folder, passive, method)]
    assert moved == [SIZE] * FILES


@pytest.mark.long
@pytest.mark.parametrize("mode", ["pull", "push"])
@pytest.mark.parametrize("fault", ["error_in_202", "truncate", "ghost", "wrong_byte"])
def test_each_outcome_is_what_the_storage_has_done(tmp_path: Path, mode: str, fault: str) -> None:
    _, folder = copied(tmp_path, mode, fault)
    asked = {int(line["id"]): line for line in lines(folder, "far" if mode == "pull" else "near", "COPY")}
    wrong = {number for number, line in asked.items() if line["fault"]}
    assert {asked[number]["fault"] for number in wrong} == {fault} and 0 < len(wrong) < FILES
    made = rows(folder, "copy")
    assert len(made) == FILES
    for number, outcome, _, _ in made:
        met = fault if number in wrong else ""
        assert asked[number]["note"].startswith(NOTES[met]), asked[number]
        assert outcome == ("passed" if met == "wrong_byte" else OUTCOMES[met]), (outcome, asked[number])
    ended = [row[1] for row in rows(folder, "iteration")]
    assert sorted(ended) == sorted([OUTCOMES[fault]] * len(wrong) + ["passed"] * (FILES - len(wrong)))


@pytest.mark.long
def test_bytes_of_copies_count_for_the_limit(tmp_path: Path) -> None:
    load = "tests.tpc.load={clients: 1, for: 30 s}"
    done, _ = copied(tmp_path, "pull", "", "--set", load, "--set", "limits.bytes=3 MB")
    assert done.returncode == 7, done.stderr


@pytest.mark.long
def test_copies_stay_in_the_limits_of_the_destination_and_go_with_the_run(tmp_path: Path) -> None:
    log = tmp_path / "far.csv"
    with practice_storage() as near, practice_storage("--log", str(log)) as far:
        words = [f"targets.{name}={{kind: webdav, url: '{url}'}}" for name, url in (("near", near), ("far", far))]
        sets = [word for each in (*words, "limits.inside=/in") for word in ("--set", each)]
        done, _ = copied(tmp_path, "pull", "", *sets)
        assert done.returncode == 0, done.stdout + done.stderr
        with urlopen(far) as answer:
            assert b"a folder with 0 entries" in answer.read()
    with log.open(newline="") as text:
        asked = [line for line in csv.DictReader(text) if line["method"] == "COPY"]
    assert len(asked) == FILES
    assert all(line["path"].startswith("/in/pileup-") for line in asked), asked[0]


@pytest.mark.long
def test_the_example_meets_its_criteria(tmp_path: Path) -> None:
    done = pileup("run", "suite:tpc", "--quiet", "--set", "length=1 s", cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / run_folder(done) / "report.html").stat().st_size > 10_000
