"""Commands with a time of their own, and how one that submits is understood, on programs that do the like."""

import base64
import json
import os
import pwd
import subprocess
import time
from pathlib import Path

import pytest

from pileup.builtin.slurm import commands as module
from pileup.builtin.slurm.commands import Commands, expiry, said_by, token_of
from pileup.model.errors import Ambiguous, Failed, PluginError, Refused


def commands(seconds: float = 10.0, **environment: str) -> Commands:
    return Commands("", environment, seconds)


def submit(script: str, seconds: float = 10.0) -> str:
    return commands(seconds).submit(["sh", "-c", script], "#!/bin/sh\n", {"MORE": "5"})


def test_a_command_that_looks() -> None:
    assert commands(WHO="me").lines("sh", "-c", "echo $WHO; echo $SLURM_TIME_FORMAT; pwd") == ["me", "%s", "/"]
    with pytest.raises(Failed, match="sh: something broke"):
        commands().lines("sh", "-c", "echo slurm: >&2; echo error: something broke >&2; exit 1")
    with pytest.raises(Refused, match="denied"):
        commands().lines("sh", "-c", "echo Access/permission denied >&2; exit 1")
    assert commands().lines("sh", "-c", "echo a; exit 1", code=False) == ["a"]
    with pytest.raises(Failed, match=r"sleep did not end within 0\.1 s"):
        commands(0.1).lines("sleep", "30")
    with pytest.raises(PluginError, match="nonsuch-program is not installed"):
        commands().lines("nonsuch-program")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs commands as another user")
@pytest.mark.parametrize("path", [module.SYSTEM, "/nonsuch"])
def test_a_command_of_another_user_is_that_users_alone(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """It is the same where setpriv is missing; with it Python need not copy this process to change the user."""
    monkeypatch.setattr(module, "SYSTEM", path)
    asked = []
    popen = subprocess.Popen
    monkeypatch.setattr(module.subprocess, "Popen", lambda *words, **more: asked.append(more) or popen(*words, **more))
    other = pwd.getpwnam("nobody")
    looks = Commands(other.pw_name, {}, 5.0)
    assert looks.lines("sh", "-c", "id -u; id -g; id -G") == [str(other.pw_uid), str(other.pw_gid), str(other.pw_gid)]
    assert [more["user"] is None for more in asked] == [path != "/nonsuch"]
    with pytest.raises(Failed, match=r"sleep did not end within 0\.2 s"):
        Commands(other.pw_name, {}, 0.2).lines("sleep", "30")
    with pytest.raises(PluginError, match="nonsuch-program is not installed"):
        looks.lines("nonsuch-program")


def test_a_submission_that_is_taken_tells_its_id() -> None:
    assert submit("cat >/dev/null; echo warning >&2; echo $MORE") == "5"
    assert submit("echo '12;cluster'") == "12"


def test_one_at_the_limit_is_ended_as_soon_as_it_says_so() -> None:
    begin = time.monotonic()
    with pytest.raises(Refused, match="temporarily unable to accept job"):
        submit("echo 'sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying' >&2; sleep 60", 30)
    assert time.monotonic() - begin < 20


def test_one_that_hangs_may_have_done_it() -> None:
    with pytest.raises(Ambiguous, match=r"did not end within 0\.2 s"):
        submit("sleep 60", 0.2)
    with pytest.raises(Ambiguous, match=r"did not end within 0\.2 s"):
        submit("exec 2>&-; sleep 60", 0.2)


def test_one_that_ends_without_an_id_says_why() -> None:
    with pytest.raises(Failed, match="sbatch: Batch job submission failed: Invalid partition"):
        submit("echo 'sbatch: error: Batch job submission failed: Invalid partition' >&2; exit 1")
    with pytest.raises(Ambiguous, match="timed out"):
        submit("echo 'sbatch: error: Batch job submission failed: Socket timed out' >&2; exit 1")
    with pytest.raises(Failed, match="ended with 3 and no id"):
        submit("exit 3")


def test_tokens_tell_whose_and_how_long(tmp_path: Path) -> None:
    middle = base64.urlsafe_b64encode(json.dumps({"exp": 1795281195, "sun": "me"}).encode()).decode().rstrip("=")
    token, told = token_of(f"\nSLURM_JWT=a.{middle}.c\n", "", 0)
    assert token == f"a.{middle}.c"
    assert (told["sun"], expiry(told)) == ("me", 1795281195 * 10**9)
    assert said_by("nonsense") == said_by("a.!!!.c") == said_by("") == {}
    assert expiry({}) == expiry({"exp": "soon"}) == 0
    with pytest.raises(Refused, match="expected AuthAltTypes"):
        token_of("", "scontrol: error: Error fetching token", 1)
    with pytest.raises(Ambiguous):
        token_of("", "", None)
