"""A Dask cluster of two workers on the loopback, each a process under a nanny, in a process of its own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psutil

CODE = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True)
class RunningDask:
    """A running cluster."""

    address: str
    pid: int

    @property
    def fleet(self) -> str:
        """What `--fleet` takes."""
        return f"dask:{self.address}"

    def agents(self) -> list[psutil.Process]:
        """Return the places beside its workers."""
        found = []
        for each in psutil.Process(self.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found += [each] if each.cmdline()[-2:] == ["pileup", "place"] else []
        return found


@contextlib.contextmanager
def dask_cluster(variables: Mapping[str, str] | None = None) -> Iterator[RunningDask]:
    """Yield a cluster; it ends with its stdin."""
    with subprocess.Popen(
        [sys.executable, "-c", CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(variables or {})},
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "it did not start"
        yield RunningDask(address, process.pid)
        process.communicate(timeout=30)
