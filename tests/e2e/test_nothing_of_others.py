"""Files of others lie under every name that suites use: they are as they were, however a run ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.plugin import NotThere
from pileup.record import RunFolder
from pileup.run.safety.leaving import end_ground
from pileup.run.safety.marker import MARKER
from pileup.run.safety.own_folders import own_entries
from tests.servers.nginx import nginx
from tests.servers.storages import KINDS, Storage
from tests.support import FIGURES, others_long, pileup, run_folder


@pytest.fixture(params=others_long(("posix", "nginx", "root"), KINDS))
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    (tmp_path / "server").mkdir()
    with KINDS[request.param](tmp_path / "server") as storage:
        yield storage


@pytest.fixture
def theirs(storage: Storage) -> dict[str, str]:
    return storage.fill()


def suite(storage: Storage, here: Path, *tests: dict[str, Any], name: str = "s.yaml", **more: Any) -> None:
    target = {"kind": storage.kind, "url": storage.url, "options": storage.options}
    told = {"pileup": 1, "title": "others", "targets": {"se": target}, "tests": list(tests), **more}
    (here / name).write_text(json.dumps(told))


def spec(name: str, use: str, load: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    return {"name": name, "use": use, "options": options, "load": load or {"once": True}}


def outcomes(done: "subprocess.CompletedProcess[str]") -> dict[str, tuple[str, str]]:
    cases = json.loads((run_folder(done) / "results.json").read_text())["cases"]
    return {case["name"]: (case["outcome"], case["reason"]) for case in cases}


def small(storage: Storage, *, folder: str = "pileup") -> list[dict[str, Any]]:
    """Every storage test, each a few times."""
    copied = {"folder": f"{folder}/copied", "files": 4, "direction": "in", "checksum": "none"}
    load = {"clients": 2, "times": 50}
    at = {"folder": folder, "files": 4}
    return [
        spec("fill", "storage.write", **at, size="10 KiB"),
        spec("look", "storage.stat", **at, size="10 KiB") | {"after": ["fill"]},
        spec("list", "storage.list", folder=folder, entries=4) | {"after": ["fill"]},
        spec("read", "storage.read", **at, size="10 KiB") | {"after": ["fill"]},
        spec("write", "storage.write", load, **{**at, "folder": f"{folder}/again"}, size="1 KiB", order="client"),
        spec("in", "storage.copy", {"times": 4}, **copied),
        spec("rename", "storage.rename", **at) | {"after": ["read", "list"]},
        spec("mkdir", "storage.mkdir", load, **{**at, "folder": f"{folder}/made"}),
        spec("create", "storage.contend", load, **{**at, "folder": f"{folder}/create"}, folders=2),
    ]


@pytest.mark.long
def test_s1_s3_storage_check_leaves_all_as_it_was_twice_in_a_row(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    for _ in range(2):
        done = pileup("run", "suite:storage-check", "--quiet", *storage.words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert storage.snapshot() == theirs


@pytest.mark.long
def test_s1_every_storage_test_works_in_the_runs_own_folder(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    suite(storage, tmp_path, *small(storage))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {outcome for outcome, _ in outcomes(done).values()} == {"passed"}
    assert storage.snapshot() == theirs


@pytest.mark.long
def test_s1_just_here_what_exists_ends_the_set_up_and_what_is_new_goes(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    suite(
        storage,
        tmp_path,
        spec("taken", "storage.write", folder="/pileup", files=4),
        *small(storage, folder="/fresh/set"),
    )
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    told = outcomes(done)
    outcome, reason = told.pop("taken")
    assert outcome == "error"
    assert "exists already" in reason
    assert "this run did not make it" in reason
    assert {outcome for outcome, _ in told.values()} == {"passed"}, told
    assert storage.snapshot() == theirs


def killed(here: Path, until: str) -> Path:
    """Run a suite until its journal has a case's objects, and a moment more; kill it; return its folder."""
    command = [sys.executable, "-m", "pileup", "run", "s.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(here / "runs")}
    with (here / "out").open("wb") as out:
        process = subprocess.Popen(command, cwd=here, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        deadline = time.monotonic() + 20
        while not any(until in path.read_text() for path in (here / "runs").glob("*/journal.jsonl")):
            assert time.monotonic() < deadline, (here / "out").read_text()
            assert process.poll() is None, (here / "out").read_text()
            time.sleep(0.02)
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (folder,) = (here / "runs").iterdir()
    return folder


@pytest.mark.long
def test_s1_s4_after_a_kill_clean_removes_its_own_and_resume_makes_it_again(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    load = {"clients": 2, "for": "3 s"}
    suite(
        storage,
        tmp_path,
        spec("fill", "storage.write", files=4, size="10 KiB"),
        spec("here", "storage.write", folder="/fresh", files=4, size="10 KiB"),
        spec("long", "storage.read", load, files=4, size="10 KiB") | {"after": ["fill"]},
        spec("role", "storage.write", load, folder="/fresh/more", files=300, size="10 KiB", order="client"),
    )
    folder = killed(tmp_path, '"case": "role"')
    left = storage.snapshot()
    assert {path: left[path] for path in theirs} == theirs
    assert len(left) > len(theirs)
    cleaned = pileup("clean", str(folder), cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert storage.snapshot() == theirs
    assert "nothing to clean up" in pileup("clean", str(folder), cwd=tmp_path).stdout
    done = pileup("resume", str(folder), "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {outcome for outcome, _ in outcomes(done).values()} == {"passed"}
    assert storage.snapshot() == theirs


@pytest.mark.long
@pytest.mark.parametrize("storage", ["posix", "nginx"], indirect=True)
def test_s1_what_somebody_has_put_there_since_a_kill_stays(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    load = {"clients": 2, "for": "30 s"}
    suite(
        storage,
        tmp_path,
        spec("fill", "storage.write", folder="/fresh", files=6, size="1 KiB"),
        spec("read", "storage.read", load, folder="/fresh", files=6, size="1 KiB") | {"after": ["fill"]},
    )
    folder = killed(tmp_path, '"case": "fill"')
    storage.target.write("fresh/f000002", b"only copy of a thesis")
    storage.target.write("fresh/f000004", b"one as long as ours".ljust(1024))
    cleaned = pileup("clean", str(folder), cwd=tmp_path)
    now = storage.snapshot()
    assert {path: now[path] for path in theirs} == theirs
    assert {path.rpartition("/")[2] for path in now.keys() - theirs.keys() if "/f0" in path} == {"f000002", "f000004"}
    assert "f000002" in cleaned.stdout + cleaned.stderr


@pytest.mark.long
@pytest.mark.parametrize("storage", ["posix", "root"], indirect=True)
def test_s2_two_runs_at_once_are_both_right(storage: Storage, theirs: dict[str, str], tmp_path: Path) -> None:
    suite(storage, tmp_path, *small(storage))
    command = [sys.executable, "-m", "pileup", "run", "s.yaml", "--quiet", *FIGURES]
    environment = {**os.environ, "PILEUP_RUNS": str(tmp_path / "runs")}
    runs = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    said = [run.communicate(timeout=60)[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert storage.snapshot() == theirs


@pytest.mark.long
@pytest.mark.parametrize("storage", ["posix", "nginx", "root"], indirect=True)
def test_s2_the_second_run_in_one_folder_is_refused_with_the_owners_name(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    write = spec("here", "storage.write", {"clients": 2, "for": "1 min"}, folder="/fresh", files=4, size="1 KiB")
    suite(storage, tmp_path, write)
    folder = killed(tmp_path, '"what": "objects"')
    suite(storage, tmp_path, {**write, "load": {"once": True}})
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    outcome, reason = outcomes(done)["here"]
    assert outcome == "error"
    for told in ("in use by", "@", str(folder), f"pileup clean {folder}"):
        assert told in reason
    assert done.returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("storage", ["posix", "nginx", "root"], indirect=True)
def test_s1_a_set_that_is_kept_in_the_runs_own_folder_stays_and_no_more(
    storage: Storage, theirs: dict[str, str], tmp_path: Path
) -> None:
    kept = spec("kept", "storage.write", folder="kept", files=4, size="10 KiB") | {"cleanup": "never"}
    gone = spec("gone", "storage.write", folder="gone", files=4, size="10 KiB")
    suite(storage, tmp_path, kept, gone)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for _ in range(2):
        left = sorted(path.partition("/")[2] for path in storage.snapshot() if path not in theirs)
        seen = [path for path in left if not path.startswith(".") and "/." not in path]  # nginx does not list those
        assert seen == ["", "kept", *(f"kept/f00000{number}" for number in range(4))]
        assert pileup("clean", str(run_folder(done)), cwd=tmp_path).returncode == 0
    assert {path: digest for path, digest in storage.snapshot().items() if path in theirs} == theirs


@pytest.mark.parametrize("storage", ["posix", "nginx"], indirect=True)
def test_s2_a_folder_in_which_another_run_works_stays_where_its_marker_is_not_listed(storage: Storage) -> None:
    for folder in ("here", "here/ours"):
        storage.target.mkdir(folder)
    for folder, marker in (("here", b"theirs"), ("here/ours", b"ours")):
        storage.target.create(f"{folder}/{MARKER}", marker)
    levels = ["here", "here/ours"]  # both were made for ours, then theirs came
    state, why = end_ground(storage.target, "here/ours", b"ours", levels, own=False, kept=False)
    assert (state, why) == ("left", "/here was made for it, and /here is in use by somebody since somebody: somebody")
    assert b"".join(storage.target.read(f"here/{MARKER}")) == b"theirs"
    with pytest.raises(NotThere):
        storage.target.stat("here/ours")


@pytest.mark.long
def test_s1_where_a_server_lists_no_folders_the_runs_own_goes_and_what_may_not_be_empty_stays(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    disk = tmp_path / "server/data"
    with nginx(tmp_path / "server", lists=False) as url:
        (disk / "theirs").write_text("theirs")
        storage = Storage("webdav", url, PosixTarget(str(disk)))
        mkdir = spec("mkdir", "storage.mkdir", {"times": 4}, files=4)
        there = spec("there", "storage.write", folder="/new/deep", files=4, size="1 KiB")
        suite(storage, tmp_path, spec("fill", "storage.write", files=4, size="1 KiB"), mkdir, there)
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
        assert {outcome for outcome, _ in outcomes(done).values()} == {"passed"}
        assert sorted(str(path.relative_to(disk)) for path in disk.rglob("*")) == ["new", "new/deep", "theirs"]
        told = [event.text for event in RunFolder.open(run_folder(done)).events() if event.kind == "clean-up"]
        assert told == [
            "files remain in the folder /new/deep on target se: /new was made for it, but the server lists no "
            "folders: others may have files in it; remove it by hand"
        ]
        assert done.stderr.splitlines()[-1].startswith(
            "left for you to remove: the folder /new/deep on target se: /new "
        )
        again = pileup("clean", str(run_folder(done)), cwd=tmp_path)
        assert (again.returncode, again.stdout) == (0, "nothing to clean up\n")


@pytest.mark.long
def test_what_could_not_be_removed_is_told_last_and_changes_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    with nginx(tmp_path / "server", deletes=False) as url:
        storage = Storage("webdav", url, PosixTarget(str(tmp_path / "server/data")))
        suite(storage, tmp_path, spec("fill", "storage.write", files=4, size="1 KiB"))
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
        told = pileup("run", "s.yaml", "--quiet", "--json", cwd=tmp_path)
        cleaned = pileup("clean", str(run_folder(done)), cwd=tmp_path)
    assert (done.returncode, told.returncode, cleaned.returncode) == (0, 0, 5), "docs/verdicts.md says why"
    *each, last = done.stderr.splitlines()
    own = own_entries(RunFolder.open(run_folder(done)))["se"].folder
    assert [line.partition(" on target se: ")[0] for line in each] == [
        f"not cleaned up or removed: the folder /{own}",
        "not cleaned up or removed: what fill has made",
    ]
    assert all("405" in line for line in each), each
    assert last == f"these can be tried again: pileup clean {run_folder(done)}"
    assert len(json.loads(told.stdout)["left"]) == 2


@pytest.mark.long
def test_s4_after_a_kill_clean_removes_the_runs_own_where_a_server_lists_no_folders(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    disk = tmp_path / "server/data"
    with nginx(tmp_path / "server", lists=False) as url:
        load = {"clients": 2, "for": "30 s"}
        fill = spec("fill", "storage.write", files=4, size="1 KiB")
        suite(
            Storage("webdav", url, PosixTarget(str(disk))),
            tmp_path,
            fill,
            spec("there", "storage.write", load, folder="/new", files=4, size="1 KiB"),
        )
        folder = killed(tmp_path, '"case": "there"')
        cleaned = pileup("clean", str(folder), cwd=tmp_path)
        assert cleaned.returncode == 0, cleaned.stderr
        assert "the folder /new on target se is free again; but /new was made for it" in cleaned.stdout
        assert [path.name for path in disk.rglob("*")] == ["new"]
        assert "nothing to clean up" in pileup("clean", str(folder), cwd=tmp_path).stdout


@pytest.mark.long
@pytest.mark.parametrize("storage", others_long(("posix", "root"), ("posix", "nginx", "apache", "root")), indirect=True)
def test_a_set_that_is_kept_is_used_again_by_name(storage: Storage, theirs: dict[str, str], tmp_path: Path) -> None:
    fill = spec("fill", "storage.write", folder="/kept", files=4, size="10 KiB") | {"cleanup": "never"}
    read = spec("read", "storage.read", folder="/kept", files=4, size="10 KiB") | {"after": ["fill"]}
    count = spec("count", "storage.list", folder="/kept", entries=4) | {"after": ["fill"]}
    suite(storage, tmp_path, fill, read, count)
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = storage.snapshot()
    # nginx lists no name that begins with a dot
    assert len(kept) - len(theirs) in (5, 6), "the folder, four files and what they are"
    again = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "nothing was written" in outcomes(again)["fill"][1]
    suite(storage, tmp_path, {**fill, "options": {**fill["options"], "size": "20 KiB"}})
    other = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert "is another: 4 files of 10 KiB" in outcomes(other)["fill"][1]
    assert storage.snapshot() == kept


def test_a7_a_missing_folder_is_one_sentence(storage: Storage, tmp_path: Path) -> None:
    nowhere = replace(storage, url=f"{storage.url.rstrip('/')}/not/there")
    suite(nowhere, tmp_path, spec("w", "storage.write"))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 5
    _, reason = outcomes(done)["w"]
    assert "no such folder" in reason
    assert "make it, or correct the url" in reason
    assert storage.snapshot() == {}
