"""Opens the fleet that a suite asks for."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.fleet.cores import workers
from pileup.fleet.fleet import Fleet, Place
from pileup.fleet.heartbeat import HeartbeatThread
from pileup.fleet.launch import Start, by_ssh, process
from pileup.fleet.place import LocalPlace
from pileup.fleet.remote import RemotePlace
from pileup.fleet.self_watch import Keep, SelfWatch
from pileup.model import self_metrics
from pileup.model.errors import RecordError, TargetError
from pileup.model.plan import Plan
from pileup.model.record import Sample, SampleRow
from pileup.model.suite import Places
from pileup.record import RunFolder

if TYPE_CHECKING:
    from pileup.fleet.dask.cluster import DaskCluster

LARGEST_FILE = 4 << 20
"""Bytes of the largest Python file that is sent to another host."""
MOST_FILES = 500


def open_fleet(
    places: Places,
    folder: RunFolder,
    plan: Plan,
    urls: dict[str, str],
    *,
    first: int = 0,
    environment: dict[str, str] | None = None,
    cluster: DaskCluster | None = None,
) -> Fleet:
    """Return the fleet of `places`, numbered from `first` on.

    `urls` has the address of every open target, `environment` the variables of the places' processes (empty: as here),
    `cluster` has the workers that are to be places.
    Raises TargetError when a place cannot be opened.
    """
    if places.local:
        local = LocalPlace(first, folder.operations_path(first), workers(places.workers))
        return Fleet([local], end=SelfWatch(first, _keeper(folder)).close)
    opener = Opener(folder, (plan, urls, python_files(plan) if places.elsewhere else {}), environment or {})
    found = opener.open(list(enumerate(cluster.starts() if cluster else starts_of(places), first)))
    fleet: Fleet
    heart = HeartbeatThread(lambda: [place for place in fleet.places if isinstance(place, RemotePlace)], folder)
    fleet = Fleet(found, opener.reopen, heart.close)
    return fleet


def _keeper(folder: RunFolder) -> Keep:
    """Return what brings the samples of this process into the record."""
    host = socket.gethostname()

    def keep(moment: int, samples: list[Sample]) -> None:
        with suppress(RecordError, OSError):  # a full disk is noticed where it ends the run
            folder.append_samples([SampleRow(moment, self_metrics.MONITOR, host, sample) for sample in samples])

    return keep


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens places of one fleet."""

    folder: RunFolder
    content: object
    """What each gets: the plan, the addresses of targets, Python files."""
    environment: dict[str, str]

    def open(self, starts: list[tuple[int, Start]]) -> list[RemotePlace]:
        """Return places, all started before the first is waited for. Raises TargetError; then none is left."""
        found: list[RemotePlace] = []
        try:
            for number, start in starts:
                found.append(RemotePlace(number, start, self.folder, self.environment))
            for place in found:
                place.open(self.content)
        except BaseException:
            for place in found:
                with suppress(Exception):
                    place.close()
            raise
        return found

    def reopen(self, number: int, lost: Place) -> Place:
        """Return a new place in the stead of a lost one. Raises TargetError."""
        if not isinstance(lost, RemotePlace):
            raise TargetError(f"place {lost.number} cannot be opened again")
        return self.open([(number, lost.start)])[0]


def cluster_of(places: Places, make_folder: Callable[[Path], Path]) -> DaskCluster | None:
    """Return the Dask cluster that the places are on, None if they are not. Raises TargetError.

    `make_folder` makes a folder of the run's own in another one, for what its jobs must see.
    """
    if not places.on_dask:
        return None
    try:
        from pileup.fleet.dask.jobs import open_cluster  # noqa: PLC0415  Dask is an extra
    except ImportError as problem:
        raise TargetError(
            f"a fleet {places.kind} needs a package that is not installed: {problem.name}",
            "Dask",
            "pip install 'pileup[analysis]'",
        ) from problem
    return open_cluster(places, make_folder)


def starts_of(places: Places) -> list[Start]:
    """Return how the places are started. Raises TargetError for what is not a host."""
    if places.ssh:
        found = [by_ssh(host, places.python, places.command) for host in places.ssh]
        return [replace(start, workers=places.workers, position=at) for at, start in enumerate(found, 1)]
    count = places.processes or 1
    known = [(number, process(number)) for number in range(1, count + 1)]
    return [replace(start, workers=places.workers, beside=count, position=number) for number, start in known]


def python_files(plan: Plan) -> dict[str, bytes]:
    """Return the Python files that a plan names, also in options, and those beside them: path relative to the suite ->
    content.

    Raises TargetError when they are too many or too large to be sent.
    """
    suite = plan.suite
    named = [*(test.use for test in suite.tests), *(monitor.use for monitor in suite.monitors)]
    named += [target.kind for target in suite.targets.values()]
    options = [suite.options, *(test.options for test in suite.tests)]
    named += [value for each in options for value in each.values() if isinstance(value, str)]
    paths = {Path(name.rpartition(":")[0]) for name in named if ".py:" in name}
    found: dict[str, bytes] = {}
    for path in paths:
        if path.is_absolute():
            raise TargetError(f"{path} cannot be sent to another host", "a path relative to the suite")
        for beside in sorted((Path(plan.folder) / path).parent.glob("*.py")):
            if beside.stat().st_size > LARGEST_FILE or len(found) >= MOST_FILES:
                told = f"at most {MOST_FILES} Python files of 4 MiB beside a suite"
                raise TargetError(f"{beside} cannot be sent to another host", told)
            found[str(path.parent / beside.name)] = beside.read_bytes()
    return found
