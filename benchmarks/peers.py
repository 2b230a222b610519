"""The programs that pileup is measured against: where they are, which version, how to get them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "benchmarks" / "peers"
"""Where a program may lie that is not on the PATH: peers/bin (not part of the repository)."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program to measure against."""

    name: str
    version: tuple[str, ...]
    """Arguments that make it print its version."""
    get: str
    """How to get it."""

    def path(self) -> str | None:
        """Return where it is; none when it is not here. PILEUP_PEERS names further folders."""
        folders = [*os.environ.get("PILEUP_PEERS", "").split(os.pathsep), str(PEERS / "bin")]
        where = os.pathsep.join([*filter(None, folders), os.environ.get("PATH", ""), "/usr/sbin"])
        return shutil.which(self.name, path=where)

    def told(self) -> str:
        """Return the version it reports on itself."""
        done = subprocess.run([str(self.path()), *self.version], capture_output=True, text=True, check=False)
        found = re.search(r"v?\d+\.\d+[\w.\-]*", done.stdout + done.stderr)
        return found.group() if found else "unknown"


NGINX = Peer("nginx", ("-v",), "apt-get install nginx-light")
WRK = Peer("wrk", ("-v",), "apt-get install wrk")
FIO = Peer("fio", ("--version",), "apt-get install fio")
CURL = Peer("curl", ("--version",), "apt-get install curl")
CC = Peer("cc", ("--version",), "apt-get install gcc")
XROOTD = Peer("xrootd", ("-v",), "apt-get install xrootd-server")
XRDCP = Peer("xrdcp", ("--version",), "apt-get install xrootd-client")
OHA = Peer("oha", ("--version",), "cargo install oha --locked --root benchmarks/peers")
K6 = Peer("k6", ("version",), "GOBIN=$PWD/benchmarks/peers/bin go install go.k6.io/k6@latest")
LOCUST = Peer(
    "locust",
    ("--version",),
    "python3 -m venv benchmarks/peers/locust && benchmarks/peers/locust/bin/pip install locust && "
    "mkdir -p benchmarks/peers/bin && ln -s ../locust/bin/locust benchmarks/peers/bin/locust",
)
SOCAT = Peer("socat", ("-V",), "apt-get install socat")
VERSITYGW = Peer(
    "versitygw",
    ("--version",),
    "GOBIN=$PWD/benchmarks/peers/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0",
)
MINIO_LOOP = Peer(
    "loop_of_minio",
    (),
    "mkdir -p benchmarks/peers/minio && cd benchmarks/peers/minio && cp ../../loop_of_minio.go main.go && "
    "go mod init loop && go get github.com/minio/minio-go/v7@v7.4.1 && go build -o ../bin/loop_of_minio .",
)
ALL = (NGINX, WRK, OHA, K6, LOCUST, FIO, CURL, XROOTD, XRDCP, SOCAT)


def here(*wanted: Peer) -> list[Peer]:
    """Return which of them are here; report on the others how to get them."""
    for peer in wanted:
        if peer.path() is None:
            print(f"  {peer.name} is not here, left out (to get it: {peer.get})", flush=True)
    return [peer for peer in wanted if peer.path()]


def python_of(peer: Peer) -> str:
    """Return the interpreter that a Python program runs under: the one beside it."""
    path = Path(str(peer.path())).resolve().parent / "python"
    return str(path) if path.exists() else sys.executable


def versions(used: list[Peer]) -> dict[str, str]:
    """Return name and version of each."""
    return {peer.name: peer.told() for peer in used}
