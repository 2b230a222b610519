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


LATER = """from asyncio import sleep
from pileup.builtin.tape.project import TapeProject

class Later(TapeProject):
    '''A project whose requests are a microsecond apart, as they are in real time.'''

    name = "later"

    async def _fetch(self, op, number, here):
        await sleep(number * 1e-6)
        await super()._fetch(op, number, here)
"""


def test_files_asked_for_ahead_are_known_where_requests_take_time(tmp_path: Path) -> None:
    (tmp_path / "later.py").write_text(LATER)
    suite = STUDY.format(seed=1).replace("[1, 2, 4]", "[2]").replace("tape.project", "./later.py:Later")
    (tmp_path / "suite.yaml").write_text(suite)
    simulation = SuiteSimulation(load(tmp_path / "suite.yaml", servers=False), tmp_path / "runs")
    simulation.run()
    (found,) = histories(RunFolder.open(simulation.folder.path))
    assert {each.ahead for each in found.projects} == {4}
    assert len({each.asked for each in found.requests if each.project == found.projects[0].number}) == 5


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
