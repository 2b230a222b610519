"""Submission to a batch system: 5,000 jobs to a real Slurm by `computing.submit` over REST with 5 clients, every one
recorded and claimed, beside 5 loops of the command sbatch: jobs a second, and CPU time of a job."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import meter
from figures import Report, progress
from ratios import Bar, level, ratio

JOBS, CLIENTS = 5000, 5
FROM, TO = JOBS // 10, JOBS - JOBS // 10
"""Jobs between which figures are taken, by the controller's own count."""
RATE = Bar(least=0.65)
"""Submissions a second, as a multiple of the loops'."""
SHARE = Bar(most=0.2)
"""CPU time of a submission, likewise."""
INSTALL = "apt-get install slurm-wlm slurmrestd munge"
SETTINGS = {"slots": 4, "max_jobs": 2 * JOBS}
"""Few of them start: a submission is measured, not a start."""
LOOP = f"""
i=0
while [ $i -lt {JOBS // CLIENTS} ]; do
    sbatch -Q -J loop-$1-$i -o /dev/null -e /dev/null -D /tmp {{script}} || exit 1
    i=$((i + 1))
done
"""
SUITE = """
pileup: 1
title: Submission to Slurm
targets:
  slurm: {{kind: slurm, url: "{url}"}}
tests:
  - {{name: submit, use: computing.submit, target: slurm, load: {{clients: {clients}, times: {jobs}}},
     options: {{duration: 1 h}}}}
"""


@contextlib.contextmanager
def slurm(folder: Path) -> Iterator[Any]:
    """Yield the target of a new, empty Slurm on the server's core."""
    from pileup.builtin.slurm.launcher import slurm_launcher  # noqa: PLC0415  the other benchmarks do without
    from pileup.builtin.slurm.target import SlurmTarget  # noqa: PLC0415
    from pileup.run.servers.supervisor import Supervisor  # noqa: PLC0415

    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {meter.SERVER_CORE})  # its daemons inherit it
    supervisor = Supervisor()
    try:
        url = supervisor.launch("slurm", slurm_launcher(SETTINGS), folder)
        os.sched_setaffinity(0, cores)
        yield SlurmTarget(url)
    finally:
        os.sched_setaffinity(0, cores)
        supervisor.end_all()


def by_rest(folder: Path, target: Any) -> list[subprocess.Popen[str]]:
    """Start a run of pileup."""
    suite = folder / "suite.yaml"
    suite.write_text(SUITE.format(url=target.url, clients=CLIENTS, jobs=JOBS))
    words = [sys.executable, "-m", "pileup", "run", str(suite), "--out", str(folder / "runs"), "--quiet"]
    return [_started(words, folder / "run.log", {}, "")]


def by_sbatch(folder: Path, target: Any) -> list[subprocess.Popen[str]]:
    """Start loops of sbatch, as who may submit there."""
    script = target.place.conf.replace("slurm.conf", "sleep.sh")
    Path(script).write_text("#!/bin/sh\nexec sleep 3600\n")
    Path(script).chmod(0o755)
    words = ["sh", "-c", LOOP.format(script=script), "loop"]
    return [
        _started([*words, str(number)], folder / f"loop{number}.log", target.environment(), target.run_as)
        for number in range(CLIENTS)
    ]


def _started(words: list[str], log: Path, environment: dict[str, str], user: str) -> subprocess.Popen[str]:
    with log.open("w") as sink:
        return subprocess.Popen(
            meter.pinned(meter.GENERATOR_CORE, words),
            stdout=sink,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd="/" if user else None,
            env={**os.environ, **environment},
            **({"user": user, "group": user, "extra_groups": []} if user else {}),  # type: ignore[arg-type]
        )


def once(way: Any, folder: Path) -> dict[str, float]:
    """Submit all jobs to a new Slurm; return jobs a second and CPU ms of a job, over the steady part."""
    folder.mkdir(parents=True)
    with slurm(folder / "slurm") as target:
        started = way(folder, target)
        try:
            window = [_reached(target, count, started) for count in (FROM, TO)]
            codes = [each.wait(600) for each in started]
        finally:
            for each in started:
                meter.end(each)
        here = sum(target.counts().values())
        if any(codes) or here != JOBS:
            raise meter.Trouble(f"{here} jobs are there, codes {codes}; expected {JOBS} and 0 (look into {folder})")
    shutil.rmtree(folder)
    (first, begin, before), (last, end, after) = window
    return {"rate": (last - first) / (end - begin), "ms": 1000 * (after - before) / (last - first)}


def _reached(target: Any, count: int, started: list[subprocess.Popen[str]]) -> tuple[int, float, float]:
    """Wait until the controller has taken so many jobs; return how many, the time, and CPU time so far, seconds."""
    last = time.monotonic() + 600
    while time.monotonic() < last:
        taken = int(json.loads(target._ask("GET", "/diag").body)["statistics"]["jobs_submitted"])
        if taken >= count:
            return taken, time.monotonic(), sum(meter.cpu(each.pid) for each in started)
        if all(each.poll() is not None for each in started):
            break
        time.sleep(0.05)
    raise meter.Trouble(f"{count} jobs did not come (run it by hand and look)")


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    if not all(shutil.which(each, path=f"{os.environ['PATH']}:/usr/sbin") for each in ("slurmctld", "slurmrestd")):
        raise meter.Trouble(f"Slurm is not here; expected it as the server (to get it: {INSTALL})")
    folder.chmod(0o755)
    ways = {"rest": by_rest, "sbatch": by_sbatch}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for number in range(pairs):
        for name in ways if number % 2 == 0 else reversed(ways):
            runs[name].append(once(ways[name], folder / f"{number}-{name}"))
            progress(f"{name} {runs[name][-1]['rate']:.0f} jobs/s, {runs[name][-1]['ms']:.2f} ms of CPU each")
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures(runs),
        levels={
            name: {word: statistics.median(one[word] for one in of) for word in of[0]} for name, of in runs.items()
        },
        runs=runs,
        commands={"rest": ["pileup", "run", "suite.yaml"], "sbatch": ["sbatch", "-Q", "-J", "NAME", "sleep.sh"]},
        versions={"slurm": subprocess.run(["sinfo", "-V"], capture_output=True, text=True, check=False).stdout.strip()},
    )


def figures(runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return rates, CPU times and their ratios."""
    rest, sbatch = runs["rest"], runs["sbatch"]
    return {
        "CPU of a submission, computing.submit / sbatch": ratio(
            [one["ms"] for one in rest], [one["ms"] for one in sbatch], SHARE
        ),
        "submissions a second, computing.submit / sbatch": ratio(
            [one["rate"] for one in rest], [one["rate"] for one in sbatch], RATE
        ),
        "submissions a second, computing.submit": level([one["rate"] for one in rest]),
        "CPU ms of a submission, computing.submit": level([one["ms"] for one in rest]),
        "CPU ms of a submission, sbatch": level([one["ms"] for one in sbatch]),
    }
