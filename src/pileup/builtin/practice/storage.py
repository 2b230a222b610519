"""The practice storage as a kind of target."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.tape.rest_api import Api, RestStaging
from pileup.model.practice import SETTINGS, StorageSettings
from pileup.plugin import Launcher, TargetError

READY = r"^pileup practice storage ready at (?P<url>\S+)$"


class PracticeStorageTarget(WebDavTarget, RestStaging):
    """Storage of known truth: a WebDAV server whose service times, limits and faults are set, and logged.

    With `launch` pileup starts one on this machine and ends it after the run; what it did to each request is in
    `practice-storage.csv` in the folder of the target below the run, and in `practice-storage-2.csv` and so on after
    restarts. Its settings are those of `pileup practice storage`, for example `launch: {threads: 8, service:
    {lognormal: [20 ms, 0.5]}, bandwidth: 200 MB/s}`. With a url instead, it is a target of kind `webdav`.

    With `pool_threads` it has a request pool, which takes requests without data (`storage.pretend`) by the WLCG Tape
    REST API: fast and slow operations on a known number of threads, with a lock for each folder if you want.
    """

    kind = "practice-storage"
    provides: ClassVar[frozenset[str]] = WebDavTarget.provides | RestStaging.provides
    launch_settings = StorageSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        port = StorageSettings.model_validate(settings).port or "{port}"  # the same one again after a restart
        told = {SETTINGS: json.dumps(settings)}  # as written: quantities keep their units
        command = (sys.executable, "-m", "pileup", "practice", "storage", "--port", str(port))
        return Launcher.one((*command, "--log", "{folder}/practice-storage{again}.csv"), READY, environment=told)

    def _without_metadata(self) -> Api:
        """Refuse: its pool would say where it is."""
        raise TargetError(
            f"{self.url} has no request pool", "a storage with one", "start it with `pool_threads`, e.g. 20"
        )
