"""Clusters of batch jobs: what is submitted, and what is said where nothing can be."""

import shlex
from pathlib import Path

import pytest

from pileup.fleet.dask.jobs import end_jobs, make_jobs
from pileup.model.errors import TargetError
from pileup.model.suite import Places


def test_the_submit_file_for_htcondor_asks_for_one_core_and_starts_an_encrypted_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No HTCondor is here: its text alone is looked at, as the pages say."""
    (tmp_path / "condor_submit").write_text("#!/bin/sh\n")
    (tmp_path / "condor_submit").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)
    jobs = make_jobs(Places(htcondor=2, python="/opt/python"), lambda base: base)
    try:
        text = jobs.job_script()
    finally:
        end_jobs(jobs)
    words = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    assert (words["MY.DaskWorkerCores"], words["MY.DaskWorkerMemory"]) == ("1", str(2 << 30))
    assert (words["RequestCpus"], words["MY.DaskWorkerDisk"]) == ("MY.DaskWorkerCores", str(1 << 30))
    assert text.rstrip().endswith("Queue")
    (_, command) = shlex.split(words["Arguments"].strip('"').replace("''", "'"))
    assert command.startswith("/opt/python -m distributed.cli.dask_worker tls://")
    assert f"--tls-key {tmp_path}/.dask-jobqueue.worker.key." in command
    assert not list(tmp_path.glob(".dask*")), "the key goes with the cluster"


def test_a_machine_that_submits_no_jobs_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="sbatch is not here, which submits jobs to slurm; expected"):
        make_jobs(Places(slurm=2), lambda base: base)
