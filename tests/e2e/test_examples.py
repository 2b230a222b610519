"""Every example runs, ends with the code that it says, and leaves a report."""

import json
from pathlib import Path

import pytest

from tests.support import EXAMPLES, pileup, run_folder

ENDS = {
    "http-check": 0,
    "database-check": 0,
    "batch-check": 0,
    "own-tests": 0,
    "practice-batch": 0,
    "faulty-storage": 4,
    "server-log": 0,
    "session": 0,
    "tokens": 0,
}
LENGTH = dict.fromkeys(
    ("own-tests", "practice-batch", "faulty-storage", "server-log", "tokens"), ("--set", "length=2 s")
)
STORAGE = {"disk-read-ahead", "namespace", "protocols", "read-ahead", "storage-check", "vendor-acceptance"}
ELSEWHERE = {
    "analysis-tail",
    "cache-strategies",
    "catalogue",
    "catalogue-ways",
    "control-plane",
    "cream-acceptance",
    "cream-acceptance-arc",
    "cream-arc",
    "cream-behind",
    "cream-delegation",
    "cream-index",
    "cream-overload",
    "cream-slurm-ci",
    "cream-slurm-full",
    "database",
    "find",
    "first-run",
    "hold",
    "installation-check",
    "matrix",
    "proof-bench",
    "purge",
    "root-io",
    "samgrid-tuning",
    "soak",
    "stager-tuning",
    "tape-storm",
    "tpc",
    "tuning",
    "weak-scaling",
} | STORAGE
"""Examples that have a file of tests of their own: test_arc_behind.py, test_catalogue.py, test_computing.py,
test_cream_*.py, test_find.py,
test_first_run.py, test_harness.py, test_hold.py, test_matrix.py, test_query_together.py,
test_scaling.py, test_storage_check.py, test_tape.py,
…"""


def test_every_example_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.yaml")} == set(ENDS) | ELSEWHERE


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ENDS))
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    done = pileup("run", f"suite:{name}", "--quiet", *LENGTH.get(name, ()), cwd=tmp_path, drawn=True)
    assert done.returncode == ENDS[name], done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    assert (folder / "report.html").stat().st_size > 10_000
    assert json.loads((folder / "run.json").read_text())["exit_code"] == ENDS[name]


@pytest.mark.long
def test_the_faulty_storage_shows_every_class_of_outcome(tmp_path: Path) -> None:
    done = pileup("run", "suite:faulty-storage", "--quiet", cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    cases = {case["name"]: case["operations"][0]["counts"] for case in results["cases"]}
    assert cases["read"]["failed"] > 10
    assert cases["read"]["ambiguous"] > 0
    assert cases["flood"]["refused"] > 0
    messages = " ".join(error["message"] for error in results["errors"])
    for said in ("HTTP 500", "truncated", "wrong content", "no answer within", "HTTP 503"):
        assert said in messages, messages
