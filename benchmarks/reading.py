# ruff: noqa: PLC0415  # the loop by hand imports what it needs, as its process does
"""A query and a generation through pileup, beside the same loop by hand: time and CPU time, in pairs of iterations.

    python benchmarks/reading.py [query] [generate] [--pairs 20]

Both sides read the same file with uproot, cluster by cluster, and fill the same histograms, with the same allocator
settings. They run at the same time, each in a process of its own on a core of its own, so that what disturbs the
machine disturbs both: the iterations of one process and those of the other are a pair, and the cores change places from
pair to pair. CPU time is that of the whole process. Reported besides: MB per CPU second, and bytes of the record per
operation.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
from figures import progress
from meter import GENERATOR_CORE, SERVER_CORE, pinned
from ratios import Bar, ratio

from pileup.builtin.analysis.data_set import DataSet, Recipe
from pileup.builtin.analysis.models import EVENT

SIZES = {"query": (3000, 1000), "generate": (800, 400)}
"""Events of a file and of a cluster."""
TIMES = 6
"""Iterations of a process: the first one warms up and does not count."""
MOST = Bar(most=1.10)
Times = list[tuple[float, float]]
"""Of iterations: s, and s of CPU time."""
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


def by_hand(what: str, folder: Path, core: int) -> Times:
    """Run the loop in a process of its own; return the times of each iteration but the first."""
    words = pinned(core, [sys.executable, __file__, "--by-hand", what, str(folder)])
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300, env=ENVIRONMENT)
    return [(float(took), float(cpu)) for took, cpu in (line.split() for line in done.stdout.splitlines())][1:]


def loop(what: str, folder: Path) -> None:
    """Do the iterations and print what each has taken."""
    for number in range(TIMES):
        begun, before = time.perf_counter(), time.process_time()
        if what == "query":
            query_by_hand(next((folder / "set").glob("*.root")))
        else:
            path = folder / f"hand-{number}.root"
            path.unlink(missing_ok=True)
            generate_by_hand(path, number)
        print(time.perf_counter() - begun, time.process_time() - before)


def through_pileup(what: str, folder: Path, core: int) -> tuple[Times, dict[str, float]]:
    """Run a suite; return the times of each iteration but the first, and what it reported besides."""
    events, cluster = SIZES[what]
    options = QUERY if what == "query" else {"events": events, "cluster": cluster}
    suite = folder / f"{what}.yaml"
    text = SUITE.replace("FOLDER", str(folder)).replace("USE", f"analysis.{what}").replace("TIMES", str(TIMES))
    suite.write_text(text.replace("OPTIONS", json.dumps(options)))
    words = [sys.executable, "-m", "pileup", "run", str(suite), "--out", str(folder / "runs"), "--quiet"]
    words = pinned(core, [*words, "--set", "reports=[]"])
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=ENVIRONMENT, check=False)
    if done.returncode:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    run = Path(done.stdout.splitlines()[-1])
    table, samples = run / "operations" / "operations.parquet", run / "samples" / "samples.parquet"
    took = duckdb.sql(
        f"SELECT (\"end\" - start) / 1e9, bytes FROM '{table}' WHERE parent = 0 AND phase = 'measure' ORDER BY start"
    ).fetchall()
    cpu = duckdb.sql(f"SELECT value FROM '{samples}' WHERE monitor = 'it' AND metric = 'cpu' ORDER BY time").fetchall()
    number, moved = duckdb.sql(f"SELECT count(*), sum(bytes) FROM '{table}' WHERE parent <> 0").fetchall()[0]
    times = [(seconds, used) for (seconds, _), (used,) in zip(took, cpu, strict=True)]
    told = {"operations": number, "bytes of an operation": table.stat().st_size / number}
    return times[1:], {**told, "MB/CPU s": moved / sum(used for _, used in times) / 1e6}


def mean(times: Times) -> tuple[float, float]:
    """Return the mean of the times, and of the CPU times."""
    took, cpu = zip(*times, strict=True)
    return statistics.fmean(took), statistics.fmean(cpu)


def main() -> None:
    """Take the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*SIZES, []], help="default: both")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--by-hand", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.by_hand:
        loop(given.by_hand[0], Path(given.by_hand[1]))
        return
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for what in given.what or SIZES:
            results[what] = pairs(what, folder, given.pairs)
            progress(f"{what}: {json.dumps(results[what])}")
    print(json.dumps(results, indent=1))


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
    """Return the ratios of pairs, and what the last run reported."""
    ours: Times = []
    theirs: Times = []
    told: dict[str, float] = {}
    for pair in range(number):
        core, other = (SERVER_CORE, GENERATOR_CORE) if pair % 2 else (GENERATOR_CORE, SERVER_CORE)
        with ThreadPoolExecutor(2) as threads:
            through, hand = (
                threads.submit(through_pileup, what, folder, core),
                threads.submit(by_hand, what, folder, other),
            )
        times, told = through.result()
        ours.append(mean(times))
        theirs.append(mean(hand.result()))
        progress(f"{what}: {ours[-1][1]:.3f} s of CPU, by hand {theirs[-1][1]:.3f} s")
    found: dict[str, Any] = {}
    for place, name in enumerate(("time", "cpu")):
        own, other_times = ([each[place] for each in side] for side in (ours, theirs))
        medians = {"s": statistics.median(own), "by hand s": statistics.median(other_times)}
        found[name] = {**ratio(own, other_times, MOST), **medians}
    return {**found, **told}


if __name__ == "__main__":
    main()
