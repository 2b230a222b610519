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
