"""How a private ARC CE is made up: a line for every setting, secrets where they go with it, faults in words."""

import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.arc import launcher as module
from pileup.builtin.arc.identities import Authority, Pair, subject
from pileup.builtin.arc.launcher import arc_launcher
from pileup.builtin.slurm import launcher as slurm
from pileup.plugin import Daemon, File, Launcher, Task
from tests.support import require_program

SCHEMA = "CREATE TABLE AAR (RecordID INTEGER PRIMARY KEY)"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if everything was installed here."""
    schema = tmp_path / "schema.sql"
    schema.write_text(SCHEMA)
    monkeypatch.setattr(module, "SCHEMA", schema)
    monkeypatch.setattr(module.shutil, "which", lambda name, path="": f"/usr/bin/{name}")
    monkeypatch.setattr(slurm, "_user", lambda: "slurm")


def launcher(**settings: Any) -> Launcher:
    return arc_launcher(settings, Path("/runs/ce"))


def file(made: Launcher, end: str) -> File:
    (found,) = (file for file in made.files if file.path.endswith(end))
    return found


def text(made: Launcher, end: str) -> str:
    content = file(made, end).content
    assert isinstance(content, str)
    return content


@pytest.mark.parametrize(
    ("settings", "end", "line"),
    [
        ({"scripts": 4}, "arc.conf", "maxjobs = -1 -1 -1 -1 4"),
        ({"unfinished": 10}, "arc.conf", "maxjobs = 10 -1 -1 -1 8"),
        ({"handed_over": 600, "per_user": 7}, "arc.conf", "maxjobs = -1 600 7 -1 8"),
        ({"wakeup": "30 s"}, "arc.conf", "wakeupperiod = 30"),
        ({"information": "5 s"}, "arex.xml", "<arex:InfoproviderWakeupPeriod>50</arex:InfoproviderWakeupPeriod>"),
        ({"slots": 17}, "slurm.conf", "CPUs=17"),
        ({"users": 2}, "subjects", '"/O=pileup/CN=user2"'),
    ],
)
def test_a_setting_is_a_line_that_is_not_there_without_it(settings: dict[str, Any], end: str, line: str) -> None:
    assert line in text(launcher(**settings), end)
    assert line not in text(launcher(), end)


def test_slurm_comes_first_and_goes_last() -> None:
    names = [each.name for each in launcher().processes if isinstance(each, Daemon)]
    assert names == ["munged", "slurmctld", "slurmd", "slurmrestd", "arex", "arex-ws"]
    again = {each.name: each.again for each in launcher().processes if isinstance(each, Task)}
    assert again == {"rehash": False, "configure": True}


def test_clients_hear_where_it_is_and_who_they_are() -> None:
    made = launcher()
    assert made.url == "https://localhost:{port}/arex"
    own = "{short}/identities/pileup.pem"
    assert made.credentials == {"ca": "{short}/ca/ca.pem", "certificate": own, "key": own}
    assert "<tcp:Interface>127.0.0.1</tcp:Interface>" in text(made, "arex-ws.xml")


def test_secrets_lie_in_the_folder_that_goes_with_it_and_stay_over_a_restart() -> None:
    for each in launcher(users=3).files:
        assert each.path.startswith("{short}/")
        if isinstance(each.content, str) and "PRIVATE KEY" in each.content:
            assert each.keep
            assert not each.mode & 0o077


def test_a_restart_with_more_users_has_the_ca_that_there_is() -> None:
    few, many = launcher(users=1), launcher(users=2)
    assert text(few, "ca.pem") == text(many, "ca.pem")
    assert arc_launcher({}, Path("/runs/other")).files != few.files
    assert text(arc_launcher({}, Path("/runs/other")), "ca.pem") != text(few, "ca.pem")


def test_openssl_believes_its_users_and_knows_them_by_their_subjects(tmp_path: Path) -> None:
    openssl = require_program("openssl", "apt-get install openssl")
    made = launcher(users=1)
    (tmp_path / "ca.pem").write_text(text(made, "/ca.pem"))
    again = Authority(Pair(text(made, "/ca.pem"), text(made, "ca-key.pem")))
    identities = {"user1": text(made, "user1.pem"), "localhost": text(made, "host.pem"), "new": again.user("new").both}
    for name, both in identities.items():
        path = tmp_path / f"{name}.pem"
        path.write_text(both)
        done = subprocess.run(
            [openssl, "verify", "-CAfile", tmp_path / "ca.pem", path], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        words = (openssl, "x509", "-noout", "-subject", "-nameopt", "compat", "-in", str(path))
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert told.removeprefix("subject=").strip() == subject(name)


def test_who_reads_the_accounting_never_waits(tmp_path: Path) -> None:
    content = file(launcher(), "accounting.db").content
    assert isinstance(content, bytes)
    path = tmp_path / "accounting.db"
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as writer, closing(sqlite3.connect(path)) as reader:
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute("INSERT INTO AAR VALUES (1)")
        assert reader.execute("SELECT COUNT(*) FROM AAR").fetchone() == (0,)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"users": -1}, "users"),
        ({"wakeup": "10 ms"}, "greater than or equal to"),
        ({"slotz": 1}, "slotz"),
        ({"slots": 1, "nodes": 2}, "2 nodes share 1 slots"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        launcher(**settings)


def test_it_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name, path="": None if "arc" in name else f"/usr/bin/{name}")
    with pytest.raises(ValueError, match=r"arcconfig-parser is not installed here; expected it .*nordugrid-arc-arex"):
        launcher()


def test_it_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    from pileup.builtin import arc as package

    monkeypatch.setitem(__import__("sys").modules, "pileup.builtin.arc.identities", None)
    monkeypatch.delattr(package, "identities", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'pileup\[servers\]'"):
        launcher()
