"""The Dask cluster of a run, found at an address or started as batch jobs: its workers become places."""

from __future__ import annotations

import asyncio
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any, cast

from distributed import Client, Security, rpc

from pileup._core._native import VERSION
from pileup.fleet.channel import Channel
from pileup.fleet.dask.bridge import Bridge
from pileup.fleet.dask.channel import DaskChannel
from pileup.fleet.launch import Start
from pileup.model.errors import TargetError
from pileup.model.suite import Places
from pileup.model.units import counted

CONNECTED_WITHIN = 10.0
"""Seconds until the scheduler of a cluster must answer."""
ANSWERED_WITHIN = 3.0
"""Seconds until it must say who is there."""
_SCHEDULER = "the address of one, e.g. tcp://host:8786", "--fleet dask:ADDRESS"


@dataclass(frozen=True, slots=True)
class DaskWorker:
    """A worker of a cluster."""

    cluster: DaskCluster
    address: str
    name: str

    def __str__(self) -> str:
        return f"Dask worker {self.name} at {self.address}" if self.name != self.address else f"Dask worker {self.name}"

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Do as a `Worker` of a channel does."""
        loop: Any = self.cluster.client.loop
        return cast(asyncio.AbstractEventLoop, loop.asyncio_loop)

    def current(self) -> AbstractContextManager[object]:
        """Do as a `Worker` of a channel does."""
        return self.cluster.client.as_current()

    async def why(self, problem: BaseException) -> str:
        """Do as a `Worker` of a channel does."""
        scheduler: Any = self.cluster.client.scheduler
        try:
            async with asyncio.timeout(ANSWERED_WITHIN):
                found = await scheduler.identity(n_workers=-1)
        except Exception:  # whatever Dask raises when nobody answers
            return f"the Dask scheduler at {self.cluster.address} is gone"
        here = self.address in found["workers"]
        if here and isinstance(problem, TimeoutError):
            return f"its {self} gives no answer; other tasks may hold it"
        if not here or isinstance(problem, OSError):  # an actor that cannot be reached is an OSError
            return f"its {self} is gone"
        return f"its {self}: {type(problem).__name__}: {problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DaskStart(Start):
    """How a place beside a worker is started."""

    cluster: DaskCluster

    def begin(self, environment: Mapping[str, str] | None = None) -> Channel:
        """Start it at the worker of its position, or at a free one if that is gone. Raises TargetError."""
        return self.cluster.begin(self.position)


class DaskCluster:
    """A cluster with its workers in the order of their names. `ended` is called at the close."""

    def __init__(self, client: Client, places: Places, ended: Callable[[], None] = lambda: None) -> None:
        self.client = client
        self.address = str(client.scheduler.address) if client.scheduler else ""
        self._places = places
        self._ended = ended
        self._lock = threading.Lock()
        self._chosen: list[DaskWorker] = []
        """By the position of their place."""

    def choose(self, within: float) -> None:
        """Wait for the workers that the places need. Raises TargetError: too few, or of another version."""
        wanted = self._places.count or 1
        with suppress(TimeoutError):
            self.client.wait_for_workers(wanted, timeout=within)
        found = self._workers()
        if len(found) < wanted:
            told = f"the Dask cluster at {self.address} has {counted(len(found), 'worker')} after {within:.0f} s"
            hint = "start workers, or scale the cluster" if self._places.dask else "look at the queue and its logs"
            raise TargetError(told, counted(wanted, "worker"), hint)
        self._chosen = found[: self._places.count or None]
        self._check_versions()

    def starts(self) -> list[Start]:
        """Return how the places are started."""
        kind, python, native = self._places.kind, self._places.python, self._places.workers
        return [
            DaskStart(f"{kind} {at}", (), True, python or "python", native, position=at, cluster=self)
            for at in range(1, len(self._chosen) + 1)
        ]

    def begin(self, position: int) -> Channel:
        """Begin a place at the worker of a position, or at a free one if that is gone. Raises TargetError."""
        words = {"actor": True, "pure": False, "allow_other_workers": False}
        try:
            with self._lock:
                worker = self._worker_at(position)
            actor = self.client.submit(Bridge, self._places.python, workers=[worker.address], **words)
        except (OSError, RuntimeError) as problem:
            told = f"the Dask scheduler at {self.address} is gone: {problem}"
            raise TargetError(told, "a scheduler that answers") from problem
        return DaskChannel(worker, actor)

    def _worker_at(self, position: int) -> DaskWorker:
        chosen, there = self._chosen[position - 1], self._workers()
        if chosen in there:
            return chosen
        free = [worker for worker in there if worker not in self._chosen]
        if not free:
            raise TargetError(f"the {chosen} is gone, and no other is free", "a worker without a place")
        self._chosen[position - 1] = free[0]
        return free[0]

    def close(self) -> None:
        """Leave the cluster; end it if it was started for this run."""
        for end in (self.client.close, self._ended):
            with suppress(Exception):  # a cluster that is gone can neither be left nor ended
                end()

    def _workers(self) -> list[DaskWorker]:
        found = self.client.scheduler_info(n_workers=-1)["workers"]
        workers = [DaskWorker(self, address, str(each.get("name", address))) for address, each in found.items()]
        return sorted(workers, key=lambda each: (len(each.name), each.name))

    def _check_versions(self) -> None:
        found: Any = self.client.get_versions(packages=["pileup"])
        for worker in self._chosen:
            problem = version_problem(found["workers"].get(worker.address))
            if problem is not None:
                told, wanted, hint = problem
                raise TargetError(f"the {worker} has {told}", wanted, hint)


def version_problem(versions: Mapping[str, Any] | None) -> tuple[str, str, str] | None:
    """Return what is wrong with what a worker has (of `Client.get_versions`), what is right, and what to do."""
    packages = (versions or {}).get("packages") or {}
    python = ".".join(str(packages.get("python", "unknown")).split(".")[:2])
    ours = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if python != ours:
        return f"Python {python}", f"{ours} as here: what is sent is made of Python objects", "use the same image there"
    if packages.get("pileup") != VERSION:
        told = f"pileup {packages['pileup']}" if packages.get("pileup") else "no pileup"
        return told, f"{VERSION} as here", "install the wheel of this version there (docs/install.md)"
    return None


def connect(address: str, security: Security | None = None) -> Client:
    """Return a client of a scheduler; how it is spoken to is in Dask's configuration unless `security` says it.

    Raises TargetError when none answers.
    """
    security = security or Security()  # type: ignore[no-untyped-call]
    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook has a loop in this one
            found = thread.submit(asyncio.run, _identity(address, security)).result()
        if found != "Scheduler":
            raise ValueError(f"it is a {found} of Dask")
        with warnings.catch_warnings(action="ignore"):
            words = {"timeout": CONNECTED_WITHIN, "set_as_default": False, "security": security}
            return Client(address, **words)  # type: ignore[no-untyped-call]
    except TimeoutError as problem:
        told = f"no Dask scheduler answers at {address} within {CONNECTED_WITHIN:.0f} s"
        raise TargetError(told, *_SCHEDULER) from problem
    except (OSError, ValueError, ImportError, RuntimeError) as problem:
        said = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise TargetError(f"no Dask scheduler answers at {address}: {said}", *_SCHEDULER) from problem


async def _identity(address: str, security: Any) -> str:
    """Return what is at an address. A client itself would wait without end for something that is silent."""
    call: Any = rpc
    async with (
        asyncio.timeout(CONNECTED_WITHIN),
        call(address, connection_args=security.get_connection_args("client")) as there,
    ):
        found = await there.identity()
    return str(found.get("type"))
