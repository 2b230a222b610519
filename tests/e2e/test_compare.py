"""Runs of a practice storage compared: a slower one is found, equal ones show nothing."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

pytestmark = [pytest.mark.timed, pytest.mark.idle]

SUITE = """
pileup: 1
title: Compared
variables: {service: 20 ms, seed: 1}
targets:
  se: {kind: practice-storage, launch: {threads: 8, service: {lognormal: [$service, 0.35]}}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 10, size: 4 KiB}}
  - name: read
    use: storage.read
    target: se
    after: [fill]
    options: {files: 10, size: 4 KiB, order: random}
    load: {clients: 4, warm_up: 300 ms, for: 2 s}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four equal runs, and one whose storage takes half as long again."""
    base = tmp_path_factory.mktemp("compared")
    (base / "suite.yaml").write_text(SUITE)
    found = []
    for service in ("20 ms", "20 ms", "20 ms", "20 ms", "30 ms"):
        done = pileup("run", "suite.yaml", "--quiet", "--set", f"service={service}", cwd=base)
        assert done.returncode == 0, done.stderr
        found.append(run_folder(done))
    return found


def compared(*words: object, cwd: Path) -> dict[str, object]:
    done = pileup("compare", *map(str, words), "--format", "json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def of_reads(found: dict[str, object]) -> dict[str, dict[str, object]]:
    contrasts = found["against"][0]["contrasts"]
    return {each["metric"]: each for each in contrasts if each["test"] == "read" and not each["operation"]}


def test_a_slower_storage_is_found(runs: list[Path], tmp_path: Path) -> None:
    metrics = of_reads(compared(runs[0], runs[4], cwd=tmp_path))
    for name in ("rate", "mean", "p50", "p90"):
        assert metrics[name]["verdict"] == "worse", name
        assert metrics[name]["matters"]
    low, high = (metrics["p50"]["relative"]["interval"][end] for end in ("low", "high"))
    assert low < 0.5 + 0.15 and high > 0.5 - 0.15  # what the client adds makes the ratio a little smaller
    done = pileup("compare", str(runs[0]), str(runs[4]), "--fail-if", "worse", cwd=tmp_path)
    assert done.returncode == 4
    assert "value service: 20 ms -> 30 ms" in done.stdout


def test_equal_runs_mostly_show_nothing(runs: list[Path], tmp_path: Path) -> None:
    worse = 0
    for one in runs[1:4]:
        done = pileup("compare", str(runs[0]), str(one), "--fail-if", "worse", "--matters", "10 %", cwd=tmp_path)
        worse += done.returncode == 4
    assert worse <= 1


def test_several_runs_are_one_side_and_one_record(runs: list[Path], tmp_path: Path) -> None:
    group = ",".join(map(str, runs[:4]))
    metrics = of_reads(compared(group, runs[4], cwd=tmp_path))
    assert metrics["p50"]["over_runs"]
    assert metrics["p50"]["baseline"]["n"] == 4
    merged = pileup("merge", *map(str, runs[:4]), "--out", "merged", cwd=tmp_path)
    assert merged.returncode == 0, merged.stderr
    folder = run_folder(merged)
    again = of_reads(compared(folder, runs[4], cwd=tmp_path))
    assert again["p50"]["baseline"] == metrics["p50"]["baseline"]
    for record in (folder, runs[0]):
        checked = pileup("verify", str(record), cwd=tmp_path)
        assert (checked.stdout, checked.returncode) == ("the record is whole\n", 0)
