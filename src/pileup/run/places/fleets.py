"""The fleets of a run: this process, the places of the suite, and separate processes for isolated tests."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from pileup.fleet import Fleet, open_fleet
from pileup.fleet.fleet import Place
from pileup.fleet.opening import cluster_of
from pileup.model.errors import RecordError
from pileup.model.manifest import PlaceEntry
from pileup.model.plan import Case, Plan
from pileup.model.record import Frame
from pileup.model.suite import Environment, Places
from pileup.record import RunFolder
from pileup.run.manifest import ManifestWriter
from pileup.run.places.environment import variables
from pileup.run.servers import scratch
from pileup.run.targets.opening import Targets

if TYPE_CHECKING:
    from pileup.fleet.dask.cluster import DaskCluster

Key = tuple[str, ...]


class Fleets:
    """Opens a fleet when a case first needs it; places are numbered over the whole run."""

    def __init__(
        self, plan: Plan, folder: RunFolder, targets: Targets, first: int, manifest: ManifestWriter, *, session: int
    ) -> None:
        self._plan = plan
        self._session = session
        self._folder = folder
        self._targets = targets
        self._next = first
        self._manifest = manifest
        self._lock = threading.Lock()
        self._open: dict[Key, Fleet] = {}
        self._cluster: DaskCluster | None = None
        """That of all fleets on Dask, once there is one."""
        self._own: list[tuple[Path, int]] = []
        """Folders with the keys of its jobs, and their entries in the journal."""
        self.local = self._add(("local",), Places(workers=plan.suite.places.workers), {})

    def of(self, case: Case, native: bool) -> Fleet:
        """Return the fleet that presses a case. Raises TargetError when it cannot be opened."""
        suite = self._plan.suite
        environment = None if native else (case.test.environment or suite.environment)
        isolated = not native and (environment is not None or (case.test.isolate or suite.isolate) == "process")
        if suite.places.local and not isolated:
            return self.local
        places = Places(processes=1) if suite.places.local else suite.places
        told = environment.model_dump_json() if environment else ""
        key = ("isolated" if isolated else "places", told, self._targets.where())
        with self._lock:
            fleet = self._open.get(key) or self._add(key, places, self._variables(environment))
            if fleet.lost:
                self._renew(fleet)
            return fleet

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""
        return [frame for fleet in self._fleets() for frame in fleet.ledger_frames()]

    def flush(self) -> None:
        """Bring every row so far into the record."""
        for fleet in self._fleets():
            fleet.flush()

    def close(self) -> None:
        """End all places."""
        self._retell()
        for fleet in reversed(self._fleets()):
            fleet.close()
            for frame in fleet.ledger_frames():
                self._folder.append_frame(frame)
        if self._cluster is not None:
            self._cluster.close()
        for path, entry in self._own:
            rmtree(path, ignore_errors=True)
            with suppress(RecordError):
                self._folder.journal("scratch", "removed", of=entry)

    def _own_folder(self, base: Path) -> Path:
        """Make a folder that the journal knows, so that what is in it does not outlast a run that is killed."""
        made = scratch.make(self._folder.nonce, base)
        self._own.append((made, self._folder.journal("scratch", "made", path=str(made))))
        return made

    def _renew(self, fleet: Fleet) -> None:
        """Open new places for those that are lost; the numbers go on."""
        fresh = fleet.renew(self._next)
        self._next += len(fresh)
        self._tell(fresh)

    def _retell(self) -> None:
        """Say again what run.json has of the places: their clocks are known better now."""
        known = {place.number: self._entry(place) for fleet in self._fleets() for place in fleet.places}
        self._manifest.update(
            lambda run: replace(run, places=tuple(known.get(place.number, place) for place in run.places))
        )

    def _tell(self, places: Sequence[Place]) -> None:
        """Say in run.json what places there are now."""
        fresh = tuple(map(self._entry, places))
        self._manifest.update(lambda run: replace(run, places=(*run.places, *fresh)))

    def _entry(self, place: Place) -> PlaceEntry:
        return replace(place.entry(), session=self._session)

    def _fleets(self) -> list[Fleet]:
        return list(self._open.values())

    def _variables(self, environment: Environment | None) -> dict[str, str]:
        return variables(environment, Path(self._plan.folder)) if environment else {}

    def _add(self, key: Key, places: Places, environment: dict[str, str]) -> Fleet:
        urls = self._targets.urls()
        self._cluster = self._cluster or cluster_of(places, self._own_folder)
        on = self._cluster if places.on_dask else None
        fleet = open_fleet(
            places, self._folder, self._targets.plan, urls, first=self._next, environment=environment, cluster=on
        )
        self._next += len(fleet.places)
        self._tell(fleet.places)
        self._open[key] = fleet
        return fleet
