"""docs/benchmarks.md says what benchmarks/results/ holds: `make bench` writes it."""

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_from_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    made = tmp_path / "benchmarks.md"
    monkeypatch.setattr(importlib.import_module("figures"), "PAGE", made)
    importlib.import_module("bench").page()
    kept = (ROOT / "docs/benchmarks.md").read_text()
    assert made.read_text() == kept, "write it again: .venv/bin/python benchmarks/bench.py --page"


def test_every_benchmark_is_in_the_table_and_shows_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    bench = importlib.import_module("bench")
    table = (ROOT / "benchmarks/README.md").read_text()
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == set(bench.KINDS)
    page = (ROOT / "docs/benchmarks.md").read_text()
    for path in (ROOT / "benchmarks/results").glob("*.json"):
        for command in json.loads(path.read_text())["commands"].values():
            assert f"\n{command}\n" in page


def test_runs_are_compared_with_runs_that_had_their_cores_as_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    cores = importlib.import_module("cores")

    def runs(*ends: tuple[float, float]) -> list[dict[str, float]]:
        return [{"us": us, "apart_before": one, "apart_after": other} for us, (one, other) in enumerate(ends)]

    def numbers(kinds: dict[str, list[list[dict[str, float]]]]) -> dict[str, list[list[float]]]:
        return {words: [[one["us"] for one in of] for of in together] for words, together in kinds.items()}

    near, far, moved = (30.0, 31.0), (170.0, 165.0), (30.0, 170.0)
    ours, theirs = runs(near, far, near, moved, far, near), runs(near, far, far, near, far, near)
    close, apart = cores.WORDS["near"], cores.WORDS["far"]
    assert numbers(cores.by_kind(ours, theirs)) == {close: [[0, 5], [0, 5]], apart: [[1, 4], [1, 4]]}
    rare = runs(*[near] * 5, far)
    assert numbers(cores.by_kind(rare, rare)) == {close: [[0, 1, 2, 3, 4]] * 2}, "one pair is not a figure"
    unknown = runs((0.0, 0.0), (0.0, 0.0))
    assert numbers(cores.by_kind(unknown, unknown)) == {"": [[0, 1], [0, 1]]}
