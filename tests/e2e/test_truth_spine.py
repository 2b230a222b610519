"""What pileup measures is what practice storage did: counts exactly, service times within 2 %, paired by request id."""

import csv
from pathlib import Path

import numpy as np

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
MEASURE = "phase = 'measure' and \"case\" = 'stat'"


def test_sent_answered_and_failed_equal_the_log_and_service_times_agree(tmp_path: Path) -> None:
    (tmp_path / "truth.yaml").write_text(SUITE)
    done = pileup("run", "truth.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    rows = (
        RunFolder.open(folder)
        .operations()
        .connect()
        .sql('select id, outcome, "end" - start from operations where "case" = \'stat\'')
        .fetchnumpy()
    )
    columns = list(rows)
    with (folder / "servers/se/practice-storage.csv").open() as log:
        served = {int(row["id"]): row for row in csv.DictReader(log) if row["method"] == "HEAD"}
    ids = rows[columns[0]]
    assert len(ids) >= 20_000
    assert set(map(int, ids)) == set(served), "sent here and answered there are the same requests"
    assert sum(outcome == "passed" for outcome in rows[columns[1]]) == sum(
        row["status"] == "200" for row in served.values()
    )
    seen = np.asarray(rows[columns[2]], float)
    did = np.array([int(served[int(number)]["ended"]) - int(served[int(number)]["arrived"]) for number in ids], float)
    for share in (0.5, 0.9, 0.99):
        ours, theirs = np.quantile(seen, share), np.quantile(did, share)
        assert abs(ours / theirs - 1) < 0.02, (
            f"p{share * 100:.0f}: {ours / 1e6:.3f} ms seen, {theirs / 1e6:.3f} ms done"
        )
