"""Play the administrator of a storage: from nothing to a verdict on a real server, in a fresh account.

    python benchmarks/admin.py [WHEEL]

Each server of a kind is started here, from a configuration as a site has it; pileup knows its url alone. For each, an
account with an empty home (as root: user nobody) types the commands of docs/install.md, without Rust and without what
pip has kept from before. Printed is a table: the commands, how long they took, and the verdict. WHEEL is one that
`make dist` has made, by default that of dist/ for this machine.
"""

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.servers.nginx import nginx  # noqa: E402
from tests.servers.xrootd import xrootd  # noqa: E402
from tools.dist import ORDINARY, without_compilers  # noqa: E402

MOST_COMMANDS, MOST_SECONDS = 3, 300
LIMIT = 600
"""Seconds after which a command is ended."""


@contextlib.contextmanager
def webdav(folder: Path, home: Path) -> Iterator[list[str]]:
    """Yield how an administrator names an nginx with its dav module."""
    with nginx(folder) as url:
        yield [url]


@contextlib.contextmanager
def root(folder: Path, home: Path) -> Iterator[list[str]]:
    """Yield how an administrator names an XRootD to which anybody has access."""
    with xrootd(folder) as server:
        yield [server.root]


@contextlib.contextmanager
def https(folder: Path, home: Path) -> Iterator[list[str]]:
    """Yield how an administrator names an XRootD that asks for a token, over https, with an authority of its own."""
    with xrootd(folder, tls=True, authorization="tokens") as server:
        for name, path in (("token", server.token_file), ("ca.pem", server.ca)):
            shutil.copy(path, home / name)
            shutil.chown(home / name, owner())
        yield [server.https, "--token", "token", "--ca", "ca.pem"]


SERVERS = {"nginx with dav, http://": webdav, "XRootD, root://": root, "XRootD, https:// with a token": https}


def owner() -> str | int:
    """Return whose account is played: nobody's as root, else one's own."""
    return ORDINARY if os.geteuid() == 0 else os.geteuid()


def typed(command: list[str], home: Path) -> tuple[float, int, str]:
    """Type a command in the account of that home; return seconds, exit code and what it printed."""
    environment = {"HOME": str(home), "PATH": without_compilers("/usr/bin:/bin"), "LANG": "C.UTF-8"}
    kept = ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "PIP_CERT")
    environment |= {name: os.environ[name] for name in kept if name in os.environ}
    begin = time.monotonic()
    done = subprocess.run(
        command,
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
        user=ORDINARY if os.geteuid() == 0 else None,
        extra_groups=[] if os.geteuid() == 0 else None,
    )
    return time.monotonic() - begin, done.returncode, done.stdout


def played(wheel: Path, endpoint: list[str], home: Path) -> tuple[list[str], list[float], str]:
    """Type the commands one after another; return them, how long each took, and the verdict."""
    commands = [
        ["python3", "-m", "venv", "env"],
        ["env/bin/pip", "install", "--disable-pip-version-check", wheel.name],
        ["env/bin/pileup", "check", *endpoint],
    ]
    took = []
    for command in commands:
        seconds, code, said = typed(command, home)
        took.append(seconds)
        if code != 0:
            sys.exit(f"{said}\n`{' '.join(command)}` ended with {code}")
    verdict = next(line for line in said.splitlines() if line.startswith("Verdict"))
    return [" ".join(command) for command in commands], took, verdict


def main() -> int:
    """Play one account for each server, print the table, and end with 1 where it took too long."""
    wheels = sorted((ROOT / "dist").glob(f"*_{platform.machine()}.whl"))
    if len(sys.argv) < 2 and not wheels:
        sys.exit("error: no wheel in dist/; expected one for this machine\n  make one with `make dist`, or name it")
    wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else wheels[-1]
    print("| server | commands | install, s | check, s | in all | verdict |\n|---|---|---|---|---|---|", flush=True)
    good = True
    for name, server in SERVERS.items():
        with tempfile.TemporaryDirectory(prefix="pileup-admin-") as account, tempfile.TemporaryDirectory() as folder:
            home = Path(account)
            shutil.copy2(wheel, home)
            shutil.chown(home, owner())
            with server(Path(folder), home) as endpoint:
                commands, took, verdict = played(wheel, endpoint, home)
        install, check, whole = sum(took[:2]), took[2], sum(took)
        in_all = f"{whole / 60:.1f} min"
        print(f"| {name} | {len(commands)} | {install:.0f} | {check:.1f} | {in_all} | {verdict} |", flush=True)
        good = good and whole < MOST_SECONDS and len(commands) <= MOST_COMMANDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
