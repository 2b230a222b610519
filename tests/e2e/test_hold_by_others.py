"""A queue that is full before it is held: the load has nothing to do, which is no failure of anybody."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: full already
targets: {ce: {kind: practice-batch, launch: {slots: 1, cycle: 100 ms}}}
tests:
  - {name: fill, use: computing.submit, options: {duration: 60 s}, load: {times: 11}}
  - name: submit
    use: computing.submit
    after: [fill]
    options: {duration: 60 s}
    load:
      hold: {metric: poll.queued, at: AT, band: 40 %, by: rate, between: [0, 20 /s], start: 0 /s, settle: 1 s}
      for: 3 s
  - {name: poll, use: computing.poll, with: [submit], load: {every: 250 ms}}
  - {name: after, use: computing.submit, after: [submit], options: {duration: 1 s}, load: {times: 1}}
"""
WITHIN = "no iteration was needed: poll.queued was within its band without one"
ABOVE = "no iteration was made: poll.queued was never within its band, and above it at the end"


@pytest.mark.parametrize(
    ("at", "ended", "why", "then"), [(9, "passed", WITHIN, "passed"), (4, "unknown", ABOVE, "not run")]
)
def test_a_queue_that_others_fill(at: int, ended: str, why: str, then: str, tmp_path: Path) -> None:
    """Ten jobs wait. Held at 9 they are within the band: what comes after it runs. Held at 4 they never are."""
    (tmp_path / "s.yaml").write_text(SUITE.replace("AT", str(at)))
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    cases = {case["name"]: case for case in results["cases"]}
    assert (cases["submit"]["outcome"], cases["after"]["outcome"]) == (ended, then), done.stdout + done.stderr
    assert cases["submit"]["reason"] == why
