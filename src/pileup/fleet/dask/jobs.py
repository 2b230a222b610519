"""Dask clusters for one run: batch jobs whose workers join a scheduler in this process, by dask-jobqueue."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask.config

from pileup.fleet.dask.cluster import DaskCluster, connect
from pileup.model.errors import TargetError
from pileup.model.suite import Places

CLUSTERS = {"slurm": "SLURMCluster", "htcondor": "HTCondorCluster"}
SUBMITS = {"slurm": "sbatch", "htcondor": "condor_submit"}
"""What submits a job."""
QUIET = ("distributed", "distributed.client", "distributed.gc", "tornado.application")
"""Loggers that would write on the screen what is reported as an error, or as the loss of a place."""
DEFAULTS: dict[str, str | int] = {"cores": 1, "memory": "2 GiB", "disk": "1 GiB"}
"""What a job asks for where Dask's configuration says nothing."""
SUBMITTED_WITHIN = 120.0
"""Seconds that the submission may take: sbatch alone tries for a minute to find its Slurm."""
JOBS_WITHIN = 300.0
"""Seconds until all jobs must have begun."""
WORKERS_WITHIN = 30.0
"""Seconds until a cluster that is there must have a worker."""


def open_cluster(places: Places, make_folder: Callable[[Path], Path]) -> DaskCluster:
    """Return the cluster of a fleet, with as many workers as it has places. Raises TargetError.

    `make_folder` makes the folder of the keys of jobs, in one that all their nodes see.
    """
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    found = _at_address(places) if places.dask else _of_jobs(places, make_folder)
    try:
        found.choose(WORKERS_WITHIN if places.dask else JOBS_WITHIN)
    except BaseException:
        found.close()
        raise
    return found


def _at_address(places: Places) -> DaskCluster:
    return DaskCluster(connect(places.dask or ""), places)


def _of_jobs(places: Places, make_folder: Callable[[Path], Path]) -> DaskCluster:
    jobs = make_jobs(places, make_folder)
    try:
        jobs.sync(_scaled, jobs, places.count, callback_timeout=SUBMITTED_WITHIN)
        client = connect(jobs.scheduler_address, security=jobs.security)
    except (RuntimeError, ValueError, OSError) as problem:
        end_jobs(jobs)
        raise _refused(places, problem) from problem
    except BaseException:
        end_jobs(jobs)
        raise
    return DaskCluster(client, places, partial(end_jobs, jobs))


def make_jobs(places: Places, make_folder: Callable[[Path], Path]) -> Any:
    """Return the cluster of a batch system, of no jobs yet. Raises TargetError.

    What a job is comes from Dask's configuration. The connections are encrypted with a key of the run's own: without
    it, everybody who reaches the port of the scheduler could run programs as this user.
    """
    kind = places.kind
    if shutil.which(SUBMITS[kind]) is None:
        raise TargetError(
            f"{SUBMITS[kind]} is not here, which submits jobs to {kind}",
            "a machine from which jobs are submitted",
            "--fleet dask:ADDRESS takes a cluster that is there",
        )
    cls, config = _class_of(kind), f"jobqueue.{kind}"  # its import brings Dask's defaults
    words = {word: value for word, value in DEFAULTS.items() if dask.config.get(f"{config}.{word}", 0) is None}
    scheduler = {"dashboard_address": "127.0.0.1:0", **dask.config.get(f"{config}.scheduler-options", {})}
    shared = os.path.expandvars(dask.config.get(f"{config}.shared-temp-directory") or "")
    try:
        keys = make_folder(Path(shared).expanduser().absolute())
        return cls(
            python=places.python, security=True, shared_temp_directory=str(keys), scheduler_options=scheduler, **words
        )
    except (ImportError, RuntimeError, ValueError, OSError) as problem:
        raise _refused(places, problem) from problem


def end_jobs(jobs: Any) -> None:
    """End the jobs, and the files with the keys of their workers, which would stay until Python collects them."""
    with suppress(Exception):  # where a job was refused, Dask's own check of its end fails
        jobs.close()
    for name in ("ca_file", "cert", "key"):
        getattr(jobs, f"_job_{name}").close()


def _class_of(kind: str) -> Any:
    """Return the cluster of dask-jobqueue, whose import would take Ctrl-C from pileup, and needs the main thread."""
    with patch("signal.signal"):
        return getattr(import_module("dask_jobqueue"), CLUSTERS[kind])


async def _scaled(jobs: Any, count: int) -> None:
    """Submit the jobs for so many workers. Raises RuntimeError with what the batch system said."""
    jobs.scale(n=count)
    await jobs


def _refused(places: Places, problem: Exception) -> TargetError:
    said = " / ".join(line for line in str(problem).splitlines() if line.strip()) or type(problem).__name__
    told = f"the jobs of the fleet {places.kind}:{places.count} cannot be submitted: {said}"
    return TargetError(
        told, f"jobs that {SUBMITS[places.kind]} takes", "docs/fleet.md#dask says where their options are"
    )
