# ruff: noqa: PLC0415  # the loop by hand imports what it needs, as its process does
"""A query and a generation through pileup, beside the same loop by hand: wall time, in interleaved pairs of processes.

    python benchmarks/reading.py [--pairs 20] [--keep]

Both sides read the same file with uproot, cluster by cluster, and fill the same histograms, with the same allocator
settings; the file is in the page cache. Reported besides: MB per CPU second, and bytes of the record per operation.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
from figures import progress
from ratios import Bar, ratio

from pileup.builtin.analysis.data_set import DataSet, Recipe
from pileup.builtin.analysis.models import EVENT

SIZES = {"query": (3000, 1000), "generate": (800, 400)}
"""Events of a file and of a cluster."""
TIMES = 3
"""Iterations of a process: the first one warms up and does not count."""
MOST = Bar(most=1.10)
ENVIRONMENT = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "1073741824"}
SUITE = """
pileup: 1
title: reading
seed: 7
targets: {disk: {kind: posix, url: FOLDER}}
tests:
  - {name: it, use: USE, target: disk, options: OPTIONS, load: {times: TIMES}}
"""
QUERY = {"folder": "/set", "query": "proc", "check_files": "size"}


def query_by_hand(path: Path) -> None:
    """Read every column of a file, cluster by cluster, and fill the histograms of the model."""
    import awkward as ak
    import hist
    import numpy as np
    import uproot

    named = {
        spec.column: hist.Hist(hist.axis.Regular(spec.bins, spec.low, spec.high), storage=hist.storage.Int64())
        for spec in EVENT.specs
    }
    events, cluster = SIZES["query"]
    values, above = np.zeros(len(EVENT.columns), int), np.zeros(len(EVENT.columns), int)
    wanted = frozenset(EVENT.columns)
    with uproot.open(path, object_cache=None, array_cache=None) as file:
        tree = file["events"]
        for begin in range(0, events, cluster):
            arrays = tree.arrays(
                filter_name=lambda name: name in wanted,
                entry_start=begin,
                entry_stop=begin + cluster,
                array_cache=None,
            )
            for number, (column, middle) in enumerate(EVENT.columns.items()):
                flat = ak.to_numpy(ak.ravel(arrays[column]))
                values[number] += len(flat)
                above[number] += np.count_nonzero(flat > middle)
                if column in named:
                    named[column].fill(flat)


def generate_by_hand(path: Path, number: int) -> None:
    """Draw events, write them, fill the histograms of all columns, hash the file."""
    import hashlib

    import awkward as ak
    import hist
    import numpy as np
    import uproot

    named = {
        spec.column: hist.Hist(hist.axis.Regular(spec.bins, spec.low, spec.high), storage=hist.storage.Int64())
        for spec in EVENT.specs
    }
    events, size = SIZES["generate"]
    (tracks,) = EVENT.collections
    members = ", ".join(f'"{member.name}": float32' for member in tracks.members)
    kind = ak.types.from_datashape(f"var * {{{members}}}", highlevel=False)
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        tree = file.mktree("events", {tracks.name: kind}, initial_basket_capacity=events // size + 2)
        for cluster in range(events // size):
            drawn = EVENT.draw((7, number, cluster), size)
            counts = drawn.counts[tracks.name]
            columns = {
                member.name: ak.unflatten(drawn.members[f"Track_{member.name}"], counts) for member in tracks.members
            }
            tree.extend({tracks.name: ak.zip(columns)})
            for column, middle in EVENT.columns.items():
                flat = drawn.members.get(column, counts)
                np.count_nonzero(flat > middle)
                if column in named:
                    named[column].fill(flat)
    with path.open("rb") as file:
        hashlib.file_digest(file, "sha256").hexdigest()


def by_hand(what: str, folder: Path) -> list[float]:
    """Run the loop in a process of its own; return s of each iteration but the first."""
    words = [sys.executable, __file__, "--by-hand", what, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300, env=ENVIRONMENT)
    return [float(each) for each in done.stdout.split()][1:]


def loop(what: str, folder: Path) -> None:
    """Do the iterations and print what each has taken."""
    for number in range(TIMES):
        begun = time.perf_counter()
        if what == "query":
            query_by_hand(next((folder / "set").glob("*.root")))
        else:
            path = folder / f"hand-{number}.root"
            path.unlink(missing_ok=True)
            generate_by_hand(path, number)
        print(time.perf_counter() - begun)


def through_pileup(what: str, folder: Path) -> tuple[list[float], dict[str, float]]:
    """Run a suite; return s of each iteration but the first, and what it reported besides."""
    events, cluster = SIZES[what]
    options = QUERY if what == "query" else {"events": events, "cluster": cluster}
    suite = folder / f"{what}.yaml"
    text = SUITE.replace("FOLDER", str(folder)).replace("USE", f"analysis.{what}").replace("TIMES", str(TIMES))
    suite.write_text(text.replace("OPTIONS", json.dumps(options)))
    words = [sys.executable, "-m", "pileup", "run", str(suite), "--out", str(folder / "runs"), "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=ENVIRONMENT, check=False)
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    run = Path(done.stdout.splitlines()[-1])
    table = run / "operations" / "operations.parquet"
    rows = duckdb.sql(
        f"SELECT (\"end\" - start) / 1e9 FROM '{table}' WHERE parent = 0 AND operation = 'iteration' OR operation = "
        f"'generate' AND parent = 0 ORDER BY start"
    ).fetchall()
    number = duckdb.sql(f"SELECT count(*) FROM '{table}'").fetchall()[0][0]
    told = {"operations": number, "record": table.stat().st_size}
    if what == "query":
        samples = run / "samples" / "samples.parquet"
        found = duckdb.sql(
            f"SELECT metric, sum(value) FROM '{samples}' WHERE monitor = 'it' GROUP BY metric"
        ).fetchall()
        sums = dict(found)
        told["MB/CPU s"] = sums["read"] / sums["cpu"] / 1e6
    return [row[0] for row in rows][1:], told


def main() -> None:
    """Take the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/reading.json")
    parser.add_argument("--by-hand", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.by_hand:
        loop(given.by_hand[0], Path(given.by_hand[1]))
        return
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for what in ("query", "generate"):
            results[what] = pairs(what, folder, given.pairs)
            progress(f"{what}: {json.dumps(results[what])}")
    print(json.dumps(results, indent=1))
    if given.keep:
        Path(__file__).with_name("results").joinpath("reading.json").write_text(json.dumps(results, indent=1) + "\n")


def prepare(folder: Path) -> None:
    """Write the file that queries read."""
    from pileup.builtin.analysis.data_set import describe, write_part
    from pileup.builtin.analysis.writing import write_file

    events, cluster = SIZES["query"]
    recipe = Recipe(model="event", storage="ttree", codec="zstd5", seed=7, events=events, cluster=cluster)
    data = folder / "set"
    data.mkdir()
    write_part(data, recipe, write_file(data / "event-7-00000.root", recipe, 0))
    found = describe(data, recipe)
    assert isinstance(found, DataSet)


def pairs(what: str, folder: Path, number: int) -> dict[str, Any]:
    """Return the ratio of medians of interleaved pairs, and what the last run reported."""
    ours, theirs, told = [], [], {}
    for each in range(number):
        sides = ("ours", "theirs") if each % 2 else ("theirs", "ours")
        for side in sides:
            if side == "ours":
                times, told = through_pileup(what, folder)
                ours.append(statistics.median(times))
            else:
                theirs.append(statistics.median(by_hand(what, folder)))
    return {**ratio(ours, theirs, MOST), "s": statistics.median(ours), "by hand s": statistics.median(theirs), **told}


if __name__ == "__main__":
    main()
