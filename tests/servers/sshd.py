"""An sshd of our own on the loopback: temporary keys and configuration, launched as a suite's server is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pileup.plugin import Accepts, Daemon, File, Launcher
from tests.servers.launched import NAME, supervised
from tests.support import give_up

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
"""
CLIENT = """
IdentityFile {folder}/user
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile /dev/null
StrictHostKeyChecking yes
"""


@dataclass(frozen=True)
class Sshd:
    """A running sshd. `host` is user@address:port; `command` the ssh command line that knows its keys."""

    host: str
    command: str
    pid: int


def make_key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path.with_suffix(".pub").read_text()


def _sources() -> str:
    """Let the far side run the sources that the tests run, where these are not the installed ones."""
    path = os.environ.get("PYTHONPATH")
    return f"SetEnv PYTHONPATH={path}\n" if path else ""


def launcher(folder: Path) -> Launcher:
    """Return how to start it; keys are made at once."""
    host, _ = make_key(folder / "host"), make_key(folder / "user")
    files = (
        File("sshd_config", SERVER + _sources()),
        File("ssh_config", CLIENT),
        File("known_hosts", "[127.0.0.1]:{port} " + host),
    )
    command = (SSHD, "-D", "-e", "-f", "{folder}/sshd_config")
    return Launcher((Daemon(command, Accepts()),), url="{user}@127.0.0.1:{port}", files=files)


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """Give an sshd that lets this user in."""
    if not Path(SSHD).exists() or shutil.which("ssh") is None:
        give_up("sshd or ssh is not installed; as root: apt-get install openssh-server openssh-client")
    folder = tmp_path_factory.mktemp("sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd as root wants it for its separated half
    with supervised(launcher(folder), folder) as supervisor:
        (pid,) = supervisor.pids(NAME)
        yield Sshd(supervisor.url(NAME), f"ssh -F {folder}/ssh_config", pid)
