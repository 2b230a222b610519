"""A `delay` is waited for: of one test, of all tests, fixed and drawn."""

import json
from pathlib import Path

import duckdb
import pytest

from pileup.fleet.order import case_seed
from pileup.model.law import Law
from pileup.run.delay import draw
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: delay
seed: 11
DELAY
tests:
  - {name: first, use: noop, load: {times: 1, delay: 0 s}}
  - {name: second, use: noop, after: [first], load: {times: 1LOAD}}
"""


def waited(cwd: Path, load: str = "", suite: str = "") -> float:
    """Return the seconds between the end of the first test and the start of the second."""
    (cwd / "s.yaml").write_text(SUITE.replace("LOAD", load).replace("DELAY", suite))
    done = pileup("run", "s.yaml", "--quiet", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = cwd / run_folder(done)
    rows = duckdb.sql(
        f"SELECT test, min(start), max(\"end\") FROM '{folder}/operations/operations.parquet' GROUP BY test"
    ).fetchall()
    times = {test: (start, end) for test, start, end in rows}
    case = next(each for each in json.loads((folder / "run.json").read_text())["cases"] if each["test"] == "second")
    assert case["outcome"] == "passed"
    return float(times["second"][0] - times["first"][1]) / 1e9


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> float:
    """The seconds that pass where there is no delay."""
    return waited(tmp_path_factory.mktemp("without"))


@pytest.mark.long
@pytest.mark.parametrize(("load", "suite"), [(", delay: 1500 ms", ""), ("", "delay: 1500 ms")])
def test_a_fixed_delay_is_waited_for(load: str, suite: str, tmp_path: Path, without: float) -> None:
    with_delay = waited(tmp_path, load, suite)
    assert with_delay >= 1.5
    assert with_delay - without < 1.5 + 1.0, "and no longer"


@pytest.mark.long
def test_a_delay_that_is_drawn_is_that_of_the_seed(tmp_path: Path) -> None:
    drawn = draw(Law(uniform=(500 * 10**6, 3 * 10**9)), case_seed(11, "second/delay")) / 1e9
    assert 0.5 <= drawn <= 3
    assert drawn <= waited(tmp_path, ", delay: {uniform: [500 ms, 3 s]}") < drawn + 1.0
