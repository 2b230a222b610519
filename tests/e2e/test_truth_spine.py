"""What pileup measures is what practice storage did: counts exactly, service times within 2 %, paired by request id."""

import csv
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pileup.record import RunFolder
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: Truth
seed: 7
targets:
  se: {kind: practice-storage, launch: {threads: 64, queue: 10000, service: {lognormal: [20 ms, 0.35]}}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 20, size: 1 KiB}, cleanup: never}
  - name: stat
    use: storage.stat
    target: se
    after: [fill]
    options: {files: 20, size: 1 KiB, order: random}
    load: {rate: 600 /s, arrivals: poisson, warm_up: 1 s, for: 34 s}
"""


ATTEMPTS = 3


def test_sent_answered_and_failed_equal_the_log_and_service_times_agree(tmp_path: Path) -> None:
    (tmp_path / "truth.yaml").write_text(SUITE)
    for _ in range(ATTEMPTS):
        folder = press(tmp_path)
        seen, did = paired(folder)
        shares = {share: (np.quantile(seen, share), np.quantile(did, share)) for share in (0.5, 0.9, 0.99)}
        wrong = {share: pair for share, pair in shares.items() if abs(pair[0] / pair[1] - 1) >= 0.02}
        if not wrong or not disturbed(folder):
            break
    assert not wrong, f"(ns seen, ns done) by share: {wrong}"


def press(tmp_path: Path) -> Path:
    """Run the suite and return its folder."""
    done = pileup("run", "truth.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / run_folder(done)


def disturbed(folder: Path) -> bool:
    """Whether other work on this machine held the generator up: then service times are not the server's alone."""
    cases = json.loads((folder / "results.json").read_text())["cases"]
    late = next(case["timeline"]["late"] for case in cases if case["name"] == "stat")
    return float(np.median([value for value in late if value is not None])) > 10**6


def paired(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return service times as seen here and as done there (ns), request by request; counts are compared exactly."""
    with RunFolder.open(folder).operations().connect() as connection:
        rows = connection.execute(
            'select id, outcome, "end" - start as took from operations where "case" = \'stat\''
        ).fetchnumpy()
    with (folder / "servers/se/practice-storage.csv").open() as log:
        served = {int(row["id"]): row for row in csv.DictReader(log) if row["method"] == "HEAD"}
    ids = [int(number) for number in rows["id"]]
    assert len(ids) >= 20_000
    assert set(ids) == set(served), "sent here and answered there are the same requests"
    passed = sum(outcome == "passed" for outcome in rows["outcome"])
    assert passed == sum(row["status"] == "200" for row in served.values())
    did = [int(served[number]["ended"]) - int(served[number]["arrived"]) for number in ids]
    return np.asarray(rows["took"], float), np.asarray(did, float)
