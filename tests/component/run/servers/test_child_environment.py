"""S14: servers, their helpers and commands of other users do not get our tokens and passwords."""

import os
import pwd
import sys
from pathlib import Path

import psutil
import pytest

from pileup.builtin.slurm.commands import Commands
from pileup.model.child_environment import handed_on
from pileup.plugin import Launcher
from pileup.record import RunFolder
from pileup.run.servers import commands
from pileup.run.servers.supervisor import Supervisor

SECOND = 10**9
SECRETS = ("BEARER_TOKEN", "AWS_SECRET_ACCESS_KEY", "MYSQL_PWD", "SSH_AUTH_SOCK")
ENV = ["/usr/bin/env"]


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "of-ours-1234")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def test_s14_what_is_handed_on_is_an_allow_list() -> None:
    handed = handed_on({"OWN": "1"})
    assert handed["PATH"] == os.environ["PATH"]
    assert (handed["LC_ALL"], handed["OWN"]) == ("C.UTF-8", "1")
    assert not set(SECRETS) & handed.keys()


def test_s14_commands_of_servers_get_no_secret_and_those_of_the_suite_all() -> None:
    assert "of-ours" not in commands.run(ENV, SECOND, {"OWN": "1"}).output
    assert commands.run(ENV, SECOND, whole=True).output.count("of-ours") == len(SECRETS)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs commands as another user")
def test_s14_slurms_commands_of_another_user_get_no_secret() -> None:
    other = pwd.getpwnam("nobody").pw_name
    told, _, code = Commands(other, {"OWN": "1"}, 5).run(ENV)
    assert code == 0
    assert "OWN=1" in told
    assert "of-ours" not in told
    assert "of-ours" in Commands("", {}, 5).run(ENV)[0], "our own are the user's"


def test_s14_a_launched_server_gets_no_secret(tmp_path: Path) -> None:
    code = "import time; print('ready at http://127.0.0.1:1/', flush=True); time.sleep(60)"
    supervisor = Supervisor(RunFolder.create(tmp_path, "t", 0))
    try:
        supervisor.launch("se", Launcher.one((sys.executable, "-ISc", code), r"ready at (?P<url>\S+)"), tmp_path / "se")
        (server,) = supervisor.pids("se")
        got = psutil.Process(server).environ()
    finally:
        supervisor.end_all()
    assert got["PATH"] == os.environ["PATH"]
    assert not set(SECRETS) & got.keys()
