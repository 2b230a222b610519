"""What a queueing model predicts of a setting that it has not seen, against the truth: that setting simulated, too."""

from pathlib import Path

import pytest

from pileup.record import RunFolder
from pileup.run.simulation.suite import SuiteSimulation
from pileup.stats.queueing import FIGURES, fit, histories, predict
from pileup.suite import load

SECOND = 10**9
STUDY = """pileup: 1
title: Small study
seed: {seed}
targets:
  tape:
    kind: practice-tape
    launch: {{nodes: 24, drives: 3, arms: 3, cartridges: 500, mount: 30 s, dismount: 15 s, speed: 10 MB/s}}
scan: {{tape.max_transfers: [1, 2, 4]}}
tests:
  - name: project
    use: tape.project
    options: {{files: 5, work: 1 min, ahead: 4, together: 5}}
    load: {{clients: 30, times: 30}}
    timeout: 2 d
reports: []
"""


def inside(base: Path, seed: int) -> list[bool]:
    """Return for each figure whether the truth at 2 transfers is in the interval predicted from 1 and 4."""
    base.mkdir()
    (base / "suite.yaml").write_text(STUDY.format(seed=seed))
    simulation = SuiteSimulation(load(base / "suite.yaml", servers=False), base / "runs")
    simulation.run()
    one, truth, four = histories(RunFolder.open(simulation.folder.path))
    assert truth.limit == 2
    (told,) = predict(fit([one, four]), [one, four], [2])
    known = [(told.figures[name], truth.figures[name]) for name in FIGURES]
    assert all(expected.high < 2 * expected.low for expected, _ in known if expected.low > 60 * SECOND)
    return [expected.low - SECOND <= real <= expected.high + SECOND for expected, real in known]


@pytest.mark.long
def test_the_truth_is_in_the_interval(tmp_path: Path) -> None:
    found = [each for seed in (1, 2) for each in inside(tmp_path / str(seed), seed)]
    assert sum(found) >= 9, found
