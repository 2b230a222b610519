"""An sshd of our own on the loopback: temporary keys and configuration, a free port, ended by its pid."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


@dataclass(frozen=True)
class Sshd:
    """A running sshd. `host` is user@address:port; `command` the ssh command line that knows its keys."""

    host: str
    command: str
    pid: int


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_key(path: Path) -> str:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path.with_suffix(".pub").read_text()


def configure(folder: Path, port: int) -> str:
    """Write everything both sides need; return the ssh command."""
    host_key, public = make_key(folder / "host"), make_key(folder / "user")
    (folder / "authorized_keys").write_text(public)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    (folder / "ssh_config").write_text(
        f"IdentityFile {folder}/user\nIdentitiesOnly yes\nIdentityAgent none\n"
        f"UserKnownHostsFile {folder}/known_hosts\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking yes\n"
    )
    return f"ssh -F {folder}/ssh_config"


def await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"sshd does not begin: {log.read_text()[-500:]}")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """Give an sshd that lets this user in."""
    if not Path(SSHD).exists() or shutil.which("ssh") is None:
        pytest.skip("sshd is not installed (Debian package openssh-server)")
    folder = tmp_path_factory.mktemp("sshd")
    port = free_port()
    command = configure(folder, port)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd as root wants it for its separated half
    log = folder / "log"
    with log.open("wb") as file:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=file)
        try:
            await_port(port, process, log)
            yield Sshd(f"{getpass.getuser()}@127.0.0.1:{port}", command, process.pid)
        finally:
            process.terminate()
            process.wait(10)
