"""docs/benchmarks.md says what benchmarks/results/ holds: `make bench` writes it."""

import importlib
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
